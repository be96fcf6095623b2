//! Statistics per deliberator: blocks, absences and changes of mind.

use std::cmp::Ordering;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::dialogue::health::percent_of;
use crate::protocols::review::log_row::{LogRow, SeatRow};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement};

/// Counts of one deliberator over all rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliberatorStatistics {
    pub deliberator: String,
    /// Reviews with this deliberator, decided or not.
    pub asked: usize,
    pub absent: usize,
    /// Decided reviews with an answer of this deliberator. Block percentages refer to this count.
    pub answered: usize,
    pub blocks: usize,
    pub irreducible: usize,
    pub change: MindChange,
}

/// Changes between round 1 and round 2 in decided reviews.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MindChange {
    /// Both rounds were readable.
    pub compared: usize,
    /// The verdict or the block changed.
    pub changed: usize,
    pub softened: usize,
    pub hardened: usize,
    /// Changes that cite no concern.
    pub uncited: usize,
    /// Round 2 was unreadable, so round 1 counted.
    pub fallback: usize,
}

/// The part of one deliberator in one review.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeliberatorReview<'a> {
    pub deliberator: &'a str,
    first: Option<&'a SeatRow>,
    second: Option<&'a SeatRow>,
    had_second_round: bool,
}

/// Lists each deliberator of a review once.
pub(crate) fn list_deliberators(row: &LogRow) -> Vec<DeliberatorReview<'_>> {
    let mut parts: Vec<DeliberatorReview<'_>> = Vec::new();
    for deliberator in row.round1.iter().chain(&row.round2).map(SeatRow::deliberator) {
        if parts.iter().any(|part| part.deliberator == deliberator) {
            continue;
        }
        let [first, second] = [&row.round1, &row.round2]
            .map(|round| round.iter().find(|seat| seat.deliberator() == deliberator));
        let had_second_round = !row.round2.is_empty();
        parts.push(DeliberatorReview { deliberator, first, second, had_second_round });
    }
    parts
}

impl<'a> DeliberatorReview<'a> {
    /// The judgement that counts: round 2, or round 1 if round 2 has none.
    pub(crate) fn final_judgement(self) -> Option<&'a DeliberatorJudgement> {
        self.second.and_then(SeatRow::judgement).or(self.first.and_then(SeatRow::judgement))
    }

    /// Both judgements, unless round 2 is a fallback.
    fn both_judgements(self) -> Option<(&'a DeliberatorJudgement, &'a DeliberatorJudgement)> {
        let both =
            self.first.and_then(SeatRow::judgement).zip(self.second.and_then(SeatRow::judgement));
        both.filter(|_| !self.is_fallback())
    }

    fn is_fallback(self) -> bool {
        match self.second {
            Some(SeatRow::Present { fallback, .. }) => *fallback,
            Some(SeatRow::Absent { .. }) | None => {
                self.had_second_round && self.final_judgement().is_some()
            }
        }
    }

    fn is_uncited(self) -> bool {
        match self.second {
            Some(SeatRow::Present { uncited, .. }) => *uncited,
            Some(SeatRow::Absent { .. }) | None => false,
        }
    }
}

impl DeliberatorStatistics {
    pub(crate) fn for_deliberator(deliberator: &str) -> Self {
        Self { deliberator: deliberator.to_owned(), ..Self::default() }
    }

    pub(crate) fn add_review(&mut self, part: DeliberatorReview<'_>) {
        self.asked += 1;
        self.absent += usize::from(part.final_judgement().is_none());
    }

    pub(crate) fn add_decided_review(&mut self, part: DeliberatorReview<'_>) {
        let Some(held) = part.final_judgement() else { return };
        self.answered += 1;
        self.blocks += usize::from(held.would_block);
        self.irreducible += usize::from(held.block_level() == BlockLevel::Irreducible);
        self.change.fallback += usize::from(part.is_fallback());
        if let Some((before, after)) = part.both_judgements() {
            self.change.add_change(before, after, part.is_uncited());
        }
    }
}

impl MindChange {
    fn add_change(
        &mut self,
        before: &DeliberatorJudgement,
        after: &DeliberatorJudgement,
        is_uncited: bool,
    ) {
        self.compared += 1;
        // Compare the block first: it decides the outcome, a verdict without a block does not.
        let stood = |judgement: &DeliberatorJudgement| (judgement.block_level(), judgement.verdict);
        match stood(after).cmp(&stood(before)) {
            Ordering::Equal => return,
            Ordering::Less => self.softened += 1,
            Ordering::Greater => self.hardened += 1,
        }
        self.changed += 1;
        self.uncited += usize::from(is_uncited);
    }

    pub(crate) fn add_counts(&mut self, other: Self) {
        self.compared += other.compared;
        self.changed += other.changed;
        self.softened += other.softened;
        self.hardened += other.hardened;
        self.uncited += other.uncited;
        self.fallback += other.fallback;
    }
}

// The percentages are computed when the counts are serialised.
impl Serialize for DeliberatorStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut count = serializer.serialize_struct("DeliberatorCount", 10)?;
        count.serialize_field("deliberator", &self.deliberator)?;
        count.serialize_field("asked", &self.asked)?;
        count.serialize_field("absent", &self.absent)?;
        count.serialize_field("absent_percent", &percent_of(self.absent, self.asked))?;
        count.serialize_field("heard", &self.answered)?;
        count.serialize_field("blocks", &self.blocks)?;
        count.serialize_field("block_percent", &percent_of(self.blocks, self.answered))?;
        count.serialize_field("irreducible", &self.irreducible)?;
        count
            .serialize_field("irreducible_percent", &percent_of(self.irreducible, self.answered))?;
        count.serialize_field("change", &self.change)?;
        count.end()
    }
}

impl Serialize for MindChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut change = serializer.serialize_struct("MindChange", 7)?;
        change.serialize_field("compared", &self.compared)?;
        change.serialize_field("changed", &self.changed)?;
        change.serialize_field("changed_percent", &percent_of(self.changed, self.compared))?;
        change.serialize_field("softened", &self.softened)?;
        change.serialize_field("hardened", &self.hardened)?;
        change.serialize_field("uncited", &self.uncited)?;
        change.serialize_field("fallback", &self.fallback)?;
        change.end()
    }
}
