//! Council page: which sections it has, in which order. Called by `ask` and `show`.

use super::{debate, findings, headline, panel, replies, report};
use crate::domain::conclusion::Outcome;
use crate::domain::dialogue::TerminalState;
use crate::domain::record::Record;
use crate::domain::time::Moment;
use crate::domain::transcript::Transcript;
use crate::export::council::{Deliberated, document};
use crate::surfaces::cli::show::canvas::{Canvas, Detail};
use crate::surfaces::cli::show::layout::text_of;
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::{ending, interventions};

/// The last line of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::surfaces::cli::show) enum Foot {
    /// The command that shows more.
    Hint,
    /// The id alone, because more follows.
    Id,
}

/// Draws the page that a run ends with, with what became of its conclusion.
pub(crate) fn draw_result(record: &Record, transcript: &Transcript, canvas: Canvas) -> String {
    let concluded = record.conclusion.as_ref().filter(|_| transcript.ending.is_some());
    let outcomes = concluded.map_or(&[][..], |concluded| &concluded.outcomes);
    draw(transcript, outcomes, canvas)
}

/// Draws a run, finished or not, with ANSI colours and the recorded outcomes.
pub(crate) fn draw(
    transcript: &Transcript,
    outcomes: &[(Moment, Outcome)],
    canvas: Canvas,
) -> String {
    text_of(&sections(transcript, outcomes, Foot::Hint, canvas))
}

pub(in crate::surfaces::cli::show) fn sections(
    transcript: &Transcript,
    outcomes: &[(Moment, Outcome)],
    foot: Foot,
    canvas: Canvas,
) -> Vec<Vec<Line>> {
    let told = &document(transcript);
    let mut sections = vec![headline::draw(transcript, told, canvas)];
    sections.extend(ending::sections(&told.ended, outcomes, Line::blank(), canvas));
    match told.ended.conclusion {
        // With a conclusion, the brief page omits the debate; `show` prints it.
        Some(_) if foot == Foot::Hint => sections.push(panel::in_short(told, canvas)),
        Some(_) | None => sections.extend(behind(transcript, told, foot, canvas)),
    }
    if !shows_replies(told, canvas) {
        sections.push(interventions::draw(&told.interventions, canvas));
    }
    sections.push(headline::footer(transcript, told, foot, canvas));
    sections
}

/// The report and the panel; all replies too if the run is unconverged.
fn behind(
    transcript: &Transcript,
    told: &Deliberated,
    foot: Foot,
    canvas: Canvas,
) -> Vec<Vec<Line>> {
    let mut sections = Vec::new();
    if let Some(given) = &told.report {
        let is_ending = told.ended.conclusion.is_some() || told.ended.draft.is_some();
        let lead = if is_ending { "REPORT: " } else { "" };
        sections.push(report::answer(given, lead, canvas));
        sections.push(report::reasons(given, canvas));
    }
    sections.push(panel::draw(told, canvas));
    if let Some(given) = &told.report {
        sections.push(report::disagreements(given, canvas));
        sections.push(findings::draw(given, canvas));
        sections.push(report::risks(given, canvas));
        sections.push(report::uncertainties(given, canvas));
        sections.push(report::list("ALTERNATIVES", &given.report.alternatives, canvas));
        sections.push(report::list("HOW TO CHECK", &given.report.verification_plan, canvas));
        sections.push(report::next_actions(given, canvas));
    }
    // `show` prints the record below, whose rounds have the same content.
    if is_unconverged(told) && foot == Foot::Hint {
        sections.push(debate::opinions(told, canvas));
        sections.push(debate::reviews(told, canvas));
    }
    if shows_replies(told, canvas) {
        sections.push(replies::draw(transcript, &told.interventions, canvas));
    }
    sections
}

/// Replies are shown on a full page and in unconverged runs.
fn shows_replies(told: &Deliberated, canvas: Canvas) -> bool {
    canvas.detail == Detail::Full || is_unconverged(told)
}

fn is_unconverged(told: &Deliberated) -> bool {
    told.ended.terminal_state == Some(TerminalState::Unconverged)
}
