//! What pages are put together from: headings, blocks, texts beside their leads.

use std::iter;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::Canvas;
use super::line::Line;
use super::palette::{FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{wrap_items, wrap_line};

/// Where the body of a section begins.
pub(super) const MARGIN: usize = 2;

/// The sections, a blank line between them.
pub(super) fn text_of(sections: &[Vec<Line>]) -> String {
    let drawn: Vec<String> =
        sections.iter().filter(|lines| !lines.is_empty()).map(|lines| text(lines)).collect();
    drawn.join("\n")
}

/// `TITLE ─────────── note`, then a blank line. Of a note that is too long, the end is cut.
pub(super) fn heading(title: &str, note: &str, canvas: Canvas) -> Vec<Line> {
    let room = canvas.columns().saturating_sub(title.width() + MARGIN * 2);
    headed(title, Line::blank().fitted(note, PLAIN, room), canvas)
}

/// The same, with a note that has styles of its own.
pub(super) fn headed(title: &str, note: Line, canvas: Canvas) -> Vec<Line> {
    let columns = canvas.columns();
    let note = if note.width() == 0 { note } else { Line::blank().plain(" ").join(note) };
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

/// A text beside its lead, as wide as there is room.
pub(super) fn beside(lead: Line, text: &str, room: usize) -> Vec<Line> {
    let width = room.saturating_sub(lead.width());
    hanging(lead, &wrap_line(text, width), PLAIN)
}

/// What a page is about, with its state and how whole its panel was; these stand under the
/// title, where there is no room beside it.
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

/// Prose in the ordinary style.
pub(super) fn prose(lines: &[String], indent: usize) -> Vec<Line> {
    block(lines, indent, PLAIN)
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
