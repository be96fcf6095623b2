//! Whether what is decided of a type, or of what one producer makes, moves in one direction.
//!
//! Looked at are the last three weeks in which there were verdicts. A share or a mean has drifted
//! when it never went back, moved by so much that it matters, and by more than chance explains.
//! It says that something changed, not what: the producer, or the gate.

use serde::Serialize;

use super::group::{Group, Week};
use super::significance::{Direction, Ratio, WEEKS, score_moved, share_moved};
use crate::domain::words::words;
use crate::record::share::percent;

/// With fewer, a single verdict moves the share of a week by more than [`SHARE_POINTS_MIN`].
///
/// [`SHARE_POINTS_MIN`]: super::significance::SHARE_POINTS_MIN
pub const VERDICTS_PER_WEEK_MIN: usize = 5;

words! {
    pub enum DriftVerdict {
        Drift = "drift",
        Steady = "steady",
        CannotTell = "cannot_tell",
    }
}

words! {
    /// What verdicts are taken together by.
    pub enum SubjectKind {
        Type = "type",
        Producer = "producer",
    }
}

/// A type or a producer, and what can be said of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subject {
    pub of: SubjectKind,
    pub name: String,
    pub verdict: DriftVerdict,
    /// Why nothing can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Those that were looked at, oldest first.
    pub weeks: Vec<WeekPoint>,
    pub movements: Vec<Movement>,
    /// Scores that were given too seldom to tell.
    pub scores_untold: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeekPoint {
    pub week: String,
    pub decided: usize,
    pub not_ship_percent: Option<f64>,
}

/// What moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Movement {
    #[serde(flatten)]
    pub measure: Measure,
    pub direction: Direction,
    /// In the first week: percent of a share, the mean of a score.
    pub from: f64,
    /// In the last.
    pub to: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "measure", rename_all = "snake_case")]
pub enum Measure {
    NotShip,
    Score { deliberator: String, score: String },
}

/// Looks at the weeks of a subject; nothing, where nothing was ever decided: it has no share that
/// could move.
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

/// The last ones in which there were verdicts, oldest first. The week that is still running
/// counts once it has enough.
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
