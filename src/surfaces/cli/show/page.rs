//! Dialogue pages for `show`, `ask` and `conclude`: which sections a page has, in which order.

use super::canvas::{PageCanvas, PageDetail};
use super::council::{self, PageFoot};
use super::layout::{MARGIN, indent_block, indent_prose, join_sections};
use super::line::StyledLine;
use super::palette::{BAD, GOOD};
use super::{
    board, ending, gate, headline, interventions, moves, rounds, scoreboard, tree, verdicts,
};
use crate::domain::conclusion::ConclusionOutcome;
use crate::domain::dialogue::TerminalState;
use crate::domain::gate::LogRow;
use crate::domain::record::DialogueRecord;
use crate::domain::time::Moment;
use crate::domain::transcript::RunState;
use crate::export;
use crate::export::conclusion::ConclusionView;
use crate::export::council::stop_notice;
use crate::surfaces::cli::wrap::wrap_line;

/// Draws the dialogue, or one round of it, with ANSI colours. `run` is the run on it, if any.
pub(crate) fn draw_dialogue(
    record: &DialogueRecord,
    run: Option<&RunState>,
    canvas: PageCanvas,
) -> String {
    let sections = match canvas.round {
        None => all_sections(record, run, canvas),
        Some(_) => round_sections(record, canvas),
    };
    join_sections(&sections)
}

/// Draws a Judge-led dialogue after `conclude`: the conclusion and a hint to `show`. Draws the
/// whole record if the run is unconverged.
pub(crate) fn draw_concluded_dialogue(
    record: &DialogueRecord,
    run: &RunState,
    canvas: PageCanvas,
) -> String {
    let ended = conclusion_view(record, Some(run));
    if ended.terminal_state == Some(TerminalState::Unconverged) {
        return draw_dialogue(record, Some(run), canvas);
    }
    let mut sections = opening_sections(record, Some(run), canvas);
    sections.extend(draw_conclusion_sections(record, &ended, canvas));
    sections.push(interventions::draw_interventions(&export::list_interventions(run), canvas));
    let hint = format!("plenary show {}", record.dialogue.id());
    sections.push(vec![StyledLine::with_indent(MARGIN).push_styled(&hint, GOOD)]);
    join_sections(&sections)
}

/// Draws a council: its page, then the record. The page has the report, so the record's verdict is
/// left out.
pub(crate) fn draw_council_record(
    record: &DialogueRecord,
    transcript: &RunState,
    canvas: PageCanvas,
) -> String {
    if canvas.round.is_some() {
        return draw_dialogue(record, None, canvas);
    }
    let mut sections =
        council::council_sections(transcript, recorded_outcomes(record), PageFoot::Id, canvas);
    sections.push(board::draw_tension_board(record, canvas));
    sections.extend(rounds::draw_rounds(record, canvas));
    sections.push(moves::draw_moves(record, canvas));
    sections.push(tree::draw_reference_tree(record, canvas));
    join_sections(&sections)
}

/// Draws a review: its page, then the record.
pub(crate) fn draw_review_record(
    record: &DialogueRecord,
    transcript: &RunState,
    canvas: PageCanvas,
) -> String {
    if canvas.round.is_some() {
        return draw_dialogue(record, None, canvas);
    }
    let mut sections = gate::review_sections(transcript, PageFoot::Id, canvas);
    sections.push(board::draw_tension_board(record, canvas));
    sections.extend(rounds::draw_rounds(record, canvas));
    sections.push(tree::draw_reference_tree(record, canvas));
    join_sections(&sections)
}

/// Draws the verdicts imported from another log.
pub(crate) fn draw_imported_log(
    record: &DialogueRecord,
    rows: &[LogRow],
    canvas: PageCanvas,
) -> String {
    join_sections(&[headline::draw_headline(record, canvas), gate::imported(rows, canvas)])
}

fn all_sections(
    record: &DialogueRecord,
    run: Option<&RunState>,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let ended = conclusion_view(record, run);
    // Without a conclusion, show the full text of every contribution.
    let canvas = match ended.terminal_state {
        Some(TerminalState::Unconverged) => PageCanvas { detail: PageDetail::Full, ..canvas },
        Some(TerminalState::Clean | TerminalState::Revised) | None => canvas,
    };
    let mut sections = opening_sections(record, run, canvas);
    sections.extend(draw_conclusion_sections(record, &ended, canvas));
    sections.push(verdicts::draw_verdicts(record, canvas));
    sections.push(scoreboard::draw_scoreboard(record, canvas));
    sections.push(board::draw_tension_board(record, canvas));
    sections.extend(rounds::draw_rounds(record, canvas));
    sections.push(moves::draw_moves(record, canvas));
    sections.push(tree::draw_reference_tree(record, canvas));
    sections
}

/// Headline, question, and the reason if the run stopped early.
fn opening_sections(
    record: &DialogueRecord,
    run: Option<&RunState>,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let mut sections =
        vec![headline::draw_headline(record, canvas), headline::draw_question(record, canvas)];
    if let Some(stopped) = run.and_then(stop_notice) {
        let room = canvas.text_width() - MARGIN;
        let mut lines = indent_block(&wrap_line(&stopped.message, room), MARGIN, BAD.bold());
        lines.extend(indent_prose(&wrap_line(&stopped.suggestion, room), MARGIN));
        lines.push(StyledLine::blank());
        sections.push(lines);
    }
    sections
}

/// The conclusion in the record; otherwise that of the run, finished or not.
fn conclusion_view(record: &DialogueRecord, run: Option<&RunState>) -> ConclusionView {
    match (&record.conclusion, run) {
        (Some(concluded), _) => ConclusionView::from_result(&concluded.ending),
        (None, Some(run)) => ConclusionView::from_state(run),
        (None, None) => ConclusionView::default(),
    }
}

fn draw_conclusion_sections(
    record: &DialogueRecord,
    ended: &ConclusionView,
    canvas: PageCanvas,
) -> Vec<Vec<StyledLine>> {
    let note = ending::state_line(ended);
    let mut sections = ending::draw_conclusion(ended, recorded_outcomes(record), note, canvas);
    let drawn = sections.iter_mut().filter(|lines| !lines.is_empty());
    drawn.for_each(|lines| lines.push(StyledLine::blank()));
    sections
}

/// The outcomes recorded with `due record`.
fn recorded_outcomes(record: &DialogueRecord) -> &[(Moment, ConclusionOutcome)] {
    record.conclusion.as_ref().map_or(&[], |concluded| &concluded.outcomes)
}

fn round_sections(record: &DialogueRecord, canvas: PageCanvas) -> Vec<Vec<StyledLine>> {
    let mut sections = vec![headline::draw_headline(record, canvas)];
    sections.extend(rounds::draw_rounds(record, canvas));
    sections.push(moves::draw_moves(record, canvas));
    sections.push(tree::draw_reference_tree(record, canvas));
    sections
}
