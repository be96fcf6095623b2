//! The opinions and peer reviews of a council in full, for an unconverged run.

use super::report::severity_label;
use crate::domain::council::opinion::CouncilOpinion;
use crate::domain::council::review::{CouncilPeerReview, NamedAssessment};
use crate::export::council::CouncilDocument;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, hang_text};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{CAUTION, FAINT, STRONG};

/// Indent of the text under a name.
const DEBATE_INDENT: usize = MARGIN * 2;

pub(super) fn draw_opinions(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let given = &told.rounds.r1.opinions;
    if given.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("OPINIONS", "R1", canvas);
    for (place, opinion) in given.iter().enumerate() {
        lines.extend((place > 0).then(StyledLine::blank));
        lines.extend(draw_opinion(opinion, canvas));
    }
    lines
}

fn draw_opinion(given: &CouncilOpinion, canvas: PageCanvas) -> Vec<StyledLine> {
    let (said, details) = (&given.opinion, &given.opinion.details);
    let room = canvas.text_width();
    let facts = format!("  {}, confidence {}", said.stance, said.confidence);
    let name = StyledLine::with_indent(MARGIN).push_styled(given.provider.as_str(), STRONG);
    let cut = truncation_note(given.truncated);
    let mut lines = vec![name.push_styled(&facts, FAINT).push_styled(cut, CAUTION)];
    let texts = [
        ("", &said.summary),
        ("understands ", &details.understanding),
        ("recommends ", &details.recommendation),
        ("because ", &details.rationale),
    ];
    for (lead, text) in texts {
        lines.extend(draw_under_name(lead, text, room));
    }
    let lists = [
        ("considers ", &details.key_considerations),
        ("assumes ", &said.assumptions),
        ("asks ", &said.questions),
    ];
    for (lead, texts) in lists {
        lines.extend(texts.iter().flat_map(|text| draw_under_name(lead, text, room)));
    }
    for risk in &said.risks {
        let mitigation = risk.mitigation.as_deref().map(|text| format!(" → {text}"));
        let text = format!("{}{}", risk.description, mitigation.unwrap_or_default());
        lines.extend(hang_text(
            StyledLine::with_indent(MARGIN).append_line(severity_label(risk.severity)),
            &text,
            room,
        ));
    }
    lines
}

pub(super) fn draw_peer_reviews(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let given: Vec<&CouncilPeerReview> =
        told.rounds.r2.iter().flat_map(|round| &round.reviews).collect();
    if given.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("REVIEWS", "R2", canvas);
    for (place, review) in given.into_iter().enumerate() {
        lines.extend((place > 0).then(StyledLine::blank));
        lines.extend(draw_peer_review(review, canvas));
    }
    lines
}

fn draw_peer_review(review: &CouncilPeerReview, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for target in &review.targets {
        lines.extend(draw_review_target(review, target, canvas));
    }
    let room = canvas.text_width();
    let change = &review.would_change_my_opinion;
    lines.extend(change.iter().flat_map(|text| draw_under_name("swayed by ", text, room)));
    lines
}

fn draw_review_target(
    review: &CouncilPeerReview,
    named: &NamedAssessment,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let (target, room) = (&named.target, canvas.text_width());
    let name =
        StyledLine::with_indent(MARGIN).push_styled(review.reviewer_provider.as_str(), STRONG);
    let name = name.push_plain(" on ").push_styled(named.target_provider.as_str(), STRONG);
    let name = name.push_styled(&format!("  {} of 10", target.rating), FAINT);
    let mut lines = vec![name.push_styled(truncation_note(review.truncated), CAUTION)];
    for critique in &target.critiques {
        let mut text = format!("{}: {}", critique.critique_type, critique.message);
        if let Some(correction) = critique.suggested_correction.as_deref() {
            text.push_str(&format!(" → {correction}"));
        }
        lines.extend(hang_text(
            StyledLine::with_indent(MARGIN).append_line(severity_label(critique.severity)),
            &text,
            room,
        ));
    }
    for point in &target.agreement_points {
        lines.extend(draw_under_name("agrees ", point, room));
    }
    for point in &target.disagreement_points {
        let lead = StyledLine::with_indent(DEBATE_INDENT).push_styled("differs ", CAUTION);
        let text = format!(
            "{}: {}, where the other says {}. {}",
            point.topic, point.reviewer_position, point.target_position, point.rationale
        );
        lines.extend(hang_text(lead, &text, room));
    }
    lines
}

fn truncation_note(truncated: bool) -> &'static str {
    if truncated { ", cut off before its end" } else { "" }
}

/// Draws a text under a name; nothing if the text is empty.
fn draw_under_name(lead: &str, text: &str, room: usize) -> Vec<StyledLine> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    hang_text(StyledLine::with_indent(DEBATE_INDENT).push_styled(lead, FAINT), text, room)
}
