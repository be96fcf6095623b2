//! The `due` page: each conclusion to revisit, with its day, its recommendation and its id.

use anstyle::Style;

use super::canvas::Canvas;
use super::layout::{MARGIN, hanging, heading, prose, text_of};
use super::line::Line;
use super::palette::{BAD, CAUTION, FAINT, ID, PLAIN, STRONG};
use crate::export::conclusion::state_name;
use crate::export::wording;
use crate::operations::{AllDue, DueItem};
use crate::surfaces::cli::wrap::{cut, wrap_line, wrap_text};

/// Enough to recognise the recommendation; `show` prints all of it.
const RECOMMENDATION_LINES_MAX: usize = 3;

/// Indent of the lines under the day of an item.
const INDENT: usize = 2 * MARGIN;

pub(in crate::surfaces::cli) fn draw(all: &AllDue, canvas: Canvas) -> String {
    let mut lines = vec![Line::blank()];
    let note = format!("{} · {}", wording::count(all.due.len(), "conclusion"), all.today);
    lines.extend(heading("DUE", &note, canvas));
    for (place, due) in all.due.iter().enumerate() {
        if place > 0 {
            lines.push(Line::blank());
        }
        lines.extend(item(due, canvas));
    }
    lines.push(Line::blank());
    let hint = "plenary due record ID held|failed|mixed [--note TEXT]";
    lines.push(Line::indented(MARGIN).styled(hint, FAINT));
    text_of(&[lines])
}

fn item(due: &DueItem, canvas: Canvas) -> Vec<Line> {
    let (mark, said, style) = when(due.days_overdue);
    let state = state_name(due.terminal_state);
    let room = canvas.measure() - INDENT;
    let lead = Line::indented(MARGIN).styled(mark, style).plain(" ");
    let lead = lead.plain(&format!("{}  ", due.review_by)).styled(&said, style);
    let mut lines = vec![lead.styled(&format!("  {state}"), FAINT)];
    lines.extend(hanging(Line::indented(INDENT), &wrap_line(&due.title, room), STRONG));
    let recommendation = cut(wrap_text(&due.recommendation, room), RECOMMENDATION_LINES_MAX, room);
    lines.extend(prose(&recommendation, INDENT));
    // The reader copies the id, so it is never wrapped.
    lines.push(Line::indented(INDENT).styled(due.dialogue_id.as_str(), ID));
    lines
}

fn when(days_overdue: i64) -> (&'static str, String, Style) {
    let days = wording::count(usize::try_from(days_overdue.unsigned_abs()).unwrap_or(0), "day");
    match days_overdue {
        1.. => ("▲", format!("{days} overdue"), BAD),
        0 => ("●", "today".to_owned(), CAUTION),
        ..0 => ("○", format!("in {days}"), PLAIN),
    }
}
