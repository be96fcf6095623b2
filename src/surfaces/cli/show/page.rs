//! The page: which sections are drawn, in which order.

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

/// Draws the dialogue, or one round of it, as lines with ANSI colours. `run` is what was run on
/// it, where anything was.
pub(crate) fn draw(record: &Record, run: Option<&Transcript>, canvas: Canvas) -> String {
    let sections = match canvas.round {
        None => whole(record, run, canvas),
        Some(_) => single_round(record, canvas),
    };
    text_of(&sections)
}

/// How a dialogue that somebody led was concluded: the ending alone, and where the rest is;
/// everything, where no conclusion came out.
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

/// A council: how it ended, its page, then the record behind it. The report stands on the
/// page, so its verdict is not drawn again.
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

/// A review: its page, then the record behind it.
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

/// Verdicts of another log.
pub(crate) fn draw_imported(record: &Record, rows: &[LogRow], canvas: Canvas) -> String {
    text_of(&[headline::draw(record, canvas), gate::imported(rows, canvas)])
}

fn whole(record: &Record, run: Option<&Transcript>, canvas: Canvas) -> Vec<Vec<Line>> {
    let ended = ended(record, run);
    // Who gets no conclusion gets every word.
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

/// What it is about, and why it did not come to its end where it did not.
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

/// How it ended, as the record has it; else how far what was run on it has come.
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

/// What became of it, as far as anybody has said.
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
