//! The page: which sections are drawn, in which order.

use std::iter;

use anstyle::Style;

use super::canvas::Canvas;
use super::council::{self, Ending};
use super::line::Line;
use super::palette::{FAINT, PLAIN, STRONG};
use super::{board, headline, moves, rounds, scoreboard, tree, verdicts};
use crate::domain::record::Record;
use crate::domain::transcript::Transcript;

/// Where the body of a section begins.
pub(super) const MARGIN: usize = 2;

/// Draws the dialogue, or one round of it, as lines with ANSI colours.
pub(crate) fn draw(record: &Record, canvas: Canvas) -> String {
    let sections = match canvas.round {
        None => whole(record, canvas),
        Some(_) => single_round(record, canvas),
    };
    text_of(&sections)
}

/// A council: its page, as it was printed when it ended, then the record behind it. The
/// report stands on the page, so its verdict is not drawn again.
pub(crate) fn draw_council(record: &Record, transcript: &Transcript, canvas: Canvas) -> String {
    if canvas.round.is_some() {
        return draw(record, canvas);
    }
    let mut sections = council::sections(transcript, Ending::Id, canvas);
    sections.push(board::draw(record, canvas));
    sections.extend(rounds::draw(record, canvas));
    sections.push(moves::draw(record, canvas));
    sections.push(tree::draw(record, canvas));
    text_of(&sections)
}

/// The sections, a blank line between them.
pub(super) fn text_of(sections: &[Vec<Line>]) -> String {
    let drawn: Vec<String> =
        sections.iter().filter(|lines| !lines.is_empty()).map(|lines| text(lines)).collect();
    drawn.join("\n")
}

fn whole(record: &Record, canvas: Canvas) -> Vec<Vec<Line>> {
    let mut sections = vec![
        headline::draw(record, canvas),
        headline::question(record, canvas),
        verdicts::draw(record, canvas),
        scoreboard::draw(record, canvas),
        board::draw(record, canvas),
    ];
    sections.extend(rounds::draw(record, canvas));
    sections.push(moves::draw(record, canvas));
    sections.push(tree::draw(record, canvas));
    sections
}

fn single_round(record: &Record, canvas: Canvas) -> Vec<Vec<Line>> {
    let mut sections = vec![headline::draw(record, canvas)];
    sections.extend(rounds::draw(record, canvas));
    sections.push(moves::draw(record, canvas));
    sections.push(tree::draw(record, canvas));
    sections
}

/// `TITLE ─────────── note`, then a blank line.
pub(super) fn heading(title: &str, note: &str, canvas: Canvas) -> Vec<Line> {
    let columns = canvas.columns();
    let note = if note.is_empty() { Line::blank() } else { Line::blank().plain(" ").plain(note) };
    let room = columns.saturating_sub(note.width() + MARGIN);
    let title = Line::blank().fitted(title, STRONG, room).plain(" ");
    let rule = "─".repeat(columns.saturating_sub(title.width() + note.width()));
    vec![title.styled(&rule, FAINT).join(note), Line::blank()]
}

/// Lines of one style, all beginning at the same column.
pub(super) fn block(lines: &[String], indent: usize, style: Style) -> Vec<Line> {
    lines.iter().map(|line| Line::indented(indent).styled(line, style)).collect()
}

/// The first text beside its lead, the others under the first.
pub(super) fn hanging(lead: Line, lines: &[String], style: Style) -> Vec<Line> {
    let indent = lead.width();
    let leads = iter::once(lead).chain(iter::repeat_with(|| Line::indented(indent)));
    leads.zip(lines).map(|(lead, line)| lead.styled(line, style)).collect()
}

/// Prose in the ordinary style.
pub(super) fn prose(lines: &[String], indent: usize) -> Vec<Line> {
    block(lines, indent, PLAIN)
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
