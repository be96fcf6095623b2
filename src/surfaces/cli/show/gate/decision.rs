//! Revision brief, decision, prior verdicts and missing context of a review page.

use super::page::named;
use crate::domain::gate::PriorVerdict;
use crate::export::gate::words::{counted, outcome, word};
use crate::export::gate::{ReviewDocument, ReviewVerdict};
use crate::export::wording::round_name;
use crate::protocols::council::ProviderFailure;
use crate::protocols::gate::ADJUDICATION;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, beside, hanging, heading, prose};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{self, CAUTION, FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{wrap_line, wrap_text};

/// Columns from the bar to the text.
const BAR: usize = 2;

/// Width of `adjudicator` and a gap.
const LEAD: usize = 13;

/// Draws the revision brief; nothing if it is empty.
pub(super) fn brief(told: &ReviewDocument, canvas: Canvas) -> Vec<Line> {
    if told.revision_brief.trim().is_empty() {
        return Vec::new();
    }
    let author = told.adjudicator.as_ref().map(|one| format!("by {} ({})", one.seat, one.model));
    let mut lines = heading("REVISION BRIEF", &author.unwrap_or_default(), canvas);
    let (_, style) = palette::of_gate(told.verdict);
    let bar = Line::indented(MARGIN).styled("┃", style).pad_to(MARGIN + BAR);
    let words = wrap_text(&told.revision_brief, canvas.measure() - MARGIN - BAR);
    lines.extend(words.iter().map(|line| bar.clone().styled(line, STRONG)));
    lines
}

pub(super) fn draw(told: &ReviewDocument, canvas: Canvas) -> Vec<Line> {
    let mut lines = heading("DECISION", told.verdict.name(), canvas);
    let room = canvas.measure();
    let lead = |name: &str| Line::indented(MARGIN).styled(name, FAINT).pad_to(MARGIN + LEAD);
    if let Some(sum) = &told.policy {
        lines.extend(beside(lead("counted"), &counted(sum), room));
    }
    let said = told.adjudicator.as_ref().map(|one| word(&one.word));
    let said = said.unwrap_or_else(|| absence(told));
    lines.extend(beside(lead("adjudicator"), &said, room));
    let (_, style) = palette::of_gate(told.verdict);
    let undecided = || format!("{}: the gate stays closed", ReviewVerdict::Incomplete);
    let made = wrap_line(&outcome(told).unwrap_or_else(undecided), room - MARGIN - LEAD);
    lines.extend(hanging(lead("the gate"), &made, style.bold()));
    let reasoning = told.adjudicator.as_ref().map(|one| one.word.reasoning.trim());
    if let Some(reasoning) = reasoning.filter(|text| !text.is_empty()) {
        lines.push(Line::blank());
        lines.extend(prose(&wrap_text(reasoning, room - MARGIN), MARGIN));
    }
    lines
}

/// Says why the adjudicator gave no verdict.
fn absence(told: &ReviewDocument) -> String {
    let of_round = |failure: &&ProviderFailure| failure.round == round_name(ADJUDICATION);
    let failed = told.panel.panel.failed.iter().find(of_round);
    failed.map_or_else(
        || "was not asked".to_owned(),
        |failure| format!("absent, {}: {}", failure.error_type, failure.error_message),
    )
}

/// Draws the earlier verdicts on this type that the adjudicator saw.
pub(super) fn priors(told: &ReviewDocument, canvas: Canvas) -> Vec<Line> {
    if told.prior_verdicts.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("PRIOR VERDICTS", "shown to the adjudicator", canvas);
    lines.extend(told.prior_verdicts.iter().map(|one| prior(one, canvas)));
    lines
}

fn prior(one: &PriorVerdict, canvas: Canvas) -> Line {
    let (mark, style) = palette::of_gate(one.verdict.into());
    let producer = one.producer.as_ref().map(|name| format!(" (by {name})")).unwrap_or_default();
    Line::indented(MARGIN)
        .styled(mark, style)
        .plain(" ")
        .styled(&format!("{:<8}", one.verdict.name()), style)
        .styled(&format!("{}  ", one.ts.day()), FAINT)
        .fitted(&format!("{}{producer}", one.artifact), PLAIN, canvas.columns())
}

pub(super) fn missing_context(told: &ReviewDocument, canvas: Canvas) -> Vec<Line> {
    if told.missing_context.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("MISSING CONTEXT", "they were told so", canvas);
    for one in &told.missing_context {
        let text = format!("{}: {}", one.path, one.reason);
        lines.extend(named(&one.deliberator, &text, CAUTION, canvas));
    }
    lines
}
