//! Sums of review scores by deliberator and score name.

use std::collections::BTreeMap;

use crate::domain::gate::DeliberatorJudgement;

/// Valid scores. Other values in an imported log have another meaning and are ignored.
const SCORE_RANGE: std::ops::RangeInclusive<u8> = 1..=5;

/// The scores of a week, by deliberator and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DeliberatorScores(BTreeMap<String, BTreeMap<String, ScoreSums>>);

/// Sums of one score, enough to compute mean and variance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ScoreSums {
    pub count: u64,
    pub sum: u64,
    pub squares: u64,
}

impl ScoreSums {
    pub(super) fn add_score(&mut self, score: u8) {
        let score = u64::from(score);
        self.count += 1;
        self.sum += score;
        self.squares += score * score;
    }

    pub(super) fn add_sums(&mut self, other: Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Mean rounded to two decimals.
    pub(super) fn mean_score(self) -> Option<f64> {
        let hundredths = (self.sum * 100 + self.count / 2).checked_div(self.count)?;
        Some(hundredths as f64 / 100.0)
    }
}

impl DeliberatorScores {
    pub(super) fn add_judgement(&mut self, deliberator: &str, judgement: &DeliberatorJudgement) {
        let names = self.0.entry(deliberator.to_owned()).or_default();
        for (name, score) in
            judgement.scores.iter().filter(|(_, score)| SCORE_RANGE.contains(score))
        {
            names.entry(name.clone()).or_default().add_score(*score);
        }
    }

    pub(super) fn sums_of(&self, deliberator: &str, name: &str) -> ScoreSums {
        let points = self.0.get(deliberator).and_then(|names| names.get(name));
        points.copied().unwrap_or_default()
    }

    /// All pairs of deliberator and score name.
    pub(super) fn score_names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(deliberator, names)| {
            names.keys().map(move |name| (deliberator.as_str(), name.as_str()))
        })
    }
}
