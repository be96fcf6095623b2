//! Remarks on unusual numbers in the review statistics, one sentence each.

use serde::Serialize;

use super::drift::{DriftVerdict, Measure, Movement, Subject, SubjectKind};
use super::overrules::Overrules;
use super::seats::DeliberatorCount;
use super::significance::Direction;
use super::spread::Spread;
use crate::domain::words::words;
use crate::record::share::is_over;

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
pub struct Remark {
    pub code: RemarkCode,
    pub message: String,
}

pub(super) fn remarks(
    spread: Spread,
    drift: &[Subject],
    overrules: &Overrules,
    seats: &[DeliberatorCount],
) -> Vec<Remark> {
    let drifting = drift.iter().filter(|subject| subject.verdict == DriftVerdict::Drift);
    let mut remarks: Vec<Remark> = drifting.map(of_drift).collect();
    remarks.extend(of_overrules(overrules));
    remarks.extend(of_incomplete(spread));
    remarks.extend(seats.iter().filter_map(of_absence));
    remarks.extend(seats.iter().filter_map(of_uncited));
    remarks
}

/// Describes all movements of a subject in one sentence, because many scores often fall together.
fn of_drift(subject: &Subject) -> Remark {
    let whose = match subject.of {
        SubjectKind::Type => subject.name.clone(),
        SubjectKind::Producer => format!("producer {}", subject.name),
    };
    let (shares, scores): (Vec<&Movement>, Vec<&Movement>) =
        subject.movements.iter().partition(|movement| movement.measure == Measure::NotShip);
    let mut said: Vec<String> = shares.into_iter().map(moved).collect();
    said.extend(scores_moved(&scores));
    let [first, last] = [subject.weeks.first(), subject.weeks.last()]
        .map(|point| point.map_or("", |point| point.week.as_str()));
    let message = format!("{whose}: {}, {first} to {last}", said.join(", "));
    Remark { code: RemarkCode::Drift, message }
}

fn scores_moved(scores: &[&Movement]) -> Option<String> {
    let far = |movement: &Movement| (movement.to - movement.from).abs();
    // If several moved equally far, the first.
    let furthest = |a: &&&Movement, b: &&&Movement| far(b).total_cmp(&far(a));
    let most = moved(scores.iter().min_by(furthest)?);
    Some(match scores.len() {
        1 => most,
        count => format!("{count} scores moved (most: {most})"),
    })
}

fn moved(movement: &Movement) -> String {
    let Movement { measure, direction, from, to } = movement;
    let verb = match direction {
        Direction::Rising => "rose",
        Direction::Falling => "fell",
    };
    match measure {
        Measure::NotShip => format!("not SHIP {verb} from {from:.0} % to {to:.0} %"),
        Measure::Score { deliberator, score } => {
            format!("{score} of {deliberator} {verb} from {from:.1} to {to:.1}")
        }
    }
}

fn of_overrules(overrules: &Overrules) -> Option<Remark> {
    let Overrules { decided, softened, hardened, .. } = *overrules;
    // A confirmation is not an override.
    let overruled = softened + hardened;
    is_over(overruled, decided, OVERRIDDEN_PERCENT_MAX).then(|| Remark {
        code: RemarkCode::OftenOverridden,
        message: format!(
            "people overrule the gate: {overruled} of {decided} verdicts ({softened} softened, {hardened} hardened)"
        ),
    })
}

fn of_incomplete(spread: Spread) -> Option<Remark> {
    let (incomplete, all) = (spread.incomplete, spread.logged());
    is_over(incomplete, all, INCOMPLETE_PERCENT_MAX).then(|| Remark {
        code: RemarkCode::OftenIncomplete,
        message: format!("{incomplete} of {all} reviews were INCOMPLETE"),
    })
}

fn of_absence(seat: &DeliberatorCount) -> Option<Remark> {
    let DeliberatorCount { deliberator, absent, asked, .. } = seat;
    is_over(*absent, *asked, ABSENT_PERCENT_MAX).then(|| Remark {
        code: RemarkCode::OftenAbsent,
        message: format!("{deliberator} was absent from {absent} of {asked} reviews"),
    })
}

fn of_uncited(seat: &DeliberatorCount) -> Option<Remark> {
    let (uncited, changed) = (seat.change.uncited, seat.change.changed);
    is_over(uncited, changed, UNCITED_PERCENT_MAX).then(|| Remark {
        code: RemarkCode::OftenUncited,
        message: format!(
            "{} changed its mind {changed} times, {uncited} of them without naming a concern",
            seat.deliberator
        ),
    })
}
