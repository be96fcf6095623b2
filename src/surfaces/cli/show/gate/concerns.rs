//! The concerns of each deliberator, with place and proposed fix.

use super::page::{SEAT_INDENT, draw_named};
use crate::domain::gate::{BlockLevel, DeliberatorJudgement, names_lines};
use crate::export::gate::words::{block_label, line_range as named_lines};
use crate::export::gate::{PlacedConcern, ReviewDocument};
use crate::protocols::gate::SeatResult;
use crate::surfaces::cli::show::canvas::{PageCanvas, PageDetail};
use crate::surfaces::cli::show::layout::{draw_heading, hang_text, indent_prose};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{self, FAINT, GOOD, ID};
use crate::surfaces::cli::wrap::wrap_text;

/// Width of `L3-12` and a gap; a longer place shifts only its own text.
const PLACE_WIDTH: usize = 6;

/// Width of `2.` and a gap.
const NUMBER_WIDTH: usize = 3;

pub(super) fn draw_concerns(
    told: &ReviewDocument,
    positions: &[SeatResult<'_>],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let groups: Vec<Vec<StyledLine>> =
        positions.iter().map(|position| draw_seat_concerns(told, position, canvas)).collect();
    let groups: Vec<Vec<StyledLine>> =
        groups.into_iter().filter(|lines| !lines.is_empty()).collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("CONCERNS", &told.concerns.len().to_string(), canvas);
    for (place, group) in groups.into_iter().enumerate() {
        lines.extend((place > 0).then(StyledLine::blank));
        lines.extend(group);
    }
    lines
}

/// Draws a deliberator's concerns; nothing if it has none and does not block.
fn draw_seat_concerns(
    told: &ReviewDocument,
    position: &SeatResult<'_>,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let Some(held) = position.final_judgement() else { return Vec::new() };
    if held.concerns.is_empty() && held.block_level() == BlockLevel::None {
        return Vec::new();
    }
    let (_, style) = palette::leaning_mark(held.verdict);
    let mut lines = draw_named(position.seat, &describe_judgement(held), style, canvas);
    let own = told.concerns.iter().filter(|one| one.deliberator == *position.seat);
    lines.extend(own.flat_map(|one| draw_concern(one, canvas.text_width())));
    // The adjudicator merges the briefs; without one, show each deliberator's own.
    let is_wanted = told.adjudicator.is_none() || canvas.detail == PageDetail::Full;
    if is_wanted && !held.revision_brief.trim().is_empty() {
        let brief = wrap_text(&held.revision_brief, canvas.text_width() - SEAT_INDENT);
        lines.push(StyledLine::with_indent(SEAT_INDENT).push_styled("its brief:", FAINT));
        lines.extend(indent_prose(&brief, SEAT_INDENT));
    }
    lines
}

fn describe_judgement(held: &DeliberatorJudgement) -> String {
    let mut words = vec![held.verdict.name()];
    words.extend(block_label(held.block_level()));
    // A block without a concern cannot be fixed, so say it.
    words.extend(held.concerns.is_empty().then_some("names no concern"));
    words.join(", ")
}

fn draw_concern(one: &PlacedConcern, room: usize) -> Vec<StyledLine> {
    let place = named_lines(one.line, one.end_line);
    let column = SEAT_INDENT + NUMBER_WIDTH + PLACE_WIDTH;
    // The deliberator is named above, so print only the number of `skeptic-2`.
    let lead = StyledLine::with_indent(SEAT_INDENT)
        .push_styled(&format!("{}.", one.number), FAINT)
        .pad_to_column(SEAT_INDENT + NUMBER_WIDTH);
    let lead =
        lead.push_styled(place.as_deref().unwrap_or("–"), ID).push_plain(" ").pad_to_column(column);
    let locus = one.concern.locus.trim();
    // Skip a locus that only repeats the line number.
    let is_told = place.is_some() && names_lines(locus);
    let under = || StyledLine::with_indent(column);
    let mut lines = Vec::new();
    if locus.is_empty() || is_told {
        lines.extend(hang_text(lead, &one.concern.issue, room));
    } else {
        lines.extend(hang_text(lead, locus, room));
        lines.extend(hang_text(under(), &one.concern.issue, room));
    }
    if !one.concern.fix.trim().is_empty() {
        lines.extend(hang_text(under().push_styled("→ ", GOOD), &one.concern.fix, room));
    }
    lines
}
