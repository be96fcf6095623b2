//! The concerns of each deliberator, with place and proposed fix.

use super::page::{INDENT, named};
use crate::domain::gate::{Block, Judgement, names_lines};
use crate::export::gate::words::{block, lines as named_lines};
use crate::export::gate::{PlacedConcern, ReviewDocument};
use crate::protocols::gate::Position;
use crate::surfaces::cli::show::canvas::{Canvas, Detail};
use crate::surfaces::cli::show::layout::{beside, heading, prose};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{self, FAINT, GOOD, ID};
use crate::surfaces::cli::wrap::wrap_text;

/// Width of `L3-12` and a gap; a longer place shifts only its own text.
const PLACE: usize = 6;

/// Width of `2.` and a gap.
const NUMBER: usize = 3;

pub(super) fn draw(told: &ReviewDocument, positions: &[Position<'_>], canvas: Canvas) -> Vec<Line> {
    let groups: Vec<Vec<Line>> =
        positions.iter().map(|position| group(told, position, canvas)).collect();
    let groups: Vec<Vec<Line>> = groups.into_iter().filter(|lines| !lines.is_empty()).collect();
    if groups.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("CONCERNS", &told.concerns.len().to_string(), canvas);
    for (place, group) in groups.into_iter().enumerate() {
        lines.extend((place > 0).then(Line::blank));
        lines.extend(group);
    }
    lines
}

/// Draws a deliberator's concerns; nothing if it has none and does not block.
fn group(told: &ReviewDocument, position: &Position<'_>, canvas: Canvas) -> Vec<Line> {
    let Some(held) = position.held() else { return Vec::new() };
    if held.concerns.is_empty() && held.block() == Block::None {
        return Vec::new();
    }
    let (_, style) = palette::of_leaning(held.verdict);
    let mut lines = named(position.seat, &stands(held), style, canvas);
    let own = told.concerns.iter().filter(|one| one.deliberator == *position.seat);
    lines.extend(own.flat_map(|one| concern(one, canvas.measure())));
    // The adjudicator merges the briefs; without one, show each deliberator's own.
    let is_wanted = told.adjudicator.is_none() || canvas.detail == Detail::Full;
    if is_wanted && !held.revision_brief.trim().is_empty() {
        let brief = wrap_text(&held.revision_brief, canvas.measure() - INDENT);
        lines.push(Line::indented(INDENT).styled("its brief:", FAINT));
        lines.extend(prose(&brief, INDENT));
    }
    lines
}

fn stands(held: &Judgement) -> String {
    let mut words = vec![held.verdict.name()];
    words.extend(block(held.block()));
    // A block without a concern cannot be fixed, so say it.
    words.extend(held.concerns.is_empty().then_some("names no concern"));
    words.join(", ")
}

fn concern(one: &PlacedConcern, room: usize) -> Vec<Line> {
    let place = named_lines(one.line, one.end_line);
    let column = INDENT + NUMBER + PLACE;
    // The deliberator is named above, so print only the number of `skeptic-2`.
    let lead =
        Line::indented(INDENT).styled(&format!("{}.", one.number), FAINT).pad_to(INDENT + NUMBER);
    let lead = lead.styled(place.as_deref().unwrap_or("–"), ID).plain(" ").pad_to(column);
    let locus = one.concern.locus.trim();
    // Skip a locus that only repeats the line number.
    let is_told = place.is_some() && names_lines(locus);
    let under = || Line::indented(column);
    let mut lines = Vec::new();
    if locus.is_empty() || is_told {
        lines.extend(beside(lead, &one.concern.issue, room));
    } else {
        lines.extend(beside(lead, locus, room));
        lines.extend(beside(under(), &one.concern.issue, room));
    }
    if !one.concern.fix.trim().is_empty() {
        lines.extend(beside(under().styled("→ ", GOOD), &one.concern.fix, room));
    }
    lines
}
