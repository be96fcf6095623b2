//! The opinions and peer reviews of a council in full, for an unconverged run.

use super::report::level;
use crate::domain::council::opinion::CouncilOpinion;
use crate::domain::council::review::{CouncilReview, NamedTarget};
use crate::export::council::Deliberated;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, beside, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{CAUTION, FAINT, STRONG};

/// Indent of the text under a name.
const INDENT: usize = MARGIN * 2;

pub(super) fn opinions(told: &Deliberated, canvas: Canvas) -> Vec<Line> {
    let given = &told.rounds.r1.opinions;
    if given.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("OPINIONS", "R1", canvas);
    for (place, opinion) in given.iter().enumerate() {
        lines.extend((place > 0).then(Line::blank));
        lines.extend(opinion_lines(opinion, canvas));
    }
    lines
}

fn opinion_lines(given: &CouncilOpinion, canvas: Canvas) -> Vec<Line> {
    let (said, details) = (&given.opinion, &given.opinion.details);
    let room = canvas.measure();
    let facts = format!("  {}, confidence {}", said.stance, said.confidence);
    let name = Line::indented(MARGIN).styled(given.provider.as_str(), STRONG);
    let cut = cut_mark(given.truncated);
    let mut lines = vec![name.styled(&facts, FAINT).styled(cut, CAUTION)];
    let texts = [
        ("", &said.summary),
        ("understands ", &details.understanding),
        ("recommends ", &details.recommendation),
        ("because ", &details.rationale),
    ];
    for (lead, text) in texts {
        lines.extend(told_under(lead, text, room));
    }
    let lists = [
        ("considers ", &details.key_considerations),
        ("assumes ", &said.assumptions),
        ("asks ", &said.questions),
    ];
    for (lead, texts) in lists {
        lines.extend(texts.iter().flat_map(|text| told_under(lead, text, room)));
    }
    for risk in &said.risks {
        let mitigation = risk.mitigation.as_deref().map(|text| format!(" → {text}"));
        let text = format!("{}{}", risk.description, mitigation.unwrap_or_default());
        lines.extend(beside(Line::indented(MARGIN).join(level(risk.severity)), &text, room));
    }
    lines
}

pub(super) fn reviews(told: &Deliberated, canvas: Canvas) -> Vec<Line> {
    let given: Vec<&CouncilReview> =
        told.rounds.r2.iter().flat_map(|round| &round.reviews).collect();
    if given.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("REVIEWS", "R2", canvas);
    for (place, review) in given.into_iter().enumerate() {
        lines.extend((place > 0).then(Line::blank));
        lines.extend(review_lines(review, canvas));
    }
    lines
}

fn review_lines(review: &CouncilReview, canvas: Canvas) -> Vec<Line> {
    let mut lines = Vec::new();
    for target in &review.targets {
        lines.extend(target_lines(review, target, canvas));
    }
    let room = canvas.measure();
    let change = &review.would_change_my_opinion;
    lines.extend(change.iter().flat_map(|text| told_under("swayed by ", text, room)));
    lines
}

fn target_lines(review: &CouncilReview, named: &NamedTarget, canvas: Canvas) -> Vec<Line> {
    let (target, room) = (&named.target, canvas.measure());
    let name = Line::indented(MARGIN).styled(review.reviewer_provider.as_str(), STRONG);
    let name = name.plain(" on ").styled(named.target_provider.as_str(), STRONG);
    let name = name.styled(&format!("  {} of 10", target.rating), FAINT);
    let mut lines = vec![name.styled(cut_mark(review.truncated), CAUTION)];
    for critique in &target.critiques {
        let mut text = format!("{}: {}", critique.critique_type, critique.message);
        if let Some(correction) = critique.suggested_correction.as_deref() {
            text.push_str(&format!(" → {correction}"));
        }
        lines.extend(beside(Line::indented(MARGIN).join(level(critique.severity)), &text, room));
    }
    for point in &target.agreement_points {
        lines.extend(told_under("agrees ", point, room));
    }
    for point in &target.disagreement_points {
        let lead = Line::indented(INDENT).styled("differs ", CAUTION);
        let text = format!(
            "{}: {}, where the other says {}. {}",
            point.topic, point.reviewer_position, point.target_position, point.rationale
        );
        lines.extend(beside(lead, &text, room));
    }
    lines
}

fn cut_mark(truncated: bool) -> &'static str {
    if truncated { ", cut off before its end" } else { "" }
}

/// Draws a text under a name; nothing if the text is empty.
fn told_under(lead: &str, text: &str, room: usize) -> Vec<Line> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    beside(Line::indented(INDENT).styled(lead, FAINT), text, room)
}
