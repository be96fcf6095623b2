//! Whether what is decided of a type, or of what one producer makes, moves in one direction.
//!
//! Looked at are the last three weeks in which there were verdicts. A share or a mean has drifted
//! when it never went back, moved by so much that it matters, and by more than chance explains.
//! It says that something changed, not what: the producer, or the gate.

use std::cmp::Ordering;

use serde::Serialize;

use super::group::{Group, Week};
use super::scores::Points;
use super::share::{mean, percent};
use crate::domain::words::words;

/// Two points have a direction by nature; the third can contradict it.
pub const WEEKS: usize = 3;

/// With fewer, a single verdict moves the share of a week by more than [`SHARE_POINTS_MIN`].
pub const VERDICTS_PER_WEEK_MIN: usize = 5;

/// From the first week to the last: one verdict in five that comes out differently.
pub const SHARE_POINTS_MIN: usize = 20;

/// From the first week to the last, in tenths: half a step of the scale from 1 to 5.
pub(super) const SCORE_TENTHS_MIN: usize = 5;

/// By so many half standard errors the first week and the last must lie apart. Where nothing
/// changes, chance alone moves a share that far about once in a hundred times: an alarm that
/// sounds more often is not heard.
const SHARE_HALF_ERRORS_MIN: i128 = 5;

/// A share comes with a dozen scores, each with its own chance to move: they must lie further
/// apart, so that all of them together cry wolf no more often.
const SCORE_HALF_ERRORS_MIN: i128 = 8;

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

words! {
    pub enum Direction {
        Rising = "rising",
        Falling = "falling",
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

/// Looks at the weeks of a subject. The week that is still running counts once it has enough.
pub(super) fn subject(
    of: SubjectKind,
    name: &str,
    group: &Group,
    running_week: &str,
) -> Option<Subject> {
    let is_enough = |week: &Week| week.spread.decided() >= VERDICTS_PER_WEEK_MIN;
    let counts = |(name, week): &(&String, &Week)| {
        week.spread.decided() > 0 && (name.as_str() != running_week || is_enough(week))
    };
    let mut weeks: Vec<(&String, &Week)> =
        group.weeks.iter().rev().filter(counts).take(WEEKS).collect();
    weeks.reverse();
    // What was never decided has no share that could move.
    if group.spread().decided() == 0 {
        return None;
    }
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
        ([(_, first), (_, second), (_, third)], None) => {
            found.look([first, second, third]);
        }
        (_, Some((name, week))) if weeks.len() == WEEKS => {
            let decided = week.spread.decided();
            found.reason = Some(format!(
                "{decided} in {name}; it takes {VERDICTS_PER_WEEK_MIN} in each of {WEEKS} weeks"
            ));
        }
        _ => {
            let held = weeks.len();
            found.reason = Some(format!("verdicts in {held} of the {WEEKS} weeks it takes"));
        }
    }
    Some(found)
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
            let [from, _, to] = points.map(|points| mean(points.sum, points.count).unwrap_or(0.0));
            let measure =
                Measure::Score { deliberator: deliberator.to_owned(), score: score.to_owned() };
            self.movements.push(Movement { measure, direction, from, to });
        }
    }
}

/// A part of a whole that is not nothing.
#[derive(Debug, Clone, Copy)]
struct Ratio {
    part: i128,
    whole: i128,
}

impl Ratio {
    fn of(part: usize, whole: usize) -> Self {
        Self { part: part as i128, whole: whole.max(1) as i128 }
    }

    fn cmp(self, other: Self) -> Ordering {
        (self.part * other.whole).cmp(&(other.part * self.whole))
    }
}

/// Which way three values go that never go back.
fn direction([first, second, third]: [Ratio; WEEKS]) -> Option<Direction> {
    match (first.cmp(second), second.cmp(third), first.cmp(third)) {
        (Ordering::Less | Ordering::Equal, Ordering::Less | Ordering::Equal, Ordering::Less) => {
            Some(Direction::Rising)
        }
        (
            Ordering::Greater | Ordering::Equal,
            Ordering::Greater | Ordering::Equal,
            Ordering::Greater,
        ) => Some(Direction::Falling),
        _ => None,
    }
}

fn share_moved(shares: [Ratio; WEEKS]) -> Option<Direction> {
    let [Ratio { part: k, whole: n }, _, Ratio { part: l, whole: m }] = shares;
    // The difference of both shares, times both wholes.
    let apart = (l * n - k * m).abs();
    let matters = apart * 100 >= SHARE_POINTS_MIN as i128 * n * m;
    // Two shares of one common share p lie apart by a standard error of √(p(1−p)(1/n + 1/m)).
    let (parts, wholes) = (k + l, n + m);
    let chance = SHARE_HALF_ERRORS_MIN.pow(2) * n * m * parts * (wholes - parts);
    let is_no_chance = 4 * apart.pow(2) * wholes >= chance;
    direction(shares).filter(|_| matters && is_no_chance)
}

fn score_moved(points: [Points; WEEKS]) -> Option<Direction> {
    let means = points
        .map(|points| Ratio { part: i128::from(points.sum), whole: i128::from(points.count) });
    let [first, _, last] = points;
    let [Ratio { part: s, whole: n }, _, Ratio { part: t, whole: m }] = means;
    // The difference of both means, times both counts.
    let apart = (t * n - s * m).abs();
    let matters = apart * 10 >= SCORE_TENTHS_MIN as i128 * n * m;
    // The variances of both means add up; each is that of its scores by their count.
    let scatter =
        |points: Points, sum: i128, count: i128| i128::from(points.squares) * count - sum.pow(2);
    let chance =
        scatter(first, s, n) * m.pow(2) * (m - 1) + scatter(last, t, m) * n.pow(2) * (n - 1);
    let is_no_chance =
        4 * apart.pow(2) * (n - 1) * (m - 1) >= SCORE_HALF_ERRORS_MIN.pow(2) * chance;
    direction(means).filter(|_| matters && is_no_chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weeks: [(usize, usize); WEEKS]) -> Option<Direction> {
        share_moved(weeks.map(|(part, whole)| Ratio::of(part, whole)))
    }

    #[test]
    fn a_share_must_move_far_in_one_direction_and_beyond_chance() {
        let (up, down) = (Some(Direction::Rising), Some(Direction::Falling));
        assert_eq!(shares([(2, 20), (6, 20), (12, 20)]), up);
        assert_eq!(shares([(12, 20), (6, 20), (2, 20)]), down);
        // A step that stays level does not go back.
        assert_eq!(shares([(2, 20), (2, 20), (12, 20)]), up);
        assert_eq!(shares([(2, 20), (12, 20), (12, 20)]), up);
        // Back and forth is no direction.
        assert_eq!(shares([(2, 20), (13, 20), (12, 20)]), None);
        assert_eq!(shares([(5, 20), (5, 20), (5, 20)]), None);
        // With many, chance explains little, and then the twenty points decide.
        assert_eq!(shares([(100, 1_000), (200, 1_000), (299, 1_000)]), None);
        assert_eq!(shares([(100, 1_000), (200, 1_000), (300, 1_000)]), up);
        // With few, chance explains much.
        assert_eq!(shares([(1, 5), (2, 5), (4, 5)]), None);
        assert_eq!(shares([(0, 5), (2, 5), (4, 5)]), up);
        assert_eq!(shares([(1, 10), (4, 10), (6, 10)]), None);
        assert_eq!(shares([(1, 10), (4, 10), (7, 10)]), up);
        // From nothing to all there is nothing to doubt.
        assert_eq!(shares([(0, 5), (3, 5), (5, 5)]), up);
    }

    fn scores(weeks: [&[u8]; WEEKS]) -> Option<Direction> {
        score_moved(weeks.map(|scores| {
            let mut points = Points::default();
            scores.iter().for_each(|score| points.note(*score));
            points
        }))
    }

    #[test]
    fn a_score_must_move_by_half_a_point_and_beyond_chance() {
        let (up, down) = (Some(Direction::Rising), Some(Direction::Falling));
        assert_eq!(scores([&[4; 5], &[3; 5], &[2; 5]]), down);
        assert_eq!(scores([&[2; 5], &[3; 5], &[4; 5]]), up);
        assert_eq!(scores([&[4; 5], &[2; 5], &[3; 5]]), None);
        // From 4.0 to 3.6 and to 3.4, hardly scattered.
        let (nearly, half) = ([3, 4, 3, 4, 4], [3, 3, 4, 3, 4]);
        assert_eq!(scores([&[4; 5], &[4; 5], &nearly]), None);
        assert_eq!(scores([&[4; 50], &[4; 50], &half.repeat(10)]), down);
        // The same means, widely scattered.
        assert_eq!(scores([&[5, 5, 5, 5, 1], &[4; 5], &[5, 1, 4, 5, 1]]), None);
    }
}
