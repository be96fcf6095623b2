//! Interventions of the Principal: a section on a brief page, lines in the margin of a full one.

use super::canvas::PageCanvas;
use super::layout::{MARGIN, draw_heading, hang_block};
use super::line::StyledLine;
use super::palette::{FAINT, ID, PLAIN};
use crate::export::{TimedIntervention, wording};
use crate::surfaces::cli::wrap::{wrap_line, wrap_text};

/// The part of a timestamp that is the time of day: `15:40:15`.
const TIME_OF_DAY: std::ops::Range<usize> = 11..19;

pub(super) fn draw_interventions(all: &[TimedIntervention], canvas: PageCanvas) -> Vec<StyledLine> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("INTERVENTIONS", &all.len().to_string(), canvas);
    for one in all {
        let lead = StyledLine::with_indent(MARGIN).push_styled("» ", ID);
        let place = wording::round_name(one.seen.round);
        let told = format!("{} · {place} · {}", time_of_day(one), one.seen.action_text());
        let room = canvas.text_width() - MARGIN * 2;
        lines.extend(hang_block(lead, &wrap_line(&told, room), FAINT));
        lines.extend(
            wrap_words(one, room)
                .into_iter()
                .map(|text| StyledLine::with_indent(MARGIN * 2).push_plain(&text)),
        );
    }
    lines
}

/// Draws an intervention at its position among the replies, left of their text.
pub(super) fn draw_in_margin(one: &TimedIntervention, canvas: PageCanvas) -> Vec<StyledLine> {
    let lead = StyledLine::blank().push_styled("» ", ID);
    let room = canvas.text_width() - lead.width();
    let told = wrap_line(&format!("{} {}", time_of_day(one), one.seen.action_text()), room);
    let first = told.into_iter().map(|text| lead.clone().push_styled(&text, FAINT));
    let words =
        wrap_words(one, room).into_iter().map(|text| lead.clone().push_styled(&text, PLAIN));
    first.chain(words).chain([StyledLine::blank()]).collect()
}

fn wrap_words(one: &TimedIntervention, room: usize) -> Vec<String> {
    one.seen.detail_texts().iter().flat_map(|text| wrap_text(text, room)).collect()
}

fn time_of_day(one: &TimedIntervention) -> String {
    let moment = one.at.to_string();
    moment.get(TIME_OF_DAY).unwrap_or(&moment).to_owned()
}
