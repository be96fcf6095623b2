//! Counts of the verdict log: verdicts, overrides, and each deliberator's blocks, absences, changes
//! of mind and scores. Percentages are computed when the counts are serialised.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::json;

use crate::dialogue::health::percent_of;
use crate::protocols::review::log_row::{LogRow, SeatRow};
use crate::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement};

/// Count per verdict. INCOMPLETE is not a decision and is counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictTally {
    pub ship: usize,
    pub revise: usize,
    pub hold: usize,
    pub incomplete: usize,
}

impl VerdictTally {
    pub fn count_logged(self) -> usize {
        self.count_decided() + self.incomplete
    }

    pub fn count_decided(self) -> usize {
        self.ship + self.count_not_ship()
    }

    pub fn count_not_ship(self) -> usize {
        self.revise + self.hold
    }

    pub fn not_ship_percent(self) -> Option<f64> {
        percent_of(self.count_not_ship(), self.count_decided())
    }

    pub(crate) fn add_verdict(&mut self, verdict: ReviewVerdict) {
        match verdict {
            ReviewVerdict::Ship => self.ship += 1,
            ReviewVerdict::Revise => self.revise += 1,
            ReviewVerdict::Hold => self.hold += 1,
            ReviewVerdict::Incomplete | ReviewVerdict::Skipped => self.incomplete += 1,
        }
    }
}

impl Serialize for VerdictTally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { ship, revise, hold, incomplete } = *self;
        let (logged, decided) = (self.count_logged(), self.count_decided());
        json!({
            "logged": logged, "decided": decided,
            "ship": ship, "revise": revise, "hold": hold, "incomplete": incomplete,
            "not_ship_percent": self.not_ship_percent(),
        })
        .serialize(serializer)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverrideCounts {
    /// Decided verdicts.
    pub decided: usize,
    pub overridden: usize,
    /// The override is more lenient than the verdict.
    pub softened: usize,
    /// The override is stricter than the verdict.
    pub hardened: usize,
    /// The override confirms the verdict.
    pub confirmed: usize,
    /// Overrides of INCOMPLETE verdicts; not part of the percentage.
    pub of_incomplete: usize,
}

impl OverrideCounts {
    pub(crate) fn add_verdict(
        &mut self,
        verdict: ReviewVerdict,
        overridden: Option<ReviewDecision>,
    ) {
        let gate = verdict.to_decision();
        self.decided += usize::from(gate.is_some());
        match (overridden, gate) {
            (None, _) => {}
            (Some(_), None) => self.of_incomplete += 1,
            (Some(person), Some(gate)) => {
                self.overridden += 1;
                match person.cmp(&gate) {
                    Ordering::Less => self.softened += 1,
                    Ordering::Equal => self.confirmed += 1,
                    Ordering::Greater => self.hardened += 1,
                }
            }
        }
    }
}

impl Serialize for OverrideCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { decided, overridden, softened, hardened, confirmed, of_incomplete } = *self;
        json!({
            "decided": decided, "overridden": overridden,
            "overridden_percent": percent_of(overridden, decided),
            "softened": softened, "hardened": hardened, "confirmed": confirmed,
            "of_incomplete": of_incomplete,
        })
        .serialize(serializer)
    }
}

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

impl DeliberatorStatistics {
    pub(crate) fn add_review(&mut self, seat: &SeatRounds<'_>, verdict: ReviewVerdict) {
        self.asked += 1;
        let Some(last) = seat.final_judgement() else {
            self.absent += 1;
            return;
        };
        if verdict == ReviewVerdict::Incomplete {
            return;
        }
        self.answered += 1;
        self.blocks += usize::from(last.would_block);
        self.irreducible += usize::from(last.block_level() == BlockLevel::Irreducible);
        self.change.add_rounds(seat);
    }
}

impl Serialize for DeliberatorStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { deliberator, asked, absent, answered, blocks, irreducible, change } = self;
        json!({
            "deliberator": deliberator,
            "asked": asked,
            "absent": absent, "absent_percent": percent_of(*absent, *asked),
            "heard": answered,
            "blocks": blocks, "block_percent": percent_of(*blocks, *answered),
            "irreducible": irreducible, "irreducible_percent": percent_of(*irreducible, *answered),
            "change": change,
        })
        .serialize(serializer)
    }
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

impl MindChange {
    fn add_rounds(&mut self, seat: &SeatRounds<'_>) {
        if seat.is_fallback() {
            self.fallback += 1;
            return;
        }
        let [Some(before), Some(after)] = seat.judgements() else { return };
        self.compared += 1;
        // Compare the block first: it decides the outcome, a verdict without a block does not.
        let stance =
            |judgement: &DeliberatorJudgement| (judgement.block_level(), judgement.verdict);
        match stance(after).cmp(&stance(before)) {
            Ordering::Equal => return,
            Ordering::Less => self.softened += 1,
            Ordering::Greater => self.hardened += 1,
        }
        self.changed += 1;
        let is_uncited = matches!(seat.second, Some(SeatRow::Present { uncited: true, .. }));
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

impl Serialize for MindChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { compared, changed, softened, hardened, uncited, fallback } = *self;
        json!({
            "compared": compared,
            "changed": changed, "changed_percent": percent_of(changed, compared),
            "softened": softened, "hardened": hardened, "uncited": uncited, "fallback": fallback,
        })
        .serialize(serializer)
    }
}

/// The rows of one deliberator in one review.
pub(crate) struct SeatRounds<'a> {
    pub deliberator: &'a str,
    first: Option<&'a SeatRow>,
    second: Option<&'a SeatRow>,
    had_second_round: bool,
}

impl<'a> SeatRounds<'a> {
    /// Lists each deliberator of a review once.
    pub(crate) fn list_seats(row: &'a LogRow) -> Vec<Self> {
        let mut seats: Vec<Self> = Vec::new();
        for deliberator in row.round1.iter().chain(&row.round2).map(SeatRow::deliberator) {
            if seats.iter().any(|seat| seat.deliberator == deliberator) {
                continue;
            }
            let [first, second] = [&row.round1, &row.round2]
                .map(|round| round.iter().find(|seat| seat.deliberator() == deliberator));
            let had_second_round = !row.round2.is_empty();
            seats.push(Self { deliberator, first, second, had_second_round });
        }
        seats
    }

    fn judgements(&self) -> [Option<&'a DeliberatorJudgement>; 2] {
        [self.first, self.second].map(|row| row.and_then(SeatRow::judgement))
    }

    /// The judgement that counts: round 2, or round 1 if round 2 has none.
    fn final_judgement(&self) -> Option<&'a DeliberatorJudgement> {
        let [first, second] = self.judgements();
        second.or(first)
    }

    fn is_fallback(&self) -> bool {
        match self.second {
            Some(SeatRow::Present { fallback, .. }) => *fallback,
            Some(SeatRow::Absent { .. }) | None => {
                self.had_second_round && self.final_judgement().is_some()
            }
        }
    }
}

/// All rows, or the rows of one artifact type or producer, by week. Week names sort by time:
/// `2025-W52`, `2026-W01`.
pub(crate) type WeekTallies = BTreeMap<String, WeekTally>;

#[derive(Debug, Clone, Default)]
pub(crate) struct WeekTally {
    pub spread: VerdictTally,
    /// Scores of decided verdicts, by deliberator and score name.
    pub scores: BTreeMap<(String, String), ScoreSums>,
}

/// Valid scores. Other values in an imported log have another meaning and are ignored.
const SCORE_RANGE: std::ops::RangeInclusive<u8> = 1..=5;

impl WeekTally {
    pub(crate) fn add_row(&mut self, verdict: ReviewVerdict, seats: &[SeatRounds<'_>]) {
        self.spread.add_verdict(verdict);
        if verdict == ReviewVerdict::Incomplete {
            return;
        }
        for seat in seats {
            let scores = seat.final_judgement().into_iter().flat_map(|last| &last.scores);
            for (name, score) in scores.filter(|(_, score)| SCORE_RANGE.contains(score)) {
                let key = (seat.deliberator.to_owned(), name.clone());
                self.scores.entry(key).or_default().add_score(*score);
            }
        }
    }
}

/// Sums of one score, enough to compute mean and variance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScoreSums {
    pub count: u64,
    pub sum: u64,
    pub squares: u64,
}

impl ScoreSums {
    pub(crate) fn add_score(&mut self, score: u8) {
        let score = u64::from(score);
        self.count += 1;
        self.sum += score;
        self.squares += score * score;
    }

    /// Mean rounded to two decimals.
    pub(crate) fn mean_score(self) -> Option<f64> {
        let hundredths = (self.sum * 100 + self.count / 2).checked_div(self.count)?;
        Some(hundredths as f64 / 100.0)
    }
}

pub(crate) fn total_verdicts(weeks: &WeekTallies) -> VerdictTally {
    weeks.values().fold(VerdictTally::default(), |sum, WeekTally { spread: week, .. }| {
        VerdictTally {
            ship: sum.ship + week.ship,
            revise: sum.revise + week.revise,
            hold: sum.hold + week.hold,
            incomplete: sum.incomplete + week.incomplete,
        }
    })
}
