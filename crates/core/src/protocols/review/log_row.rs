//! Builds the line of the verdict log for a review.

use crate::model::ask::CallErrorType;
use crate::model::run_state::{RunState, RunStopReason};
use crate::model::time::Moment;
use crate::protocols::review::log_types::{AdjudicatorRow, LogRow, ROW_VERSION, SeatRow};
use crate::protocols::review::policy::{FinalVerdict, ReviewOutcome};
use crate::protocols::review::seat_results::{
    ADJUDICATION, RoundResult, SeatResult, list_seat_results, tally_if_undecided,
};
use crate::protocols::review::types::PriorVerdict;

/// How a review ended.
#[derive(Debug, Clone, Copy)]
pub enum LoggedOutcome<'a> {
    Ruled(&'a ReviewOutcome),
    Undecided(&'a RunStopReason),
}

/// The line for this end; none for a council.
pub fn log_row(transcript: &RunState, outcome: LoggedOutcome<'_>, at: Moment) -> Option<LogRow> {
    let artifact = &transcript.review_plan()?.artifact;
    let (round1, round2) = seat_rows(transcript);
    let policy = match outcome {
        LoggedOutcome::Ruled(ruling) => Some(ruling.tally),
        LoggedOutcome::Undecided(_) => tally_if_undecided(transcript),
    };
    Some(LogRow {
        v: ROW_VERSION,
        ts: at,
        artifact: artifact.path.clone(),
        artifact_type: artifact.artifact_type.clone(),
        round1,
        round2,
        adjudicator: adjudicator_row(transcript, outcome),
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
pub fn verdict_id(transcript: &RunState, number: usize) -> String {
    format!("{}/{number}", transcript.opening.dialogue_id)
}

/// The judgements of both rounds; the second is empty if it was not begun.
pub fn seat_rows(transcript: &RunState) -> (Vec<SeatRow>, Vec<SeatRow>) {
    let all = list_seat_results(transcript);
    let first = all.iter().map(|one| seat_row(one, &one.first, SeatMarks::default())).collect();
    let begun = all.iter().filter(|one| one.is_second_begun);
    let second = begun.map(|one| second_row(one, &all)).collect();
    (first, second)
}

/// The earlier verdicts that the adjudicator saw; empty until it is asked.
pub fn consulted_verdicts(transcript: &RunState) -> &[PriorVerdict] {
    let was_asked = transcript.asks_in_round(ADJUDICATION).next().is_some();
    let gate = transcript.review_plan().filter(|_| was_asked);
    gate.map(|gate| gate.priors.as_slice()).unwrap_or_default()
}

/// Remarks on a judgement.
#[derive(Debug, Clone, Copy, Default)]
struct SeatMarks {
    fallback: bool,
    uncited: bool,
}

fn second_row(position: &SeatResult<'_>, all: &[SeatResult<'_>]) -> SeatRow {
    let marks = SeatMarks { fallback: position.is_fallback(), uncited: position.is_uncited(all) };
    let part = if marks.fallback { &position.first } else { &position.second };
    seat_row(position, part, marks)
}

fn seat_row(position: &SeatResult<'_>, part: &RoundResult<'_>, marks: SeatMarks) -> SeatRow {
    let deliberator = position.seat.to_string();
    let SeatMarks { fallback, uncited } = marks;
    let error_type = match part {
        RoundResult::Judged(judgement) => {
            let judgement = (*judgement).clone();
            return SeatRow::Present { deliberator, judgement, fallback, uncited };
        }
        RoundResult::Absent(failure) => failure.error_type,
        // The run ended before the seat answered or was asked.
        RoundResult::Open => CallErrorType::Unknown,
    };
    SeatRow::Absent { deliberator, absent: true, error_type }
}

fn adjudicator_row(transcript: &RunState, outcome: LoggedOutcome<'_>) -> AdjudicatorRow {
    let consulted = consulted_verdicts(transcript).len();
    let (final_verdict, reasoning, revision_brief) = match outcome {
        LoggedOutcome::Ruled(ruling) => {
            let word = &ruling.adjudication;
            (ruling.verdict.into(), word.reasoning.clone(), word.revision_brief.clone())
        }
        LoggedOutcome::Undecided(stop) => {
            (FinalVerdict::Incomplete, incomplete_reason(stop), String::new())
        }
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
fn incomplete_reason(stop: &RunStopReason) -> String {
    match stop {
        RunStopReason::Quorum { heard, needed, .. } => {
            format!("{heard} deliberators were heard, and {needed} are needed")
        }
        RunStopReason::Unadjudicated { seat, reason } => {
            format!("no readable adjudicator: {seat}: {reason}")
        }
        RunStopReason::Budget { shortage } => format!("the budget ran out: {shortage}"),
        RunStopReason::Deadline => "the deadline came first".to_owned(),
        RunStopReason::Interrupted => "it was interrupted".to_owned(),
        RunStopReason::Done
        | RunStopReason::Families { .. }
        | RunStopReason::Partial { .. }
        | RunStopReason::Unconcluded { .. } => "it ended before anything was decided".to_owned(),
    }
}
