//! Drift detection: whether the verdicts on one artifact type, or of one producer, move in one
//! direction.
//!
//! It compares the last three weeks with verdicts. A share or a mean drifts if it moves in one
//! direction only, by a relevant amount and by more than chance explains. The result says that
//! something changed, not whether the producer or the review changed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::string_enum::words;
use crate::protocols::review::verdict_counts::{ScoreSums, WeekTallies, WeekTally};
use crate::report::phrases::count_noun;

/// Two values always have a direction; a third can contradict it.
pub const DRIFT_WEEKS: usize = 3;

/// With fewer verdicts, a single one moves the share of a week by more than `SHARE_POINTS_MIN`.
pub const VERDICTS_PER_WEEK_MIN: usize = 5;

/// Minimum change from first to last week, in percentage points.
const SHARE_POINTS_MIN: usize = 20;

/// Minimum change from first to last week, on the scale from 1 to 5.
const SCORE_POINTS_MIN: f64 = 0.5;

/// Minimum distance of first and last week, in standard errors. Without a real change, chance
/// reaches it in about one of a hundred cases.
const SHARE_ERRORS_MIN: f64 = 2.5;

/// Higher than for shares, because a dozen scores are tested at once and each may move by chance.
const SCORE_ERRORS_MIN: f64 = 4.0;

/// Added to each distance, so that rounding does not hide a change that is exactly large enough.
const ROUNDING: f64 = 1e-9;

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

words! {
    pub enum DriftDirection {
        Rising = "rising",
        Falling = "falling",
    }
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

impl DriftReport {
    pub(crate) fn new(
        by_type: &BTreeMap<String, WeekTallies>,
        by_producer: &BTreeMap<String, WeekTallies>,
        running_week: &str,
    ) -> Self {
        let types = by_type.iter().map(|group| (DriftSubjectKind::Type, group));
        let producers = by_producer.iter().map(|group| (DriftSubjectKind::Producer, group));
        let subjects: Vec<DriftSubject> = types
            .chain(producers)
            .filter_map(|(of, (name, weeks))| DriftSubject::assess(of, name, weeks, running_week))
            .collect();
        let verdicts = subjects.iter().map(|subject| subject.verdict);
        Self {
            // `DriftVerdict` is sorted by precedence.
            verdict: verdicts.min().unwrap_or(DriftVerdict::CannotTell),
            weeks: DRIFT_WEEKS,
            verdicts_per_week_min: VERDICTS_PER_WEEK_MIN,
            share_points_min: SHARE_POINTS_MIN,
            score_points_min: SCORE_POINTS_MIN,
            subjects,
        }
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

impl DriftSubject {
    /// Returns `None` if the subject has no decided verdict. The running week counts only once it
    /// has enough verdicts.
    fn assess(
        of: DriftSubjectKind,
        name: &str,
        weeks: &WeekTallies,
        running_week: &str,
    ) -> Option<Self> {
        let decided = |week: &WeekTally| week.spread.count_decided();
        if weeks.values().all(|week| decided(week) == 0) {
            return None;
        }
        let is_relevant = |(name, week): &(&String, &WeekTally)| {
            let least = if *name == running_week { VERDICTS_PER_WEEK_MIN } else { 1 };
            decided(week) >= least
        };
        let mut compared: Vec<(&String, &WeekTally)> =
            weeks.iter().rev().filter(is_relevant).take(DRIFT_WEEKS).collect();
        compared.reverse();
        let seldom = compared.iter().find(|(_, week)| decided(week) < VERDICTS_PER_WEEK_MIN);
        let mut subject = Self {
            of,
            name: name.to_owned(),
            verdict: DriftVerdict::CannotTell,
            reason: None,
            weeks: compared.iter().map(|(name, week)| DriftWeek::new(name, week)).collect(),
            movements: Vec::new(),
            scores_untold: 0,
        };
        match (compared.as_slice(), seldom) {
            ([(_, first), (_, second), (_, third)], None) => {
                subject.find_movements([first, second, third]);
            }
            ([_, _, _], Some((week, tally))) => {
                subject.reason = Some(format!(
                    "{} in {week}; it needs {VERDICTS_PER_WEEK_MIN} in each of {DRIFT_WEEKS} weeks",
                    count_noun(decided(tally), "decided verdict")
                ));
            }
            (fewer, _) => {
                let found = fewer.len();
                subject.reason =
                    Some(format!("it needs {DRIFT_WEEKS} weeks with verdicts and has {found}"));
            }
        }
        Some(subject)
    }

    fn find_movements(&mut self, weeks: [&WeekTally; DRIFT_WEEKS]) {
        let shares = weeks.map(|week| (week.spread.count_not_ship(), week.spread.count_decided()));
        if let Some(direction) = share_direction(shares) {
            let [from, _, to] = weeks.map(|week| week.spread.not_ship_percent().unwrap_or(0.0));
            let measure = DriftMeasure::NotShip;
            self.movements.push(DriftMovement { measure, direction, from, to });
        }
        let [_, _, last] = weeks;
        for key in last.scores.keys() {
            let sums = weeks.map(|week| week.scores.get(key).copied().unwrap_or_default());
            if sums.iter().any(|sums| sums.count < VERDICTS_PER_WEEK_MIN as u64) {
                self.scores_untold += 1;
            } else if let Some(direction) = score_direction(sums) {
                let [from, _, to] = sums.map(|sums| sums.mean_score().unwrap_or(0.0));
                let (deliberator, score) = key.clone();
                let measure = DriftMeasure::Score { deliberator, score };
                self.movements.push(DriftMovement { measure, direction, from, to });
            }
        }
        self.verdict = match self.movements.is_empty() {
            true => DriftVerdict::Steady,
            false => DriftVerdict::Drift,
        };
    }
}

impl DriftWeek {
    fn new(week: &str, tally: &WeekTally) -> Self {
        Self {
            week: week.to_owned(),
            decided: tally.spread.count_decided(),
            not_ship_percent: tally.spread.not_ship_percent(),
        }
    }
}

/// Direction of a share, given as part and whole of each week. The standard error of the difference
/// of two shares with a common share p and sizes n and m is √(p(1−p)(1/n + 1/m)).
fn share_direction(weeks: [(usize, usize); DRIFT_WEEKS]) -> Option<DriftDirection> {
    let weeks = weeks.map(|(part, whole)| (part as f64, whole.max(1) as f64));
    let [(first, n), _, (last, m)] = weeks;
    let common = (first + last) / (n + m);
    let error = (common * (1.0 - common) * (1.0 / n + 1.0 / m)).sqrt();
    let shares = weeks.map(|(part, whole)| part / whole);
    common_direction(shares, SHARE_POINTS_MIN as f64 / 100.0, SHARE_ERRORS_MIN * error)
}

/// Direction of a mean score. The variances of both means add up; the variance of a mean is the
/// variance of the scores divided by their count.
fn score_direction(weeks: [ScoreSums; DRIFT_WEEKS]) -> Option<DriftDirection> {
    let weeks = weeks.map(|sums| {
        let [count, sum, squares] = [sums.count, sums.sum, sums.squares].map(|sum| sum as f64);
        (sum / count, (squares - sum * sum / count) / (count - 1.0) / count)
    });
    let [(_, first_variance), _, (_, last_variance)] = weeks;
    let error = (first_variance + last_variance).max(0.0).sqrt();
    common_direction(weeks.map(|(mean, _)| mean), SCORE_POINTS_MIN, SCORE_ERRORS_MIN * error)
}

/// Direction of three values; `None` if they reverse, or if first and last are closer than `least`
/// or than `chance`.
fn common_direction(values: [f64; 3], least: f64, chance: f64) -> Option<DriftDirection> {
    let [first, second, last] = values;
    let apart = (last - first).abs() + ROUNDING;
    let direction = if first <= second && second <= last {
        DriftDirection::Rising
    } else if first >= second && second >= last {
        DriftDirection::Falling
    } else {
        return None;
    };
    (apart >= least && apart >= chance).then_some(direction)
}

/// Describes all movements of a subject in one sentence, because many scores often fall together.
pub(crate) fn describe_subject(subject: &DriftSubject) -> String {
    let name = match subject.of {
        DriftSubjectKind::Type => subject.name.clone(),
        DriftSubjectKind::Producer => format!("producer {}", subject.name),
    };
    let (shares, scores): (Vec<&DriftMovement>, Vec<&DriftMovement>) =
        subject.movements.iter().partition(|movement| movement.measure == DriftMeasure::NotShip);
    let mut sentences: Vec<String> = shares.into_iter().map(describe_movement).collect();
    // Of several that moved equally far, the first.
    let distance = |movement: &&&DriftMovement| (movement.from - movement.to).abs();
    let furthest = scores.iter().min_by(|a, b| distance(b).total_cmp(&distance(a)));
    sentences.extend(furthest.map(|movement| match scores.len() {
        1 => describe_movement(movement),
        count => format!("{count} scores moved (most: {})", describe_movement(movement)),
    }));
    let [first, last] = [subject.weeks.first(), subject.weeks.last()]
        .map(|week| week.map_or("", |week| week.week.as_str()));
    format!("{name}: {}, {first} to {last}", sentences.join(", "))
}

fn describe_movement(movement: &DriftMovement) -> String {
    let DriftMovement { measure, direction, from, to } = movement;
    let verb = match direction {
        DriftDirection::Rising => "rose",
        DriftDirection::Falling => "fell",
    };
    match measure {
        DriftMeasure::NotShip => format!("not SHIP {verb} from {from:.0} % to {to:.0} %"),
        DriftMeasure::Score { deliberator, score } => {
            format!("{score} of {deliberator} {verb} from {from:.1} to {to:.1}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_must_move_far_in_one_direction_and_beyond_chance() {
        let (up, down) = (Some(DriftDirection::Rising), Some(DriftDirection::Falling));
        let shares = share_direction;
        assert_eq!(shares([(2, 20), (6, 20), (12, 20)]), up);
        assert_eq!(shares([(12, 20), (6, 20), (2, 20)]), down);
        // A level step is not a reversal.
        assert_eq!(shares([(2, 20), (2, 20), (12, 20)]), up);
        assert_eq!(shares([(2, 20), (12, 20), (12, 20)]), up);
        // A reversal has no direction.
        assert_eq!(shares([(2, 20), (13, 20), (12, 20)]), None);
        assert_eq!(shares([(5, 20), (5, 20), (5, 20)]), None);
        // With many verdicts, the limit of twenty points decides.
        assert_eq!(shares([(100, 1_000), (200, 1_000), (299, 1_000)]), None);
        assert_eq!(shares([(100, 1_000), (200, 1_000), (300, 1_000)]), up);
        // With few verdicts, chance explains more.
        assert_eq!(shares([(1, 5), (2, 5), (4, 5)]), None);
        assert_eq!(shares([(0, 5), (2, 5), (4, 5)]), up);
        assert_eq!(shares([(1, 10), (4, 10), (6, 10)]), None);
        assert_eq!(shares([(1, 10), (4, 10), (7, 10)]), up);
        // From none to all is always significant.
        assert_eq!(shares([(0, 5), (3, 5), (5, 5)]), up);
    }

    fn scores(weeks: [&[u8]; DRIFT_WEEKS]) -> Option<DriftDirection> {
        score_direction(weeks.map(|scores| {
            let mut sums = ScoreSums::default();
            scores.iter().for_each(|score| sums.add_score(*score));
            sums
        }))
    }

    #[test]
    fn a_score_must_move_by_half_a_point_and_beyond_chance() {
        let (up, down) = (Some(DriftDirection::Rising), Some(DriftDirection::Falling));
        assert_eq!(scores([&[4; 5], &[3; 5], &[2; 5]]), down);
        assert_eq!(scores([&[2; 5], &[3; 5], &[4; 5]]), up);
        assert_eq!(scores([&[4; 5], &[2; 5], &[3; 5]]), None);
        // From 4.0 to 3.6 and to 3.4, with little variance.
        let (nearly, half) = ([3, 4, 3, 4, 4], [3, 3, 4, 3, 4]);
        assert_eq!(scores([&[4; 5], &[4; 5], &nearly]), None);
        assert_eq!(scores([&[4; 50], &[4; 50], &half.repeat(10)]), down);
        // The same means with high variance.
        assert_eq!(scores([&[5, 5, 5, 5, 1], &[4; 5], &[5, 1, 4, 5, 1]]), None);
    }
}
