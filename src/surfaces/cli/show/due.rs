//! The `due` page: each conclusion to revisit, with its day, its recommendation and its id.

use anstyle::Style;

use super::canvas::PageCanvas;
use super::layout::{MARGIN, draw_heading, hang_block, indent_prose, join_sections};
use super::line::StyledLine;
use super::palette::{BAD, CAUTION, FAINT, ID, PLAIN, STRONG};
use crate::export::conclusion::state_name;
use crate::export::wording;
use crate::operations::{DueItem, DueResult};
use crate::surfaces::cli::wrap::{cut_lines, wrap_line, wrap_text};

/// Enough to recognise the recommendation; `show` prints all of it.
const RECOMMENDATION_LINES_MAX: usize = 3;

/// Indent of the lines under the day of an item.
const DUE_INDENT: usize = 2 * MARGIN;

pub(in crate::surfaces::cli) fn draw_due_page(all: &DueResult, canvas: PageCanvas) -> String {
    let mut lines = vec![StyledLine::blank()];
    let note = format!("{} · {}", wording::count_noun(all.due.len(), "conclusion"), all.today);
    lines.extend(draw_heading("DUE", &note, canvas));
    for (place, due) in all.due.iter().enumerate() {
        if place > 0 {
            lines.push(StyledLine::blank());
        }
        lines.extend(draw_due_item(due, canvas));
    }
    lines.push(StyledLine::blank());
    let hint = "plenary due record ID held|failed|mixed [--note TEXT]";
    lines.push(StyledLine::with_indent(MARGIN).push_styled(hint, FAINT));
    join_sections(&[lines])
}

fn draw_due_item(due: &DueItem, canvas: PageCanvas) -> Vec<StyledLine> {
    let (mark, said, style) = describe_due_day(due.days_overdue);
    let state = state_name(due.terminal_state);
    let room = canvas.text_width() - DUE_INDENT;
    let lead = StyledLine::with_indent(MARGIN).push_styled(mark, style).push_plain(" ");
    let lead = lead.push_plain(&format!("{}  ", due.review_by)).push_styled(&said, style);
    let mut lines = vec![lead.push_styled(&format!("  {state}"), FAINT)];
    lines.extend(hang_block(
        StyledLine::with_indent(DUE_INDENT),
        &wrap_line(&due.title, room),
        STRONG,
    ));
    let recommendation =
        cut_lines(wrap_text(&due.recommendation, room), RECOMMENDATION_LINES_MAX, room);
    lines.extend(indent_prose(&recommendation, DUE_INDENT));
    // The reader copies the id, so it is never wrapped.
    lines.push(StyledLine::with_indent(DUE_INDENT).push_styled(due.dialogue_id.as_str(), ID));
    lines
}

fn describe_due_day(days_overdue: i64) -> (&'static str, String, Style) {
    let days =
        wording::count_noun(usize::try_from(days_overdue.unsigned_abs()).unwrap_or(0), "day");
    match days_overdue {
        1.. => ("▲", format!("{days} overdue"), BAD),
        0 => ("●", "today".to_owned(), CAUTION),
        ..0 => ("○", format!("in {days}"), PLAIN),
    }
}
