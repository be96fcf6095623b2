//! Interventions of the Principal: a section on a brief page, lines in the margin of a full one.

use super::canvas::Canvas;
use super::layout::{MARGIN, hanging, heading};
use super::line::Line;
use super::palette::{FAINT, ID, PLAIN};
use crate::export::{Intervened, wording};
use crate::surfaces::cli::wrap::{wrap_line, wrap_text};

/// The part of a timestamp that is the time of day: `15:40:15`.
const TIME_OF_DAY: std::ops::Range<usize> = 11..19;

pub(super) fn draw(all: &[Intervened], canvas: Canvas) -> Vec<Line> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("INTERVENTIONS", &all.len().to_string(), canvas);
    for one in all {
        let lead = Line::indented(MARGIN).styled("» ", ID);
        let place = wording::round_name(one.seen.round);
        let told = format!("{} · {place} · {}", time(one), one.seen.deed());
        let room = canvas.measure() - MARGIN * 2;
        lines.extend(hanging(lead, &wrap_line(&told, room), FAINT));
        lines.extend(
            said(one, room).into_iter().map(|text| Line::indented(MARGIN * 2).plain(&text)),
        );
    }
    lines
}

/// Draws an intervention at its position among the replies, left of their text.
pub(super) fn in_margin(one: &Intervened, canvas: Canvas) -> Vec<Line> {
    let lead = Line::blank().styled("» ", ID);
    let room = canvas.measure() - lead.width();
    let told = wrap_line(&format!("{} {}", time(one), one.seen.deed()), room);
    let first = told.into_iter().map(|text| lead.clone().styled(&text, FAINT));
    let words = said(one, room).into_iter().map(|text| lead.clone().styled(&text, PLAIN));
    first.chain(words).chain([Line::blank()]).collect()
}

fn said(one: &Intervened, room: usize) -> Vec<String> {
    one.seen.words().iter().flat_map(|text| wrap_text(text, room)).collect()
}

fn time(one: &Intervened) -> String {
    let moment = one.at.to_string();
    moment.get(TIME_OF_DAY).unwrap_or(&moment).to_owned()
}
