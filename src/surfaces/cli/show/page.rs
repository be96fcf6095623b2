//! Dialogue pages for `show`, `ask` and `conclude`: which sections a page has, in which order.

use super::canvas::{Canvas, Detail};
use super::council::{self, Foot};
use super::layout::{MARGIN, block, prose, text_of};
use super::line::Line;
use super::palette::{BAD, GOOD};
use super::{
    board, ending, gate, headline, interventions, moves, rounds, scoreboard, tree, verdicts,
};
use crate::domain::conclusion::Outcome;
use crate::domain::dialogue::TerminalState;
use crate::domain::gate::LogRow;
use crate::domain::record::Record;
use crate::domain::time::Moment;
use crate::domain::transcript::Transcript;
use crate::export;
use crate::export::conclusion::Ended;
use crate::export::council::stopped;
use crate::surfaces::cli::wrap::wrap_line;

/// Draws the dialogue, or one round of it, with ANSI colours. `run` is the run on it, if any.
pub(crate) fn draw(record: &Record, run: Option<&Transcript>, canvas: Canvas) -> String {
    let sections = match canvas.round {
        None => whole(record, run, canvas),
        Some(_) => single_round(record, canvas),
    };
    text_of(&sections)
}

/// Draws a Judge-led dialogue after `conclude`: the conclusion and a hint to `show`. Draws the
/// whole record if the run is unconverged.
pub(crate) fn draw_closing(record: &Record, run: &Transcript, canvas: Canvas) -> String {
    let ended = ended(record, Some(run));
    if ended.terminal_state == Some(TerminalState::Unconverged) {
        return draw(record, Some(run), canvas);
    }
    let mut sections = opening(record, Some(run), canvas);
    sections.extend(concluded(record, &ended, canvas));
    sections.push(interventions::draw(&export::interventions(run), canvas));
    let hint = format!("plenary show {}", record.dialogue.id());
    sections.push(vec![Line::indented(MARGIN).styled(&hint, GOOD)]);
    text_of(&sections)
}

/// Draws a council: its page, then the record. The page has the report, so the record's verdict is
/// left out.
pub(crate) fn draw_council(record: &Record, transcript: &Transcript, canvas: Canvas) -> String {
    if canvas.round.is_some() {
        return draw(record, None, canvas);
    }
    let mut sections = council::sections(transcript, outcomes(record), Foot::Id, canvas);
    sections.push(board::draw(record, canvas));
    sections.extend(rounds::draw(record, canvas));
    sections.push(moves::draw(record, canvas));
    sections.push(tree::draw(record, canvas));
    text_of(&sections)
}

/// Draws a review: its page, then the record.
pub(crate) fn draw_review(record: &Record, transcript: &Transcript, canvas: Canvas) -> String {
    if canvas.round.is_some() {
        return draw(record, None, canvas);
    }
    let mut sections = gate::sections(transcript, Foot::Id, canvas);
    sections.push(board::draw(record, canvas));
    sections.extend(rounds::draw(record, canvas));
    sections.push(tree::draw(record, canvas));
    text_of(&sections)
}

/// Draws the verdicts imported from another log.
pub(crate) fn draw_imported(record: &Record, rows: &[LogRow], canvas: Canvas) -> String {
    text_of(&[headline::draw(record, canvas), gate::imported(rows, canvas)])
}

fn whole(record: &Record, run: Option<&Transcript>, canvas: Canvas) -> Vec<Vec<Line>> {
    let ended = ended(record, run);
    // Without a conclusion, show the full text of every contribution.
    let canvas = match ended.terminal_state {
        Some(TerminalState::Unconverged) => Canvas { detail: Detail::Full, ..canvas },
        Some(TerminalState::Clean | TerminalState::Revised) | None => canvas,
    };
    let mut sections = opening(record, run, canvas);
    sections.extend(concluded(record, &ended, canvas));
    sections.push(verdicts::draw(record, canvas));
    sections.push(scoreboard::draw(record, canvas));
    sections.push(board::draw(record, canvas));
    sections.extend(rounds::draw(record, canvas));
    sections.push(moves::draw(record, canvas));
    sections.push(tree::draw(record, canvas));
    sections
}

/// Headline, question, and the reason if the run stopped early.
fn opening(record: &Record, run: Option<&Transcript>, canvas: Canvas) -> Vec<Vec<Line>> {
    let mut sections = vec![headline::draw(record, canvas), headline::question(record, canvas)];
    if let Some(stopped) = run.and_then(stopped) {
        let room = canvas.measure() - MARGIN;
        let mut lines = block(&wrap_line(&stopped.message, room), MARGIN, BAD.bold());
        lines.extend(prose(&wrap_line(&stopped.suggestion, room), MARGIN));
        lines.push(Line::blank());
        sections.push(lines);
    }
    sections
}

/// The conclusion in the record; otherwise that of the run, finished or not.
fn ended(record: &Record, run: Option<&Transcript>) -> Ended {
    match (&record.conclusion, run) {
        (Some(concluded), _) => Ended::by(&concluded.ending),
        (None, Some(run)) => Ended::of(run),
        (None, None) => Ended::default(),
    }
}

fn concluded(record: &Record, ended: &Ended, canvas: Canvas) -> Vec<Vec<Line>> {
    let note = ending::state(ended);
    let mut sections = ending::sections(ended, outcomes(record), note, canvas);
    let drawn = sections.iter_mut().filter(|lines| !lines.is_empty());
    drawn.for_each(|lines| lines.push(Line::blank()));
    sections
}

/// The outcomes recorded with `due record`.
fn outcomes(record: &Record) -> &[(Moment, Outcome)] {
    record.conclusion.as_ref().map_or(&[], |concluded| &concluded.outcomes)
}

fn single_round(record: &Record, canvas: Canvas) -> Vec<Vec<Line>> {
    let mut sections = vec![headline::draw(record, canvas)];
    sections.extend(rounds::draw(record, canvas));
    sections.push(moves::draw(record, canvas));
    sections.push(tree::draw(record, canvas));
    sections
}
