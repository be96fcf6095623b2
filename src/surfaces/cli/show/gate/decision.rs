//! Revision brief, decision, prior verdicts and missing context of a review page.

use super::page::draw_named;
use crate::domain::gate::PriorVerdict;
use crate::export::gate::words::{adjudication_text, outcome_sentence, policy_sentence};
use crate::export::gate::{ReviewDocument, ReviewVerdict};
use crate::export::wording::round_name;
use crate::protocols::council::ProviderFailure;
use crate::protocols::gate::ADJUDICATION;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{
    MARGIN, draw_heading, hang_block, hang_text, indent_prose,
};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{self, CAUTION, FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{wrap_line, wrap_text};

/// Columns from the bar to the text.
const BRIEF_BAR_WIDTH: usize = 2;

/// Width of `adjudicator` and a gap.
const LEAD_WIDTH: usize = 13;

/// Draws the revision brief; nothing if it is empty.
pub(super) fn draw_brief(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    if told.revision_brief.trim().is_empty() {
        return Vec::new();
    }
    let author = told.adjudicator.as_ref().map(|one| format!("by {} ({})", one.seat, one.model));
    let mut lines = draw_heading("REVISION BRIEF", &author.unwrap_or_default(), canvas);
    let (_, style) = palette::review_mark(told.verdict);
    let bar = StyledLine::with_indent(MARGIN)
        .push_styled("┃", style)
        .pad_to_column(MARGIN + BRIEF_BAR_WIDTH);
    let words = wrap_text(&told.revision_brief, canvas.text_width() - MARGIN - BRIEF_BAR_WIDTH);
    lines.extend(words.iter().map(|line| bar.clone().push_styled(line, STRONG)));
    lines
}

pub(super) fn draw_decision(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let mut lines = draw_heading("DECISION", told.verdict.name(), canvas);
    let room = canvas.text_width();
    let lead = |name: &str| {
        StyledLine::with_indent(MARGIN).push_styled(name, FAINT).pad_to_column(MARGIN + LEAD_WIDTH)
    };
    if let Some(sum) = &told.policy {
        lines.extend(hang_text(lead("counted"), &policy_sentence(sum), room));
    }
    let said = told.adjudicator.as_ref().map(|one| adjudication_text(&one.adjudication));
    let said = said.unwrap_or_else(|| explain_absence(told));
    lines.extend(hang_text(lead("adjudicator"), &said, room));
    let (_, style) = palette::review_mark(told.verdict);
    let undecided = || format!("{}: the gate stays closed", ReviewVerdict::Incomplete);
    let made =
        wrap_line(&outcome_sentence(told).unwrap_or_else(undecided), room - MARGIN - LEAD_WIDTH);
    lines.extend(hang_block(lead("the gate"), &made, style.bold()));
    let reasoning = told.adjudicator.as_ref().map(|one| one.adjudication.reasoning.trim());
    if let Some(reasoning) = reasoning.filter(|text| !text.is_empty()) {
        lines.push(StyledLine::blank());
        lines.extend(indent_prose(&wrap_text(reasoning, room - MARGIN), MARGIN));
    }
    lines
}

/// Says why the adjudicator gave no verdict.
fn explain_absence(told: &ReviewDocument) -> String {
    let of_round = |failure: &&ProviderFailure| failure.round == round_name(ADJUDICATION);
    let failed = told.panel.panel.failed.iter().find(of_round);
    failed.map_or_else(
        || "was not asked".to_owned(),
        |failure| format!("absent, {}: {}", failure.error_type, failure.error_message),
    )
}

/// Draws the earlier verdicts on this type that the adjudicator saw.
pub(super) fn draw_prior_verdicts(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    if told.prior_verdicts.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("PRIOR VERDICTS", "shown to the adjudicator", canvas);
    lines.extend(told.prior_verdicts.iter().map(|one| draw_prior_verdict(one, canvas)));
    lines
}

fn draw_prior_verdict(one: &PriorVerdict, canvas: PageCanvas) -> StyledLine {
    let (mark, style) = palette::review_mark(one.verdict.into());
    let producer = one.producer.as_ref().map(|name| format!(" (by {name})")).unwrap_or_default();
    StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(&format!("{:<8}", one.verdict.name()), style)
        .push_styled(&format!("{}  ", one.ts.utc_day()), FAINT)
        .push_fitted(&format!("{}{producer}", one.artifact), PLAIN, canvas.column_count())
}

pub(super) fn draw_missing_context(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    if told.missing_context.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("MISSING CONTEXT", "they were told so", canvas);
    for one in &told.missing_context {
        let text = format!("{}: {}", one.path, one.reason);
        lines.extend(draw_named(&one.deliberator, &text, CAUTION, canvas));
    }
    lines
}
