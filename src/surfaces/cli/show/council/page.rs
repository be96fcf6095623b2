//! Council page: which sections it has, in which order. Called by `ask` and `show`.

use super::{debate, findings, headline, panel, replies, report};
use crate::domain::conclusion::ConclusionOutcome;
use crate::domain::dialogue::TerminalState;
use crate::domain::record::DialogueRecord;
use crate::domain::time::Moment;
use crate::domain::transcript::RunState;
use crate::export::council::{CouncilDocument, council_document};
use crate::surfaces::cli::show::canvas::{PageCanvas, PageDetail};
use crate::surfaces::cli::show::layout::join_sections;
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::{ending, interventions};

/// The last line of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::surfaces::cli::show) enum PageFoot {
    /// The command that shows more.
    Hint,
    /// The id alone, because more follows.
    Id,
}

/// Draws the page that a run ends with, with what became of its conclusion.
pub(crate) fn draw_result(
    record: &DialogueRecord,
    transcript: &RunState,
    canvas: PageCanvas,
) -> String {
    let concluded = record.conclusion.as_ref().filter(|_| transcript.conclusion_result.is_some());
    let outcomes = concluded.map_or(&[][..], |concluded| &concluded.outcomes);
    draw_council_page(transcript, outcomes, canvas)
}

/// Draws a run, finished or not, with ANSI colours and the recorded outcomes.
pub(crate) fn draw_council_page(
    transcript: &RunState,
    outcomes: &[(Moment, ConclusionOutcome)],
    canvas: PageCanvas,
) -> String {
    join_sections(&council_sections(transcript, outcomes, PageFoot::Hint, canvas))
}

pub(in crate::surfaces::cli::show) fn council_sections(
    transcript: &RunState,
    outcomes: &[(Moment, ConclusionOutcome)],
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let told = &council_document(transcript);
    let mut sections = vec![headline::draw_headline(transcript, told, canvas)];
    sections.extend(ending::draw_conclusion(&told.ended, outcomes, StyledLine::blank(), canvas));
    match told.ended.conclusion {
        // With a conclusion, the brief page omits the debate; `show` prints it.
        Some(_) if foot == PageFoot::Hint => sections.push(panel::draw_panel_brief(told, canvas)),
        Some(_) | None => sections.extend(background_sections(transcript, told, foot, canvas)),
    }
    if !shows_replies(told, canvas) {
        sections.push(interventions::draw_interventions(&told.interventions, canvas));
    }
    sections.push(headline::draw_footer(transcript, told, foot, canvas));
    sections
}

/// The report and the panel; all replies too if the run is unconverged.
fn background_sections(
    transcript: &RunState,
    told: &CouncilDocument,
    foot: PageFoot,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let mut sections = Vec::new();
    if let Some(given) = &told.report {
        let is_ending = told.ended.conclusion.is_some() || told.ended.draft.is_some();
        let lead = if is_ending { "REPORT: " } else { "" };
        sections.push(report::draw_answer(given, lead, canvas));
        sections.push(report::draw_reasons(given, canvas));
    }
    sections.push(panel::draw_panel(told, canvas));
    if let Some(given) = &told.report {
        sections.push(report::draw_disagreements(given, canvas));
        sections.push(findings::draw_findings(given, canvas));
        sections.push(report::draw_risks(given, canvas));
        sections.push(report::draw_uncertainties(given, canvas));
        sections.push(report::draw_list("ALTERNATIVES", &given.report.alternatives, canvas));
        sections.push(report::draw_list("HOW TO CHECK", &given.report.verification_plan, canvas));
        sections.push(report::draw_next_actions(given, canvas));
    }
    // `show` prints the record below, whose rounds have the same content.
    if is_unconverged(told) && foot == PageFoot::Hint {
        sections.push(debate::draw_opinions(told, canvas));
        sections.push(debate::draw_peer_reviews(told, canvas));
    }
    if shows_replies(told, canvas) {
        sections.push(replies::draw_replies(transcript, &told.interventions, canvas));
    }
    sections
}

/// Replies are shown on a full page and in unconverged runs.
fn shows_replies(told: &CouncilDocument, canvas: PageCanvas) -> bool {
    canvas.detail == PageDetail::Full || is_unconverged(told)
}

fn is_unconverged(told: &CouncilDocument) -> bool {
    told.ended.terminal_state == Some(TerminalState::Unconverged)
}
