//! Layout functions shared by all pages: headings, indented blocks, and text beside a label.

use std::iter;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::Canvas;
use super::line::Line;
use super::palette::{FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{wrap_items, wrap_line};

/// Indent of the body of a section.
pub(super) const MARGIN: usize = 2;

/// Joins the sections with a blank line between them; skips empty sections.
pub(super) fn text_of(sections: &[Vec<Line>]) -> String {
    let drawn: Vec<String> =
        sections.iter().filter(|lines| !lines.is_empty()).map(|lines| text(lines)).collect();
    drawn.join("\n")
}

/// Draws `TITLE ─────────── note` and a blank line. Cuts a note that is too long.
pub(super) fn heading(title: &str, note: &str, canvas: Canvas) -> Vec<Line> {
    let room = canvas.columns().saturating_sub(title.width() + MARGIN * 2);
    headed(title, Line::blank().fitted(note, PLAIN, room), canvas)
}

/// Draws the same heading with a note that has its own styles.
pub(super) fn headed(title: &str, note: Line, canvas: Canvas) -> Vec<Line> {
    let columns = canvas.columns();
    let note = if note.width() == 0 { note } else { Line::blank().plain(" ").join(note) };
    let room = columns.saturating_sub(note.width() + MARGIN);
    let title = Line::blank().fitted(title, STRONG, room).plain(" ");
    let rule = "─".repeat(columns.saturating_sub(title.width() + note.width()));
    vec![title.styled(&rule, FAINT).join(note), Line::blank()]
}

/// Draws lines in one style, all with the same indent.
pub(super) fn block(lines: &[String], indent: usize, style: Style) -> Vec<Line> {
    lines.iter().map(|line| Line::indented(indent).styled(line, style)).collect()
}

/// Draws the first line after the lead, the others indented below it.
pub(super) fn hanging(lead: Line, lines: &[String], style: Style) -> Vec<Line> {
    let indent = lead.width();
    let leads = iter::once(lead).chain(iter::repeat_with(|| Line::indented(indent)));
    leads.zip(lines).map(|(lead, line)| lead.styled(line, style)).collect()
}

/// Wraps a text to `room` columns and draws it after the lead.
pub(super) fn beside(lead: Line, text: &str, room: usize) -> Vec<Line> {
    let width = room.saturating_sub(lead.width());
    hanging(lead, &wrap_line(text, width), PLAIN)
}

/// Draws the title of a page with its state and the health of its panel. If they do not fit beside
/// the title, they go below it.
pub(super) fn titled(title: &str, state: Line, health: &[String], canvas: Canvas) -> Vec<Line> {
    let gap = if state.width() == 0 { "" } else { " · " };
    let note = state.clone().plain(gap).plain(&health.join(" · "));
    if title.len() + MARGIN + note.width() < canvas.columns() {
        return headed(title, note, canvas);
    }
    let mut lines = headed(title, state, canvas);
    lines.extend(prose(&wrap_items(health, canvas.columns() - MARGIN), MARGIN));
    lines.push(Line::blank());
    lines
}

/// Draws lines in the plain style.
pub(super) fn prose(lines: &[String], indent: usize) -> Vec<Line> {
    block(lines, indent, PLAIN)
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
