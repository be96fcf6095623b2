//! The panel of a council page: each seat's stance, confidence and ratings, and the tally.

use anstyle::Style;

use crate::model::ids::ExpertSlug;
use crate::protocols::council::answers::ProviderFailure;
use crate::protocols::council::document::CouncilDocument;
use crate::protocols::council::page_report::severity_label;
use crate::protocols::council::types::{
    CouncilOpinion, CouncilPeerReview, NamedAssessment, OpinionStance, StanceTally,
};
use crate::report::phrases::count_noun;
use crate::report::terminal::layout::{
    BAD, CAUTION, FAINT, GOOD, MARGIN, PLAIN, PageCanvas, STRONG, StyledLine, draw_heading,
    hang_text, indent_block, indent_prose,
};
use crate::report::terminal::wrap::wrap_line;

/// Indent of the text of an opinion.
const PANEL_INDENT: usize = MARGIN + 2;

pub(crate) fn draw_panel(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("HOW THEY STOOD", &describe_tally(told.tally), canvas);
    let width = seat_name_width(told);
    for opinion in &told.rounds.r1.opinions {
        lines.extend(draw_panel_opinion(told, opinion, width, canvas));
    }
    for failure in &told.panel.failed {
        lines.extend(draw_failure(failure, width, canvas));
    }
    if let Some(choice) = &told.peer_choice {
        let basis = match choice.rating {
            Some(rating) => {
                format!("rated {rating} of 10 by {}", count_noun(choice.ratings, "peer"))
            }
            None => "the most complete; nobody rated it".to_owned(),
        };
        let told = format!("Best single opinion: {}, {basis}", choice.provider);
        lines.extend(indent_block(&wrap_line(&told, canvas.text_width() - MARGIN), MARGIN, FAINT));
    }
    lines
}

/// Draws the tally and one line per seat.
pub(crate) fn draw_panel_brief(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("HOW THEY STOOD", &describe_tally(told.tally), canvas);
    let width = seat_name_width(told);
    let opinions = told.rounds.r1.opinions.iter();
    lines.extend(opinions.map(|one| stance_line(one, &opinion_facts(told, one), width, canvas)));
    lines.extend(told.panel.failed.iter().map(|failure| absence_line(failure, width)));
    lines
}

fn describe_tally(tally: StanceTally) -> String {
    let stances = OpinionStance::ALL.iter().filter(|stance| tally.count_of(**stance) > 0);
    let words = stances.map(|stance| match stance {
        OpinionStance::None => format!("{} without a stance", tally.count_of(*stance)),
        OpinionStance::Approve
        | OpinionStance::Reject
        | OpinionStance::Conditional
        | OpinionStance::Abstain => {
            format!("{} {stance}", tally.count_of(*stance))
        }
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn seat_name_width(told: &CouncilDocument) -> usize {
    let names = told.rounds.r1.opinions.iter().map(|opinion| &opinion.provider);
    let failed = told.panel.failed.iter().map(|failure| &failure.provider);
    names.chain(failed).map(|name| name.as_str().len()).max().unwrap_or(0)
}

fn draw_panel_opinion(
    told: &CouncilDocument,
    opinion: &CouncilOpinion,
    width: usize,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut facts = opinion_facts(told, opinion);
    // The chair sees opinions by letter and may cite them so.
    let letters = &told.transparency.letter_map;
    let known = letters.iter().find(|(_, name)| **name == opinion.provider);
    facts.extend(known.map(|(letter, _)| format!("opinion {letter}")));
    let mut lines = vec![stance_line(opinion, &facts, width, canvas)];
    let said = &opinion.opinion;
    lines.extend(indent_prose(
        &wrap_line(&said.summary, canvas.text_width() - PANEL_INDENT),
        PANEL_INDENT,
    ));
    lines.push(StyledLine::blank());
    lines
}

fn opinion_facts(told: &CouncilDocument, opinion: &CouncilOpinion) -> Vec<String> {
    let truncated = opinion.truncated.then(|| "cut off".to_owned());
    let confidence = format!("confidence {}", opinion.opinion.confidence);
    truncated
        .into_iter()
        .chain([confidence])
        .chain(describe_ratings(told, &opinion.provider))
        .collect()
}

fn stance_line(
    opinion: &CouncilOpinion,
    facts: &[String],
    width: usize,
    canvas: PageCanvas,
) -> StyledLine {
    let said = &opinion.opinion;
    let (mark, style) = stance_mark(said.stance);
    StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(opinion.provider.as_str(), STRONG)
        .pad_to_column(PANEL_INDENT + width + 2)
        .push_styled(&format!("{:<13}", said.stance.name()), style)
        .push_fitted(&facts.join(" · "), FAINT, canvas.column_count())
}

fn describe_ratings(told: &CouncilDocument, of: &ExpertSlug) -> Option<String> {
    let reviews = told.rounds.r2.as_ref()?;
    let targets = reviews.reviews.iter().flat_map(|review| &review.targets);
    let ratings: Vec<String> = targets
        .filter(|target| target.target_provider == *of)
        .map(|target| target.target.rating.to_string())
        .collect();
    (!ratings.is_empty()).then(|| format!("rated {}", ratings.join(", ")))
}

fn draw_failure(failure: &ProviderFailure, width: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = vec![absence_line(failure, width)];
    let room = canvas.text_width() - PANEL_INDENT;
    lines.extend(indent_prose(&wrap_line(&failure.error_message, room), PANEL_INDENT));
    lines.push(StyledLine::blank());
    lines
}

fn absence_line(failure: &ProviderFailure, width: usize) -> StyledLine {
    StyledLine::with_indent(MARGIN)
        .push_styled("×", BAD)
        .push_plain(" ")
        .push_styled(failure.provider.as_str(), STRONG)
        .pad_to_column(PANEL_INDENT + width + 2)
        .push_styled("absent", BAD)
        .push_plain(&format!("  {} {}", failure.round, failure.error_type))
}

fn stance_mark(stance: OpinionStance) -> (&'static str, Style) {
    match stance {
        OpinionStance::Approve => ("●", GOOD),
        OpinionStance::Reject => ("▲", BAD),
        OpinionStance::Conditional => ("◐", CAUTION),
        OpinionStance::Abstain | OpinionStance::None => ("○", PLAIN),
    }
}

/// Indent of the text under a name.
const DEBATE_INDENT: usize = MARGIN * 2;

pub(crate) fn draw_opinions(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
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

pub(crate) fn draw_peer_reviews(told: &CouncilDocument, canvas: PageCanvas) -> Vec<StyledLine> {
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
