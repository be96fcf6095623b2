//! Builds review statistics from rows of the verdict log. `StatisticsBuilder` takes one row at a
//! time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::drift::{self, DriftVerdict, Subject, SubjectKind, VERDICTS_PER_WEEK_MIN};
use super::group::{Group, Week};
use super::overrules::Overrules;
use super::remarks::{Remark, remarks};
use super::scores::Points;
use super::seats::{DeliberatorCount, MindChange, parts};
use super::significance::{SCORE_TENTHS_MIN, SHARE_POINTS_MIN, WEEKS};
use super::spread::Spread;
use crate::domain::gate::{Decision, GateVerdict, LogRow};
use crate::domain::time::{Day, Moment};

/// Statistics of a verdict log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateAudit {
    #[serde(flatten)]
    pub spread: Spread,
    /// Imported rows; they are counted.
    pub imported: usize,
    /// Rows of rehearsals; they are not counted.
    pub rehearsals_left_out: usize,
    pub from: Option<Moment>,
    pub to: Option<Moment>,
    pub drift: Drift,
    pub remarks: Vec<Remark>,
    /// Largest first.
    pub by_type: Vec<OfType>,
    /// Largest first; rows without a producer are left out.
    pub by_producer: Vec<OfProducer>,
    /// Newest first.
    pub by_week: Vec<OfWeek>,
    /// Sorted by name.
    pub deliberators: Vec<DeliberatorCount>,
    /// All deliberators together.
    pub change: MindChange,
    pub scores: Vec<OfScore>,
    pub overrides: Overrules,
}

/// Result of the drift detection and its limits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// `Drift` if any subject drifts, else `Steady` if any has enough data, else `CannotTell`.
    pub verdict: DriftVerdict,
    pub weeks: usize,
    pub verdicts_per_week_min: usize,
    pub share_points_min: usize,
    pub score_points_min: f64,
    pub subjects: Vec<Subject>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfType {
    pub artifact_type: String,
    #[serde(flatten)]
    pub spread: Spread,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfProducer {
    pub producer: String,
    #[serde(flatten)]
    pub spread: Spread,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfWeek {
    /// Such as `2026-W06`.
    pub week: String,
    #[serde(flatten)]
    pub spread: Spread,
}

/// Values of one score of one deliberator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfScore {
    pub deliberator: String,
    pub score: String,
    pub count: u64,
    pub mean: Option<f64>,
    /// Newest first.
    pub by_week: Vec<ScoreWeek>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreWeek {
    pub week: String,
    pub count: u64,
    pub mean: Option<f64>,
}

/// Counts rows; it keeps no row.
#[derive(Debug, Default)]
pub struct Auditor {
    imported: usize,
    rehearsals_left_out: usize,
    period: Option<(Moment, Moment)>,
    all: Group,
    by_type: BTreeMap<String, Group>,
    by_producer: BTreeMap<String, Group>,
    seats: BTreeMap<String, DeliberatorCount>,
    overrules: Overrules,
}

impl Auditor {
    /// Adds a row and the newest human override of it.
    pub fn note(&mut self, row: &LogRow, overridden: Option<Decision>) {
        if row.rehearsal {
            self.rehearsals_left_out += 1;
            return;
        }
        let verdict = row.adjudicator.final_verdict;
        let parts = parts(row);
        let week = row.ts.day().week();
        self.imported += usize::from(row.imported);
        let (from, to) = self.period.unwrap_or((row.ts, row.ts));
        self.period = Some((from.min(row.ts), to.max(row.ts)));
        self.all.note(&week, verdict, &parts);
        let alike = self.by_type.entry(row.artifact_type.clone()).or_default();
        alike.note(&week, verdict, &parts);
        if let Some(producer) = &row.producer {
            let alike = self.by_producer.entry(producer.clone()).or_default();
            alike.note(&week, verdict, &parts);
        }
        for part in parts {
            let named = self.seats.entry(part.deliberator.to_owned());
            let seat = named.or_insert_with_key(|name| DeliberatorCount::named(name));
            seat.note_asked(part);
            if verdict != GateVerdict::Incomplete {
                seat.note_decided(part);
            }
        }
        self.overrules.note(verdict, overridden);
    }

    /// Returns the statistics. `today` decides which week is still running.
    pub fn audit(self, today: Day) -> GateAudit {
        let spread = self.all.spread();
        let drift = self.drift(&today.week());
        let seats: Vec<DeliberatorCount> = self.seats.into_values().collect();
        let mut change = MindChange::default();
        seats.iter().for_each(|seat| change.add(seat.change));
        GateAudit {
            spread,
            imported: self.imported,
            rehearsals_left_out: self.rehearsals_left_out,
            from: self.period.map(|(from, _)| from),
            to: self.period.map(|(_, to)| to),
            remarks: remarks(spread, &drift.subjects, &self.overrules, &seats),
            drift,
            by_type: spreads(self.by_type, |artifact_type, spread| OfType {
                artifact_type,
                spread,
            }),
            by_producer: spreads(self.by_producer, |producer, spread| OfProducer {
                producer,
                spread,
            }),
            by_week: by_week(&self.all),
            scores: scores(&self.all),
            deliberators: seats,
            change,
            overrides: self.overrules,
        }
    }

    fn drift(&self, running_week: &str) -> Drift {
        let kinds =
            [(SubjectKind::Type, &self.by_type), (SubjectKind::Producer, &self.by_producer)];
        let subjects: Vec<Subject> = kinds
            .into_iter()
            .flat_map(|(of, groups)| groups.iter().map(move |(name, group)| (of, name, group)))
            .filter_map(|(of, name, group)| drift::subject(of, name, group, running_week))
            .collect();
        let any = |verdict| subjects.iter().any(|subject| subject.verdict == verdict);
        let verdict = match (any(DriftVerdict::Drift), any(DriftVerdict::Steady)) {
            (true, _) => DriftVerdict::Drift,
            (false, true) => DriftVerdict::Steady,
            (false, false) => DriftVerdict::CannotTell,
        };
        Drift {
            verdict,
            weeks: WEEKS,
            verdicts_per_week_min: VERDICTS_PER_WEEK_MIN,
            share_points_min: SHARE_POINTS_MIN,
            score_points_min: SCORE_TENTHS_MIN as f64 / 10.0,
            subjects,
        }
    }
}

/// Sorts groups by size. Groups of equal size stay sorted by name.
fn spreads<T>(groups: BTreeMap<String, Group>, told: impl Fn(String, Spread) -> T) -> Vec<T> {
    let mut spreads: Vec<(String, Spread)> =
        groups.into_iter().map(|(name, group)| (name, group.spread())).collect();
    spreads.sort_by_key(|(_, spread)| Reverse(spread.logged()));
    spreads.into_iter().map(|(name, spread)| told(name, spread)).collect()
}

fn by_week(all: &Group) -> Vec<OfWeek> {
    let weeks = all.weeks.iter().rev();
    weeks.map(|(name, week)| OfWeek { week: name.clone(), spread: week.spread }).collect()
}

fn scores(all: &Group) -> Vec<OfScore> {
    let names: BTreeSet<(&str, &str)> =
        all.weeks.values().flat_map(|week| week.scores.names()).collect();
    names.into_iter().map(|(deliberator, score)| of_score(all, deliberator, score)).collect()
}

fn of_score(all: &Group, deliberator: &str, score: &str) -> OfScore {
    let points = |week: &Week| week.scores.of(deliberator, score);
    let mut total = Points::default();
    all.weeks.values().for_each(|week| total.add(points(week)));
    let by_week = all.weeks.iter().rev().map(|(name, week)| (name, points(week)));
    OfScore {
        deliberator: deliberator.to_owned(),
        score: score.to_owned(),
        count: total.count,
        mean: total.mean(),
        by_week: by_week
            .filter(|(_, points)| points.count > 0)
            .map(|(week, points)| ScoreWeek {
                week: week.clone(),
                count: points.count,
                mean: points.mean(),
            })
            .collect(),
    }
}
