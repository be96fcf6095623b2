//! The concerns of each deliberator, with place and proposed fix.

use crate::protocols::review::document::{PlacedConcern, ReviewDocument};
use crate::protocols::review::locus::names_lines;
use crate::protocols::review::page::{SEAT_INDENT, draw_named};
use crate::protocols::review::phrases::{block_label, line_range as named_lines, stance_text};
use crate::protocols::review::seat_results::{NumberedConcern, RoundResult, SeatResult};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement};
use crate::report::phrases::shorten_text;
use crate::report::terminal::layout::{
    CAUTION, FAINT, GOOD, ID, MARGIN, PLAIN, PageCanvas, PageDetail, StyledLine, draw_heading,
    hang_text, indent_prose, leaning_mark,
};
use crate::report::terminal::wrap::wrap_text;

/// Width of `L3-12` and a gap; a longer place shifts only its own text.
const PLACE_WIDTH: usize = 6;

/// Width of `2.` and a gap.
const NUMBER_WIDTH: usize = 3;

pub(crate) fn draw_concerns(
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
    let (_, style) = leaning_mark(held.verdict);
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

/// Length of a cited concern; the full text is in the section of its author.
const CITED_CHARS_MAX: usize = 160;

pub(crate) fn draw_changes(
    told: &ReviewDocument,
    positions: &[SeatResult<'_>],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    if told.round2.is_empty() {
        return Vec::new();
    }
    let changed = positions.iter().filter(|one| one.is_changed()).count();
    let mut lines = draw_heading("BETWEEN THE ROUNDS", &format!("{changed} changed"), canvas);
    let drawn = positions.iter().map(|one| draw_change(one, positions, canvas));
    let drawn: Vec<Vec<StyledLine>> = drawn.filter(|lines| !lines.is_empty()).collect();
    if drawn.is_empty() {
        lines.push(StyledLine::with_indent(MARGIN).push_styled("Nobody moved.", FAINT));
    }
    for (place, change) in drawn.into_iter().enumerate() {
        lines.extend((place > 0).then(StyledLine::blank));
        lines.extend(change);
    }
    lines
}

/// Draws one deliberator; nothing if it did not change.
fn draw_change(
    position: &SeatResult<'_>,
    all: &[SeatResult<'_>],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let is_wanted = position.is_changed() || canvas.detail == PageDetail::Full;
    let after = match (&position.first, &position.second) {
        (RoundResult::Judged(before), RoundResult::Judged(after)) if is_wanted => {
            let how = format!("{} → {}", stance_text(before), stance_text(after));
            let mut lines = draw_named(position.seat, &how, PLAIN, canvas);
            lines.extend(draw_reasons(position, after, all, canvas));
            return lines;
        }
        (RoundResult::Judged(_), RoundResult::Absent(_)) => {
            "could not be heard again: its first judgement counts"
        }
        (RoundResult::Absent(_), RoundResult::Judged(_)) => "was heard in the second round alone",
        (RoundResult::Open | RoundResult::Judged(_) | RoundResult::Absent(_), _) => {
            return Vec::new();
        }
    };
    draw_named(position.seat, after, CAUTION, canvas)
}

fn draw_reasons(
    position: &SeatResult<'_>,
    after: &DeliberatorJudgement,
    all: &[SeatResult<'_>],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let room = canvas.text_width();
    let lead = |word: &str| StyledLine::with_indent(SEAT_INDENT).push_styled(word, FAINT);
    let mut lines = Vec::new();
    if !after.delta_from_r1.trim().is_empty() {
        lines.extend(hang_text(lead(""), &after.delta_from_r1, room));
    }
    let lists = [("concedes ", &after.concessions), ("presses ", &after.escalations)];
    for (word, texts) in lists {
        lines.extend(texts.iter().flat_map(|text| hang_text(lead(word), text, room)));
    }
    lines.extend(position.cited_concerns(all).iter().flat_map(|cited| draw_citation(cited, room)));
    if position.is_uncited(all) {
        let words = "names no concern of anybody else";
        lines.extend(hang_text(
            StyledLine::with_indent(SEAT_INDENT).push_styled("UNCITED: ", CAUTION),
            words,
            room,
        ));
    }
    lines
}

fn draw_citation(cited: &NumberedConcern<'_>, room: usize) -> Vec<StyledLine> {
    let lead = StyledLine::with_indent(SEAT_INDENT).push_styled(&cited.id, ID).push_plain(": ");
    hang_text(lead, &shorten_text(&cited.concern.issue, CITED_CHARS_MAX), room)
}
