//! Verdict counts and scores per week for a group of rows.

use std::collections::BTreeMap;

use super::scores::Scores;
use super::seats::ReviewPart;
use super::spread::Spread;
use crate::domain::gate::GateVerdict;

/// All rows, or the rows of one artifact type or producer.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    /// By name. Week names sort by time: `2025-W52`, `2026-W01`.
    pub weeks: BTreeMap<String, Week>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Week {
    pub spread: Spread,
    /// Scores of decided verdicts only.
    pub scores: Scores,
}

impl Group {
    pub(super) fn note(&mut self, week: &str, verdict: GateVerdict, parts: &[ReviewPart<'_>]) {
        let week = self.weeks.entry(week.to_owned()).or_default();
        week.spread.note(verdict);
        if verdict == GateVerdict::Incomplete {
            return;
        }
        for part in parts {
            if let Some(held) = part.held() {
                week.scores.note(part.deliberator, held);
            }
        }
    }

    pub(super) fn spread(&self) -> Spread {
        let mut all = Spread::default();
        self.weeks.values().for_each(|week| all.add(week.spread));
        all
    }
}
