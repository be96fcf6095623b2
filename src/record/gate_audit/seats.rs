//! What a deliberator does: blocks, is absent, changes its mind.

use std::cmp::Ordering;

use serde::Serialize;

use super::share::percent;
use crate::domain::gate::{Block, Judgement, LogRow, SeatRow};

/// One deliberator over all rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeliberatorCount {
    pub deliberator: String,
    /// Reviews in which it had a place, decided or not.
    pub asked: usize,
    pub absent: usize,
    pub absent_percent: Option<f64>,
    /// Decided reviews in which it was heard: the blocks are a share of these.
    pub heard: usize,
    pub blocks: usize,
    pub block_percent: Option<f64>,
    pub irreducible: usize,
    pub irreducible_percent: Option<f64>,
    pub change: MindChange,
}

/// What the second round made of the first, in decided reviews.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct MindChange {
    /// Both rounds could be read.
    pub compared: usize,
    /// The verdict or the block was another.
    pub changed: usize,
    pub changed_percent: Option<f64>,
    pub softened: usize,
    pub hardened: usize,
    /// Of those that changed: without naming a concern of anybody.
    pub uncited: usize,
    /// The second round could not be read, and the first stood in.
    pub fallback: usize,
}

/// What a deliberator held in a review.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReviewPart<'a> {
    pub deliberator: &'a str,
    first: Option<&'a SeatRow>,
    second: Option<&'a SeatRow>,
    had_second_round: bool,
}

/// The deliberators of a review, each once.
pub(super) fn parts(row: &LogRow) -> Vec<ReviewPart<'_>> {
    let mut parts: Vec<ReviewPart<'_>> = Vec::new();
    for deliberator in row.round1.iter().chain(&row.round2).map(SeatRow::deliberator) {
        if parts.iter().any(|part| part.deliberator == deliberator) {
            continue;
        }
        let [first, second] = [&row.round1, &row.round2]
            .map(|round| round.iter().find(|seat| seat.deliberator() == deliberator));
        let had_second_round = !row.round2.is_empty();
        parts.push(ReviewPart { deliberator, first, second, had_second_round });
    }
    parts
}

impl<'a> ReviewPart<'a> {
    /// What counts: the second judgement, and the first where there is no other.
    pub(super) fn held(self) -> Option<&'a Judgement> {
        self.second.and_then(SeatRow::judgement).or(self.first.and_then(SeatRow::judgement))
    }

    /// Both judgements, where the second is one of its own.
    fn compared(self) -> Option<(&'a Judgement, &'a Judgement)> {
        let both =
            self.first.and_then(SeatRow::judgement).zip(self.second.and_then(SeatRow::judgement));
        both.filter(|_| !self.is_fallback())
    }

    fn is_fallback(self) -> bool {
        match self.second {
            Some(SeatRow::Present { fallback, .. }) => *fallback,
            Some(SeatRow::Absent { .. }) | None => self.had_second_round && self.held().is_some(),
        }
    }

    fn is_uncited(self) -> bool {
        match self.second {
            Some(SeatRow::Present { uncited, .. }) => *uncited,
            Some(SeatRow::Absent { .. }) | None => false,
        }
    }
}

impl DeliberatorCount {
    pub(super) fn named(deliberator: &str) -> Self {
        Self { deliberator: deliberator.to_owned(), ..Self::default() }
    }

    pub(super) fn note_asked(&mut self, part: ReviewPart<'_>) {
        self.asked += 1;
        self.absent += usize::from(part.held().is_none());
    }

    pub(super) fn note_decided(&mut self, part: ReviewPart<'_>) {
        let Some(held) = part.held() else { return };
        self.heard += 1;
        self.blocks += usize::from(held.would_block);
        self.irreducible += usize::from(held.block() == Block::Irreducible);
        self.change.fallback += usize::from(part.is_fallback());
        if let Some((before, after)) = part.compared() {
            self.change.note(before, after, part.is_uncited());
        }
    }

    /// With the shares that follow from what was counted.
    #[must_use]
    pub(super) fn told(mut self) -> Self {
        self.absent_percent = percent(self.absent, self.asked);
        self.block_percent = percent(self.blocks, self.heard);
        self.irreducible_percent = percent(self.irreducible, self.heard);
        self.change.changed_percent = percent(self.change.changed, self.change.compared);
        self
    }
}

impl MindChange {
    fn note(&mut self, before: &Judgement, after: &Judgement, is_uncited: bool) {
        self.compared += 1;
        // A block weighs, a leaning does not: where they part, the block says which way it went.
        let stood = |judgement: &Judgement| (judgement.would_block, judgement.verdict);
        match stood(after).cmp(&stood(before)) {
            Ordering::Equal => return,
            Ordering::Less => self.softened += 1,
            Ordering::Greater => self.hardened += 1,
        }
        self.changed += 1;
        self.uncited += usize::from(is_uncited);
    }

    pub(super) fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.changed += other.changed;
        self.softened += other.softened;
        self.hardened += other.hardened;
        self.uncited += other.uncited;
        self.fallback += other.fallback;
        self.changed_percent = percent(self.changed, self.compared);
    }
}
