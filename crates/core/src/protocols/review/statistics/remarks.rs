//! Remarks on unusual numbers in the review statistics, one sentence each.

use serde::Serialize;

use crate::dialogue::health::exceeds_percent;
use crate::model::string_enum::words;
use crate::protocols::review::statistics::counts::{OverrideCounts, VerdictTally};
use crate::protocols::review::statistics::deliberators::DeliberatorStatistics;
use crate::protocols::review::statistics::drift::{
    DriftDirection, DriftMeasure, DriftMovement, DriftSubject, DriftSubjectKind, DriftVerdict,
};

/// Above this share, people override verdicts routinely.
const OVERRIDDEN_PERCENT_MAX: usize = 20;

/// Above this share, a seat is absent too often to be useful.
const ABSENT_PERCENT_MAX: usize = 20;

/// Above this share, reviews fail to decide too often to be relied on.
const INCOMPLETE_PERCENT_MAX: usize = 20;

/// Above this share, most changes of mind cite no concern.
const UNCITED_PERCENT_MAX: usize = 50;

words! {
    pub enum RemarkCode {
        Drift = "drift",
        OftenOverridden = "often_overridden",
        OftenIncomplete = "often_incomplete",
        OftenAbsent = "often_absent",
        OftenUncited = "often_uncited",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatisticsRemark {
    pub code: RemarkCode,
    pub message: String,
}

pub(crate) fn build_remarks(
    spread: VerdictTally,
    drift: &[DriftSubject],
    overrules: &OverrideCounts,
    seats: &[DeliberatorStatistics],
) -> Vec<StatisticsRemark> {
    let drifting = drift.iter().filter(|subject| subject.verdict == DriftVerdict::Drift);
    let mut remarks: Vec<StatisticsRemark> = drifting.map(drift_remark).collect();
    remarks.extend(override_remark(overrules));
    remarks.extend(incomplete_remark(spread));
    remarks.extend(seats.iter().filter_map(absence_remark));
    remarks.extend(seats.iter().filter_map(uncited_remark));
    remarks
}

/// Describes all movements of a subject in one sentence, because many scores often fall together.
fn drift_remark(subject: &DriftSubject) -> StatisticsRemark {
    let whose = match subject.of {
        DriftSubjectKind::Type => subject.name.clone(),
        DriftSubjectKind::Producer => format!("producer {}", subject.name),
    };
    let (shares, scores): (Vec<&DriftMovement>, Vec<&DriftMovement>) =
        subject.movements.iter().partition(|movement| movement.measure == DriftMeasure::NotShip);
    let mut said: Vec<String> = shares.into_iter().map(describe_movement).collect();
    said.extend(describe_scores(&scores));
    let [first, last] = [subject.weeks.first(), subject.weeks.last()]
        .map(|point| point.map_or("", |point| point.week.as_str()));
    let message = format!("{whose}: {}, {first} to {last}", said.join(", "));
    StatisticsRemark { code: RemarkCode::Drift, message }
}

fn describe_scores(scores: &[&DriftMovement]) -> Option<String> {
    let far = |movement: &DriftMovement| (movement.to - movement.from).abs();
    // If several moved equally far, the first.
    let furthest = |a: &&&DriftMovement, b: &&&DriftMovement| far(b).total_cmp(&far(a));
    let most = describe_movement(scores.iter().min_by(furthest)?);
    Some(match scores.len() {
        1 => most,
        count => format!("{count} scores moved (most: {most})"),
    })
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

fn override_remark(overrules: &OverrideCounts) -> Option<StatisticsRemark> {
    let OverrideCounts { decided, softened, hardened, .. } = *overrules;
    // A confirmation is not an override.
    let overruled = softened + hardened;
    exceeds_percent(overruled, decided, OVERRIDDEN_PERCENT_MAX).then(|| StatisticsRemark {
        code: RemarkCode::OftenOverridden,
        message: format!(
            "people overrule the gate: {overruled} of {decided} verdicts ({softened} softened, {hardened} hardened)"
        ),
    })
}

fn incomplete_remark(spread: VerdictTally) -> Option<StatisticsRemark> {
    let (incomplete, all) = (spread.incomplete, spread.count_logged());
    exceeds_percent(incomplete, all, INCOMPLETE_PERCENT_MAX).then(|| StatisticsRemark {
        code: RemarkCode::OftenIncomplete,
        message: format!("{incomplete} of {all} reviews were INCOMPLETE"),
    })
}

fn absence_remark(seat: &DeliberatorStatistics) -> Option<StatisticsRemark> {
    let DeliberatorStatistics { deliberator, absent, asked, .. } = seat;
    exceeds_percent(*absent, *asked, ABSENT_PERCENT_MAX).then(|| StatisticsRemark {
        code: RemarkCode::OftenAbsent,
        message: format!("{deliberator} was absent from {absent} of {asked} reviews"),
    })
}

fn uncited_remark(seat: &DeliberatorStatistics) -> Option<StatisticsRemark> {
    let (uncited, changed) = (seat.change.uncited, seat.change.changed);
    exceeds_percent(uncited, changed, UNCITED_PERCENT_MAX).then(|| StatisticsRemark {
        code: RemarkCode::OftenUncited,
        message: format!(
            "{} changed its mind {changed} times, {uncited} of them without naming a concern",
            seat.deliberator
        ),
    })
}
