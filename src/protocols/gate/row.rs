//! Builds the line of the verdict log for a review.

use super::positions::{ADJUDICATION, Part, Position, positions, undecided};
use crate::domain::ask::ErrorType;
use crate::domain::gate::{
    AdjudicatorRow, GateVerdict, LogRow, PriorVerdict, ROW_VERSION, Ruling, SeatRow,
};
use crate::domain::time::Moment;
use crate::domain::transcript::{Stop, Transcript};

/// How a review ended.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'a> {
    Ruled(&'a Ruling),
    Undecided(&'a Stop),
}

/// The line for this end; none for a council.
pub fn row(transcript: &Transcript, outcome: Outcome<'_>, at: Moment) -> Option<LogRow> {
    let artifact = &transcript.gate()?.artifact;
    let (round1, round2) = seat_rows(transcript);
    let policy = match outcome {
        Outcome::Ruled(ruling) => Some(ruling.arithmetic),
        Outcome::Undecided(_) => undecided(transcript),
    };
    Some(LogRow {
        v: ROW_VERSION,
        ts: at,
        artifact: artifact.path.clone(),
        artifact_type: artifact.artifact_type.clone(),
        round1,
        round2,
        adjudicator: adjudicator(transcript, outcome),
        artifact_sha256: Some(artifact.sha256.clone()),
        tier: Some(artifact.tier),
        producer: artifact.producer.clone(),
        verdict_id: Some(verdict_id(transcript, transcript.rows_logged + 1)),
        rehearsal: transcript.opening.rehearsal,
        imported: false,
        policy,
    })
}

/// The id of the n-th verdict of a dialogue, from 1. Every stop of a review is a verdict, at least
/// INCOMPLETE.
pub fn verdict_id(transcript: &Transcript, number: usize) -> String {
    format!("{}/{number}", transcript.opening.dialogue_id)
}

/// The judgements of both rounds; the second is empty if it was not begun.
pub fn seat_rows(transcript: &Transcript) -> (Vec<SeatRow>, Vec<SeatRow>) {
    let all = positions(transcript);
    let first = all.iter().map(|one| seat_row(one, &one.first, Marks::default())).collect();
    let begun = all.iter().filter(|one| one.is_second_begun);
    let second = begun.map(|one| second_row(one, &all)).collect();
    (first, second)
}

/// The earlier verdicts that the adjudicator saw; empty until it is asked.
pub fn consulted(transcript: &Transcript) -> &[PriorVerdict] {
    let was_asked = transcript.asks_of(ADJUDICATION).next().is_some();
    let gate = transcript.gate().filter(|_| was_asked);
    gate.map(|gate| gate.priors.as_slice()).unwrap_or_default()
}

/// Remarks on a judgement.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    fallback: bool,
    uncited: bool,
}

fn second_row(position: &Position<'_>, all: &[Position<'_>]) -> SeatRow {
    let marks = Marks { fallback: position.is_fallback(), uncited: position.is_uncited(all) };
    let part = if marks.fallback { &position.first } else { &position.second };
    seat_row(position, part, marks)
}

fn seat_row(position: &Position<'_>, part: &Part<'_>, marks: Marks) -> SeatRow {
    let deliberator = position.seat.to_string();
    let Marks { fallback, uncited } = marks;
    let error_type = match part {
        Part::Held(judgement) => {
            let judgement = (*judgement).clone();
            return SeatRow::Present { deliberator, judgement, fallback, uncited };
        }
        Part::Absent(failure) => failure.error_type,
        // The run ended before the seat answered or was asked.
        Part::Open => ErrorType::Unknown,
    };
    SeatRow::Absent { deliberator, absent: true, error_type }
}

fn adjudicator(transcript: &Transcript, outcome: Outcome<'_>) -> AdjudicatorRow {
    let consulted = consulted(transcript).len();
    let (final_verdict, reasoning, revision_brief) = match outcome {
        Outcome::Ruled(ruling) => {
            let word = &ruling.adjudication;
            (ruling.verdict.into(), word.reasoning.clone(), word.revision_brief.clone())
        }
        Outcome::Undecided(stop) => (GateVerdict::Incomplete, reason(stop), String::new()),
    };
    AdjudicatorRow {
        final_verdict,
        reasoning,
        revision_brief,
        applied_compounding: consulted > 0,
        prior_verdicts_consulted: consulted,
    }
}

/// Why the review has no outcome; it replaces the adjudicator's reasons.
fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Quorum { heard, needed, .. } => {
            format!("{heard} deliberators were heard, and {needed} are needed")
        }
        Stop::Unadjudicated { seat, reason } => {
            format!("no readable adjudicator: {seat}: {reason}")
        }
        Stop::Budget { shortage } => format!("the budget ran out: {shortage}"),
        Stop::Deadline => "the deadline came first".to_owned(),
        Stop::Interrupted => "it was interrupted".to_owned(),
        Stop::Done | Stop::Families { .. } | Stop::Partial { .. } | Stop::Unconcluded { .. } => {
            "it ended before anything was decided".to_owned()
        }
    }
}
