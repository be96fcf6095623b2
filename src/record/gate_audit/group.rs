//! Verdict counts and scores per week for a group of rows.

use std::collections::BTreeMap;

use super::scores::DeliberatorScores;
use super::seats::DeliberatorReview;
use super::spread::VerdictTally;
use crate::domain::gate::FinalVerdict;

/// All rows, or the rows of one artifact type or producer.
#[derive(Debug, Clone, Default)]
pub(super) struct RowGroup {
    /// By name. Week names sort by time: `2025-W52`, `2026-W01`.
    pub weeks: BTreeMap<String, WeekTally>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct WeekTally {
    pub spread: VerdictTally,
    /// Scores of decided verdicts only.
    pub scores: DeliberatorScores,
}

impl RowGroup {
    pub(super) fn add_row(
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

    pub(super) fn total_counts(&self) -> VerdictTally {
        let mut all = VerdictTally::default();
        self.weeks.values().for_each(|week| all.add_counts(week.spread));
        all
    }
}
