//! What each deliberator changed between the rounds, and which peer concerns it cites.

use super::page::{SEAT_INDENT, draw_named};
use crate::domain::gate::DeliberatorJudgement;
use crate::export::gate::ReviewDocument;
use crate::export::gate::words::stance_text;
use crate::export::wording;
use crate::protocols::gate::{NumberedConcern, RoundResult, SeatResult};
use crate::surfaces::cli::show::canvas::{PageCanvas, PageDetail};
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, hang_text};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{CAUTION, FAINT, ID, PLAIN};

/// Length of a cited concern; the full text is in the section of its author.
const CITED_CHARS_MAX: usize = 160;

pub(super) fn draw_changes(
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
    hang_text(lead, &wording::shorten_text(&cited.concern.issue, CITED_CHARS_MAX), room)
}
