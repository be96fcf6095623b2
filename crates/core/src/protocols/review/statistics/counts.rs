//! Verdict counts and scores per week for a group of rows.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::dialogue::health::percent_of;
use crate::protocols::review::policy::{FinalVerdict, ReviewDecision};
use crate::protocols::review::statistics::deliberators::DeliberatorReview;
use crate::protocols::review::types::DeliberatorJudgement;

/// All rows, or the rows of one artifact type or producer.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowGroup {
    /// By name. Week names sort by time: `2025-W52`, `2026-W01`.
    pub weeks: BTreeMap<String, WeekTally>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct WeekTally {
    pub spread: VerdictTally,
    /// Scores of decided verdicts only.
    pub scores: DeliberatorScores,
}

impl RowGroup {
    pub(crate) fn add_row(
        &mut self,
        week: &str,
        verdict: FinalVerdict,
        parts: &[DeliberatorReview<'_>],
    ) {
        let week = self.weeks.entry(week.to_owned()).or_default();
        week.spread.add_verdict(verdict);
        if verdict == FinalVerdict::Incomplete {
            return;
        }
        for part in parts {
            if let Some(held) = part.final_judgement() {
                week.scores.add_judgement(part.deliberator, held);
            }
        }
    }

    pub(crate) fn total_counts(&self) -> VerdictTally {
        let mut all = VerdictTally::default();
        self.weeks.values().for_each(|week| all.add_counts(week.spread));
        all
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
        verdict: FinalVerdict,
        overridden: Option<ReviewDecision>,
    ) {
        let gate = verdict.to_decision();
        self.decided += usize::from(gate.is_some());
        let Some(person) = overridden else { return };
        let Some(gate) = gate else {
            self.of_incomplete += 1;
            return;
        };
        self.overridden += 1;
        match person.cmp(&gate) {
            Ordering::Less => self.softened += 1,
            Ordering::Equal => self.confirmed += 1,
            Ordering::Greater => self.hardened += 1,
        }
    }
}

impl Serialize for OverrideCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut overrules = serializer.serialize_struct("Overrules", 7)?;
        overrules.serialize_field("decided", &self.decided)?;
        overrules.serialize_field("overridden", &self.overridden)?;
        overrules
            .serialize_field("overridden_percent", &percent_of(self.overridden, self.decided))?;
        overrules.serialize_field("softened", &self.softened)?;
        overrules.serialize_field("hardened", &self.hardened)?;
        overrules.serialize_field("confirmed", &self.confirmed)?;
        overrules.serialize_field("of_incomplete", &self.of_incomplete)?;
        overrules.end()
    }
}

/// Valid scores. Other values in an imported log have another meaning and are ignored.
const SCORE_RANGE: std::ops::RangeInclusive<u8> = 1..=5;

/// The scores of a week, by deliberator and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeliberatorScores(BTreeMap<String, BTreeMap<String, ScoreSums>>);

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

    pub(crate) fn add_sums(&mut self, other: Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Mean rounded to two decimals.
    pub(crate) fn mean_score(self) -> Option<f64> {
        let hundredths = (self.sum * 100 + self.count / 2).checked_div(self.count)?;
        Some(hundredths as f64 / 100.0)
    }
}

impl DeliberatorScores {
    pub(crate) fn add_judgement(&mut self, deliberator: &str, judgement: &DeliberatorJudgement) {
        let names = self.0.entry(deliberator.to_owned()).or_default();
        for (name, score) in
            judgement.scores.iter().filter(|(_, score)| SCORE_RANGE.contains(score))
        {
            names.entry(name.clone()).or_default().add_score(*score);
        }
    }

    pub(crate) fn sums_of(&self, deliberator: &str, name: &str) -> ScoreSums {
        let points = self.0.get(deliberator).and_then(|names| names.get(name));
        points.copied().unwrap_or_default()
    }

    /// All pairs of deliberator and score name.
    pub(crate) fn score_names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(deliberator, names)| {
            names.keys().map(move |name| (deliberator.as_str(), name.as_str()))
        })
    }
}

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

    pub(crate) fn add_verdict(&mut self, verdict: FinalVerdict) {
        match verdict {
            FinalVerdict::Ship => self.ship += 1,
            FinalVerdict::Revise => self.revise += 1,
            FinalVerdict::Hold => self.hold += 1,
            FinalVerdict::Incomplete => self.incomplete += 1,
        }
    }

    pub(crate) fn add_counts(&mut self, other: Self) {
        self.ship += other.ship;
        self.revise += other.revise;
        self.hold += other.hold;
        self.incomplete += other.incomplete;
    }
}

impl Serialize for VerdictTally {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut spread = serializer.serialize_struct("Spread", 7)?;
        spread.serialize_field("logged", &self.count_logged())?;
        spread.serialize_field("decided", &self.count_decided())?;
        spread.serialize_field("ship", &self.ship)?;
        spread.serialize_field("revise", &self.revise)?;
        spread.serialize_field("hold", &self.hold)?;
        spread.serialize_field("incomplete", &self.incomplete)?;
        spread.serialize_field(
            "not_ship_percent",
            &percent_of(self.count_not_ship(), self.count_decided()),
        )?;
        spread.end()
    }
}
