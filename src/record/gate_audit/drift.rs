//! Drift detection: whether the verdicts on one artifact type, or of one producer, move in one
//! direction.
//!
//! It compares the last three weeks with verdicts. A share or a mean drifts if it moves in one
//! direction only, by a relevant amount and by more than chance explains. The result says that
//! something changed, not whether the producer or the review changed.

use serde::Serialize;

use super::group::{Group, Week};
use super::significance::{Direction, Ratio, WEEKS, score_moved, share_moved};
use crate::domain::words::words;
use crate::record::share::percent;

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
    pub enum SubjectKind {
        Type = "type",
        Producer = "producer",
    }
}

/// Drift of one artifact type or producer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subject {
    pub of: SubjectKind,
    pub name: String,
    pub verdict: DriftVerdict,
    /// Why there is too little data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The compared weeks, oldest first.
    pub weeks: Vec<WeekPoint>,
    pub movements: Vec<Movement>,
    /// Number of scores with too few values to compare.
    pub scores_untold: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeekPoint {
    pub week: String,
    pub decided: usize,
    pub not_ship_percent: Option<f64>,
}

/// A share or score that drifts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Movement {
    #[serde(flatten)]
    pub measure: Measure,
    pub direction: Direction,
    /// Value of the first week: percentage of a share, mean of a score.
    pub from: f64,
    /// Value of the last week.
    pub to: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "measure", rename_all = "snake_case")]
pub enum Measure {
    NotShip,
    Score { deliberator: String, score: String },
}

/// Detects drift of one subject. Returns `None` if it has no decided verdict.
pub(super) fn subject(
    of: SubjectKind,
    name: &str,
    group: &Group,
    running_week: &str,
) -> Option<Subject> {
    if group.spread().decided() == 0 {
        return None;
    }
    let weeks = weeks_that_count(group, running_week);
    let mut found = Subject {
        of,
        name: name.to_owned(),
        verdict: DriftVerdict::CannotTell,
        reason: None,
        weeks: weeks.iter().map(|(name, week)| point(name, week)).collect(),
        movements: Vec::new(),
        scores_untold: 0,
    };
    let seldom = weeks.iter().find(|(_, week)| !is_enough(week));
    match (weeks.as_slice(), seldom) {
        ([(_, first), (_, second), (_, third)], None) => found.look([first, second, third]),
        ([_, _, _], Some((name, week))) => {
            let decided = week.spread.decided();
            found.reason = Some(format!(
                "{decided} in {name}; it takes {VERDICTS_PER_WEEK_MIN} in each of {WEEKS} weeks"
            ));
        }
        (fewer, _) => {
            let held = fewer.len();
            found.reason = Some(format!("verdicts in {held} of the {WEEKS} weeks it takes"));
        }
    }
    Some(found)
}

/// The last weeks with verdicts, oldest first. The running week counts only once it has enough
/// verdicts.
fn weeks_that_count<'a>(group: &'a Group, running_week: &str) -> Vec<(&'a String, &'a Week)> {
    let counts = |(name, week): &(&String, &Week)| {
        week.spread.decided() > 0 && (name.as_str() != running_week || is_enough(week))
    };
    let mut weeks: Vec<_> = group.weeks.iter().rev().filter(counts).take(WEEKS).collect();
    weeks.reverse();
    weeks
}

fn is_enough(week: &Week) -> bool {
    week.spread.decided() >= VERDICTS_PER_WEEK_MIN
}

fn point(name: &str, week: &Week) -> WeekPoint {
    let Week { spread, .. } = week;
    WeekPoint {
        week: name.to_owned(),
        decided: spread.decided(),
        not_ship_percent: percent(spread.not_ship(), spread.decided()),
    }
}

impl Subject {
    fn look(&mut self, weeks: [&Week; WEEKS]) {
        let shares = weeks.map(|week| Ratio::of(week.spread.not_ship(), week.spread.decided()));
        if let Some(direction) = share_moved(shares) {
            let [from, _, to] = weeks
                .map(|week| percent(week.spread.not_ship(), week.spread.decided()).unwrap_or(0.0));
            self.movements.push(Movement { measure: Measure::NotShip, direction, from, to });
        }
        let [_, _, last] = weeks;
        for (deliberator, score) in last.scores.names() {
            self.look_at_score(deliberator, score, weeks);
        }
        self.verdict = match self.movements.is_empty() {
            true => DriftVerdict::Steady,
            false => DriftVerdict::Drift,
        };
    }

    fn look_at_score(&mut self, deliberator: &str, score: &str, weeks: [&Week; WEEKS]) {
        let points = weeks.map(|week| week.scores.of(deliberator, score));
        if points.iter().any(|points| points.count < VERDICTS_PER_WEEK_MIN as u64) {
            self.scores_untold += 1;
            return;
        }
        if let Some(direction) = score_moved(points) {
            let [from, _, to] = points.map(|points| points.mean().unwrap_or(0.0));
            let measure =
                Measure::Score { deliberator: deliberator.to_owned(), score: score.to_owned() };
            self.movements.push(Movement { measure, direction, from, to });
        }
    }
}
