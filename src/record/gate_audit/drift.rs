//! Drift detection: whether the verdicts on one artifact type, or of one producer, move in one
//! direction.
//!
//! It compares the last three weeks with verdicts. A share or a mean drifts if it moves in one
//! direction only, by a relevant amount and by more than chance explains. The result says that
//! something changed, not whether the producer or the review changed.

use serde::Serialize;

use super::group::{RowGroup, WeekTally};
use super::significance::{
    DRIFT_WEEKS, DriftDirection, ExactRatio, score_direction, share_direction,
};
use crate::domain::words::words;
use crate::record::share::percent_of;

/// With fewer verdicts, a single one moves the share of a week by more than `SHARE_POINTS_MIN`.
pub const VERDICTS_PER_WEEK_MIN: usize = 5;

words! {
    pub enum DriftVerdict {
        Drift = "drift",
        Steady = "steady",
        CannotTell = "cannot_tell",
    }
}

words! {
    /// How verdicts are grouped.
    pub enum DriftSubjectKind {
        Type = "type",
        Producer = "producer",
    }
}

/// Drift of one artifact type or producer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftSubject {
    pub of: DriftSubjectKind,
    pub name: String,
    pub verdict: DriftVerdict,
    /// Why there is too little data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The compared weeks, oldest first.
    pub weeks: Vec<DriftWeek>,
    pub movements: Vec<DriftMovement>,
    /// Number of scores with too few values to compare.
    pub scores_untold: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftWeek {
    pub week: String,
    pub decided: usize,
    pub not_ship_percent: Option<f64>,
}

/// A share or score that drifts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftMovement {
    #[serde(flatten)]
    pub measure: DriftMeasure,
    pub direction: DriftDirection,
    /// Value of the first week: percentage of a share, mean of a score.
    pub from: f64,
    /// Value of the last week.
    pub to: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "measure", rename_all = "snake_case")]
pub enum DriftMeasure {
    NotShip,
    Score { deliberator: String, score: String },
}

/// Detects drift of one subject. Returns `None` if it has no decided verdict.
pub(super) fn assess_subject(
    of: DriftSubjectKind,
    name: &str,
    group: &RowGroup,
    running_week: &str,
) -> Option<DriftSubject> {
    if group.total_counts().count_decided() == 0 {
        return None;
    }
    let weeks = relevant_weeks(group, running_week);
    let mut found = DriftSubject {
        of,
        name: name.to_owned(),
        verdict: DriftVerdict::CannotTell,
        reason: None,
        weeks: weeks.iter().map(|(name, week)| to_drift_week(name, week)).collect(),
        movements: Vec::new(),
        scores_untold: 0,
    };
    let seldom = weeks.iter().find(|(_, week)| !has_enough_verdicts(week));
    match (weeks.as_slice(), seldom) {
        ([(_, first), (_, second), (_, third)], None) => {
            found.detect_movements([first, second, third])
        }
        ([_, _, _], Some((name, week))) => {
            let decided = week.spread.count_decided();
            found.reason = Some(format!(
                "{decided} in {name}; it takes {VERDICTS_PER_WEEK_MIN} in each of {DRIFT_WEEKS} weeks"
            ));
        }
        (fewer, _) => {
            let held = fewer.len();
            found.reason = Some(format!("verdicts in {held} of the {DRIFT_WEEKS} weeks it takes"));
        }
    }
    Some(found)
}

/// The last weeks with verdicts, oldest first. The running week counts only once it has enough
/// verdicts.
fn relevant_weeks<'a>(group: &'a RowGroup, running_week: &str) -> Vec<(&'a String, &'a WeekTally)> {
    let counts = |(name, week): &(&String, &WeekTally)| {
        week.spread.count_decided() > 0
            && (name.as_str() != running_week || has_enough_verdicts(week))
    };
    let mut weeks: Vec<_> = group.weeks.iter().rev().filter(counts).take(DRIFT_WEEKS).collect();
    weeks.reverse();
    weeks
}

fn has_enough_verdicts(week: &WeekTally) -> bool {
    week.spread.count_decided() >= VERDICTS_PER_WEEK_MIN
}

fn to_drift_week(name: &str, week: &WeekTally) -> DriftWeek {
    let WeekTally { spread, .. } = week;
    DriftWeek {
        week: name.to_owned(),
        decided: spread.count_decided(),
        not_ship_percent: percent_of(spread.count_not_ship(), spread.count_decided()),
    }
}

impl DriftSubject {
    fn detect_movements(&mut self, weeks: [&WeekTally; DRIFT_WEEKS]) {
        let shares = weeks.map(|week| {
            ExactRatio::from_counts(week.spread.count_not_ship(), week.spread.count_decided())
        });
        if let Some(direction) = share_direction(shares) {
            let [from, _, to] = weeks.map(|week| {
                percent_of(week.spread.count_not_ship(), week.spread.count_decided()).unwrap_or(0.0)
            });
            self.movements.push(DriftMovement {
                measure: DriftMeasure::NotShip,
                direction,
                from,
                to,
            });
        }
        let [_, _, last] = weeks;
        for (deliberator, score) in last.scores.score_names() {
            self.detect_score_movement(deliberator, score, weeks);
        }
        self.verdict = match self.movements.is_empty() {
            true => DriftVerdict::Steady,
            false => DriftVerdict::Drift,
        };
    }

    fn detect_score_movement(
        &mut self,
        deliberator: &str,
        score: &str,
        weeks: [&WeekTally; DRIFT_WEEKS],
    ) {
        let points = weeks.map(|week| week.scores.sums_of(deliberator, score));
        if points.iter().any(|points| points.count < VERDICTS_PER_WEEK_MIN as u64) {
            self.scores_untold += 1;
            return;
        }
        if let Some(direction) = score_direction(points) {
            let [from, _, to] = points.map(|points| points.mean_score().unwrap_or(0.0));
            let measure = DriftMeasure::Score {
                deliberator: deliberator.to_owned(),
                score: score.to_owned(),
            };
            self.movements.push(DriftMovement { measure, direction, from, to });
        }
    }
}
