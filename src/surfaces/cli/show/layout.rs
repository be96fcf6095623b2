//! Layout functions shared by all pages: headings, indented blocks, and text beside a label.

use std::iter;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::canvas::PageCanvas;
use super::line::StyledLine;
use super::palette::{FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{wrap_items, wrap_line};

/// Indent of the body of a section.
pub(super) const MARGIN: usize = 2;

/// Joins the sections with a blank line between them; skips empty sections.
pub(super) fn join_sections(sections: &[Vec<StyledLine>]) -> String {
    let drawn: Vec<String> = sections
        .iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines_to_text(lines))
        .collect();
    drawn.join("\n")
}

/// Draws `TITLE ─────────── note` and a blank line. Cuts a note that is too long.
pub(super) fn draw_heading(title: &str, note: &str, canvas: PageCanvas) -> Vec<StyledLine> {
    let room = canvas.column_count().saturating_sub(title.width() + MARGIN * 2);
    draw_styled_heading(title, StyledLine::blank().push_fitted(note, PLAIN, room), canvas)
}

/// Draws the same heading with a note that has its own styles.
pub(super) fn draw_styled_heading(
    title: &str,
    note: StyledLine,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let columns = canvas.column_count();
    let note = if note.width() == 0 {
        note
    } else {
        StyledLine::blank().push_plain(" ").append_line(note)
    };
    let room = columns.saturating_sub(note.width() + MARGIN);
    let title = StyledLine::blank().push_fitted(title, STRONG, room).push_plain(" ");
    let rule = "─".repeat(columns.saturating_sub(title.width() + note.width()));
    vec![title.push_styled(&rule, FAINT).append_line(note), StyledLine::blank()]
}

/// Draws lines in one style, all with the same indent.
pub(super) fn indent_block(lines: &[String], indent: usize, style: Style) -> Vec<StyledLine> {
    lines.iter().map(|line| StyledLine::with_indent(indent).push_styled(line, style)).collect()
}

/// Draws the first line after the lead, the others indented below it.
pub(super) fn hang_block(lead: StyledLine, lines: &[String], style: Style) -> Vec<StyledLine> {
    let indent = lead.width();
    let leads = iter::once(lead).chain(iter::repeat_with(|| StyledLine::with_indent(indent)));
    leads.zip(lines).map(|(lead, line)| lead.push_styled(line, style)).collect()
}

/// Wraps a text to `room` columns and draws it after the lead.
pub(super) fn hang_text(lead: StyledLine, text: &str, room: usize) -> Vec<StyledLine> {
    let width = room.saturating_sub(lead.width());
    hang_block(lead, &wrap_line(text, width), PLAIN)
}

/// Draws the title of a page with its state and the health of its panel. If they do not fit beside
/// the title, they go below it.
pub(super) fn draw_page_title(
    title: &str,
    state: StyledLine,
    health: &[String],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let gap = if state.width() == 0 { "" } else { " · " };
    let note = state.clone().push_plain(gap).push_plain(&health.join(" · "));
    if title.len() + MARGIN + note.width() < canvas.column_count() {
        return draw_styled_heading(title, note, canvas);
    }
    let mut lines = draw_styled_heading(title, state, canvas);
    lines.extend(indent_prose(&wrap_items(health, canvas.column_count() - MARGIN), MARGIN));
    lines.push(StyledLine::blank());
    lines
}

/// Draws lines in the plain style.
pub(super) fn indent_prose(lines: &[String], indent: usize) -> Vec<StyledLine> {
    indent_block(lines, indent, PLAIN)
}

fn lines_to_text(lines: &[StyledLine]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
