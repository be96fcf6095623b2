//! What each deliberator changed between the rounds, and which peer concerns it cites.

use super::page::{INDENT, named};
use crate::domain::gate::Judgement;
use crate::export::gate::ReviewDocument;
use crate::export::gate::words::stance;
use crate::export::wording;
use crate::protocols::gate::{Numbered, Part, Position};
use crate::surfaces::cli::show::canvas::{Canvas, Detail};
use crate::surfaces::cli::show::layout::{MARGIN, beside, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{CAUTION, FAINT, ID, PLAIN};

/// Length of a cited concern; the full text is in the section of its author.
const CITED_CHARS_MAX: usize = 160;

pub(super) fn draw(told: &ReviewDocument, positions: &[Position<'_>], canvas: Canvas) -> Vec<Line> {
    if told.round2.is_empty() {
        return Vec::new();
    }
    let changed = positions.iter().filter(|one| one.is_changed()).count();
    let mut lines = heading("BETWEEN THE ROUNDS", &format!("{changed} changed"), canvas);
    let drawn = positions.iter().map(|one| change(one, positions, canvas));
    let drawn: Vec<Vec<Line>> = drawn.filter(|lines| !lines.is_empty()).collect();
    if drawn.is_empty() {
        lines.push(Line::indented(MARGIN).styled("Nobody moved.", FAINT));
    }
    for (place, change) in drawn.into_iter().enumerate() {
        lines.extend((place > 0).then(Line::blank));
        lines.extend(change);
    }
    lines
}

/// Draws one deliberator; nothing if it did not change.
fn change(position: &Position<'_>, all: &[Position<'_>], canvas: Canvas) -> Vec<Line> {
    let is_wanted = position.is_changed() || canvas.detail == Detail::Full;
    let after = match (&position.first, &position.second) {
        (Part::Held(before), Part::Held(after)) if is_wanted => {
            let how = format!("{} → {}", stance(before), stance(after));
            let mut lines = named(position.seat, &how, PLAIN, canvas);
            lines.extend(reasons(position, after, all, canvas));
            return lines;
        }
        (Part::Held(_), Part::Absent(_)) => "could not be heard again: its first judgement counts",
        (Part::Absent(_), Part::Held(_)) => "was heard in the second round alone",
        (Part::Open | Part::Held(_) | Part::Absent(_), _) => return Vec::new(),
    };
    named(position.seat, after, CAUTION, canvas)
}

fn reasons(
    position: &Position<'_>,
    after: &Judgement,
    all: &[Position<'_>],
    canvas: Canvas,
) -> Vec<Line> {
    let room = canvas.measure();
    let lead = |word: &str| Line::indented(INDENT).styled(word, FAINT);
    let mut lines = Vec::new();
    if !after.delta_from_r1.trim().is_empty() {
        lines.extend(beside(lead(""), &after.delta_from_r1, room));
    }
    let lists = [("concedes ", &after.concessions), ("presses ", &after.escalations)];
    for (word, texts) in lists {
        lines.extend(texts.iter().flat_map(|text| beside(lead(word), text, room)));
    }
    lines.extend(position.cites(all).iter().flat_map(|cited| citation(cited, room)));
    if position.is_uncited(all) {
        let words = "names no concern of anybody else";
        lines.extend(beside(Line::indented(INDENT).styled("UNCITED: ", CAUTION), words, room));
    }
    lines
}

fn citation(cited: &Numbered<'_>, room: usize) -> Vec<Line> {
    let lead = Line::indented(INDENT).styled(&cited.id, ID).plain(": ");
    beside(lead, &wording::shortened(&cited.concern.issue, CITED_CHARS_MAX), room)
}
