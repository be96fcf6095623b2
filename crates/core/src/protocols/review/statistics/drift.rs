//! Drift detection: whether the verdicts on one artifact type, or of one producer, move in one
//! direction.
//!
//! It compares the last three weeks with verdicts. A share or a mean drifts if it moves in one
//! direction only, by a relevant amount and by more than chance explains. The result says that
//! something changed, not whether the producer or the review changed.

use std::cmp::Ordering;

use serde::Serialize;

use crate::dialogue::health::percent_of;
use crate::model::string_enum::words;
use crate::protocols::review::statistics::counts::{RowGroup, ScoreSums, WeekTally};

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
pub(crate) fn assess_subject(
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

/// Two values always have a direction; a third can contradict it.
pub const DRIFT_WEEKS: usize = 3;

/// Minimum change from first to last week, in percentage points.
pub(crate) const SHARE_POINTS_MIN: usize = 20;

/// Minimum change from first to last week, in tenths of a point on the scale from 1 to 5.
pub(crate) const SCORE_TENTHS_MIN: usize = 5;

/// Minimum distance of first and last week, in half standard errors. Without a real change, chance
/// reaches it in about one of a hundred cases.
const SHARE_HALF_ERRORS_MIN: i128 = 5;

/// Higher than for shares, because a dozen scores are tested at once and each may move by chance.
const SCORE_HALF_ERRORS_MIN: i128 = 8;

words! {
    pub enum DriftDirection {
        Rising = "rising",
        Falling = "falling",
    }
}

/// A fraction with a denominator above zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactRatio {
    part: i128,
    whole: i128,
}

pub(crate) fn share_direction(shares: [ExactRatio; DRIFT_WEEKS]) -> Option<DriftDirection> {
    let [first, _, last] = shares;
    let (apart, wholes) = (first.distance_to(last), first.whole * last.whole);
    let matters = apart * 100 >= SHARE_POINTS_MIN as i128 * wholes;
    // The standard error of the difference of two shares with a common share p and sizes n and m is
    // √(p(1−p)(1/n + 1/m)).
    let common = ExactRatio { part: first.part + last.part, whole: first.whole + last.whole };
    let scatter = common.part * (common.whole - common.part);
    let chance = SHARE_HALF_ERRORS_MIN.pow(2) * wholes * scatter;
    let is_no_chance = 4 * apart.pow(2) * common.whole >= chance;
    common_direction(shares).filter(|_| matters && is_no_chance)
}

pub(crate) fn score_direction(points: [ScoreSums; DRIFT_WEEKS]) -> Option<DriftDirection> {
    let means = points.map(ExactRatio::from_mean);
    let [first, _, last] = means;
    let (apart, counts) = (first.distance_to(last), first.whole * last.whole);
    let matters = apart * 10 >= SCORE_TENTHS_MIN as i128 * counts;
    // The variances of both means add up. The variance of a mean is the variance of the scores
    // divided by their count.
    let [first_scatter, _, last_scatter] = points.map(score_scatter);
    let weight = |other: ExactRatio| other.whole.pow(2) * (other.whole - 1);
    let chance = first_scatter * weight(last) + last_scatter * weight(first);
    let freedom = (first.whole - 1) * (last.whole - 1);
    let is_no_chance = 4 * apart.pow(2) * freedom >= SCORE_HALF_ERRORS_MIN.pow(2) * chance;
    common_direction(means).filter(|_| matters && is_no_chance)
}

/// Variance of the scores, multiplied by n(n−1).
fn score_scatter(points: ScoreSums) -> i128 {
    let [count, sum, squares] = [points.count, points.sum, points.squares].map(i128::from);
    squares * count - sum.pow(2)
}

/// Direction of three values, or `None` if they reverse.
fn common_direction([first, second, third]: [ExactRatio; DRIFT_WEEKS]) -> Option<DriftDirection> {
    let steps = [first.compare_to(second), second.compare_to(third)];
    match first.compare_to(third) {
        Ordering::Less if steps.iter().all(|step| step.is_le()) => Some(DriftDirection::Rising),
        Ordering::Greater if steps.iter().all(|step| step.is_ge()) => Some(DriftDirection::Falling),
        Ordering::Less | Ordering::Equal | Ordering::Greater => None,
    }
}

impl ExactRatio {
    pub(crate) fn from_counts(part: usize, whole: usize) -> Self {
        Self { part: part as i128, whole: whole.max(1) as i128 }
    }

    fn from_mean(points: ScoreSums) -> Self {
        Self { part: i128::from(points.sum), whole: i128::from(points.count) }
    }

    fn compare_to(self, other: Self) -> Ordering {
        (self.part * other.whole).cmp(&(other.part * self.whole))
    }

    /// Absolute difference, multiplied by both denominators.
    fn distance_to(self, other: Self) -> i128 {
        (other.part * self.whole - self.part * other.whole).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weeks: [(usize, usize); DRIFT_WEEKS]) -> Option<DriftDirection> {
        share_direction(weeks.map(|(part, whole)| ExactRatio::from_counts(part, whole)))
    }

    #[test]
    fn a_share_must_move_far_in_one_direction_and_beyond_chance() {
        let (up, down) = (Some(DriftDirection::Rising), Some(DriftDirection::Falling));
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
            let mut points = ScoreSums::default();
            scores.iter().for_each(|score| points.add_score(*score));
            points
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
