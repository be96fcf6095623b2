//! Builds review statistics from rows of the verdict log. `StatisticsBuilder` takes one row at a
//! time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::model::time::{Day, Moment};
use crate::protocols::review::log_row::LogRow;
use crate::protocols::review::policy::{FinalVerdict, ReviewDecision};
use crate::protocols::review::statistics::counts::{
    OverrideCounts, RowGroup, ScoreSums, VerdictTally, WeekTally,
};
use crate::protocols::review::statistics::deliberators::{
    DeliberatorStatistics, MindChange, list_deliberators,
};
use crate::protocols::review::statistics::drift::{
    DRIFT_WEEKS, DriftSubject, DriftSubjectKind, DriftVerdict, SCORE_TENTHS_MIN, SHARE_POINTS_MIN,
    VERDICTS_PER_WEEK_MIN, assess_subject,
};
use crate::protocols::review::statistics::remarks::{StatisticsRemark, build_remarks};

/// Statistics of a verdict log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewStatistics {
    #[serde(flatten)]
    pub spread: VerdictTally,
    /// Imported rows; they are counted.
    pub imported: usize,
    /// Rows of rehearsals; they are not counted.
    pub rehearsals_left_out: usize,
    pub from: Option<Moment>,
    pub to: Option<Moment>,
    pub drift: DriftReport,
    pub remarks: Vec<StatisticsRemark>,
    /// Largest first.
    pub by_type: Vec<TypeVerdicts>,
    /// Largest first; rows without a producer are left out.
    pub by_producer: Vec<ProducerVerdicts>,
    /// Newest first.
    pub by_week: Vec<WeekVerdicts>,
    /// Sorted by name.
    pub deliberators: Vec<DeliberatorStatistics>,
    /// All deliberators together.
    pub change: MindChange,
    pub scores: Vec<ScoreSeries>,
    pub overrides: OverrideCounts,
}

/// Result of the drift detection and its limits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftReport {
    /// `Drift` if any subject drifts, else `Steady` if any has enough data, else `CannotTell`.
    pub verdict: DriftVerdict,
    pub weeks: usize,
    pub verdicts_per_week_min: usize,
    pub share_points_min: usize,
    pub score_points_min: f64,
    pub subjects: Vec<DriftSubject>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeVerdicts {
    pub artifact_type: String,
    #[serde(flatten)]
    pub spread: VerdictTally,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProducerVerdicts {
    pub producer: String,
    #[serde(flatten)]
    pub spread: VerdictTally,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WeekVerdicts {
    /// Such as `2026-W06`.
    pub week: String,
    #[serde(flatten)]
    pub spread: VerdictTally,
}

/// Values of one score of one deliberator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreSeries {
    pub deliberator: String,
    pub score: String,
    pub count: u64,
    pub mean: Option<f64>,
    /// Newest first.
    pub by_week: Vec<WeekScore>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeekScore {
    pub week: String,
    pub count: u64,
    pub mean: Option<f64>,
}

/// Counts rows; it keeps no row.
#[derive(Debug, Default)]
pub struct StatisticsBuilder {
    imported: usize,
    rehearsals_left_out: usize,
    period: Option<(Moment, Moment)>,
    all: RowGroup,
    by_type: BTreeMap<String, RowGroup>,
    by_producer: BTreeMap<String, RowGroup>,
    seats: BTreeMap<String, DeliberatorStatistics>,
    overrides: OverrideCounts,
}

impl StatisticsBuilder {
    /// Adds a row and the newest human override of it.
    pub fn add_row(&mut self, row: &LogRow, overridden: Option<ReviewDecision>) {
        if row.rehearsal {
            self.rehearsals_left_out += 1;
            return;
        }
        let verdict = row.adjudicator.final_verdict;
        let parts = list_deliberators(row);
        let week = row.ts.utc_day().iso_week();
        self.imported += usize::from(row.imported);
        let (from, to) = self.period.unwrap_or((row.ts, row.ts));
        self.period = Some((from.min(row.ts), to.max(row.ts)));
        self.all.add_row(&week, verdict, &parts);
        let alike = self.by_type.entry(row.artifact_type.clone()).or_default();
        alike.add_row(&week, verdict, &parts);
        if let Some(producer) = &row.producer {
            let alike = self.by_producer.entry(producer.clone()).or_default();
            alike.add_row(&week, verdict, &parts);
        }
        for part in parts {
            let named = self.seats.entry(part.deliberator.to_owned());
            let seat =
                named.or_insert_with_key(|name| DeliberatorStatistics::for_deliberator(name));
            seat.add_review(part);
            if verdict != FinalVerdict::Incomplete {
                seat.add_decided_review(part);
            }
        }
        self.overrides.add_verdict(verdict, overridden);
    }

    /// Returns the statistics. `today` decides which week is still running.
    pub fn into_statistics(self, today: Day) -> ReviewStatistics {
        let spread = self.all.total_counts();
        let drift = self.build_drift(&today.iso_week());
        let seats: Vec<DeliberatorStatistics> = self.seats.into_values().collect();
        let mut change = MindChange::default();
        seats.iter().for_each(|seat| change.add_counts(seat.change));
        ReviewStatistics {
            spread,
            imported: self.imported,
            rehearsals_left_out: self.rehearsals_left_out,
            from: self.period.map(|(from, _)| from),
            to: self.period.map(|(_, to)| to),
            remarks: build_remarks(spread, &drift.subjects, &self.overrides, &seats),
            drift,
            by_type: sort_by_size(self.by_type, |artifact_type, spread| TypeVerdicts {
                artifact_type,
                spread,
            }),
            by_producer: sort_by_size(self.by_producer, |producer, spread| ProducerVerdicts {
                producer,
                spread,
            }),
            by_week: list_weeks(&self.all),
            scores: list_scores(&self.all),
            deliberators: seats,
            change,
            overrides: self.overrides,
        }
    }

    fn build_drift(&self, running_week: &str) -> DriftReport {
        let kinds = [
            (DriftSubjectKind::Type, &self.by_type),
            (DriftSubjectKind::Producer, &self.by_producer),
        ];
        let subjects: Vec<DriftSubject> = kinds
            .into_iter()
            .flat_map(|(of, groups)| groups.iter().map(move |(name, group)| (of, name, group)))
            .filter_map(|(of, name, group)| assess_subject(of, name, group, running_week))
            .collect();
        let any = |verdict| subjects.iter().any(|subject| subject.verdict == verdict);
        let verdict = match (any(DriftVerdict::Drift), any(DriftVerdict::Steady)) {
            (true, _) => DriftVerdict::Drift,
            (false, true) => DriftVerdict::Steady,
            (false, false) => DriftVerdict::CannotTell,
        };
        DriftReport {
            verdict,
            weeks: DRIFT_WEEKS,
            verdicts_per_week_min: VERDICTS_PER_WEEK_MIN,
            share_points_min: SHARE_POINTS_MIN,
            score_points_min: SCORE_TENTHS_MIN as f64 / 10.0,
            subjects,
        }
    }
}

/// Sorts groups by size. Groups of equal size stay sorted by name.
fn sort_by_size<T>(
    groups: BTreeMap<String, RowGroup>,
    told: impl Fn(String, VerdictTally) -> T,
) -> Vec<T> {
    let mut spreads: Vec<(String, VerdictTally)> =
        groups.into_iter().map(|(name, group)| (name, group.total_counts())).collect();
    spreads.sort_by_key(|(_, spread)| Reverse(spread.count_logged()));
    spreads.into_iter().map(|(name, spread)| told(name, spread)).collect()
}

fn list_weeks(all: &RowGroup) -> Vec<WeekVerdicts> {
    let weeks = all.weeks.iter().rev();
    weeks.map(|(name, week)| WeekVerdicts { week: name.clone(), spread: week.spread }).collect()
}

fn list_scores(all: &RowGroup) -> Vec<ScoreSeries> {
    let names: BTreeSet<(&str, &str)> =
        all.weeks.values().flat_map(|week| week.scores.score_names()).collect();
    names
        .into_iter()
        .map(|(deliberator, score)| build_score_series(all, deliberator, score))
        .collect()
}

fn build_score_series(all: &RowGroup, deliberator: &str, score: &str) -> ScoreSeries {
    let points = |week: &WeekTally| week.scores.sums_of(deliberator, score);
    let mut total = ScoreSums::default();
    all.weeks.values().for_each(|week| total.add_sums(points(week)));
    let by_week = all.weeks.iter().rev().map(|(name, week)| (name, points(week)));
    ScoreSeries {
        deliberator: deliberator.to_owned(),
        score: score.to_owned(),
        count: total.count,
        mean: total.mean_score(),
        by_week: by_week
            .filter(|(_, points)| points.count > 0)
            .map(|(week, points)| WeekScore {
                week: week.clone(),
                count: points.count,
                mean: points.mean_score(),
            })
            .collect(),
    }
}
