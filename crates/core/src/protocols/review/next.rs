//! The steps of a review: a pure function of the run state.

use crate::model::ask::AskPurpose;
use crate::model::ids::ExpertSlug;
use crate::model::journal::{JournalEntryKind, JournalEvent};
use crate::model::run_state::{RunState, RunStopReason};
use crate::protocols::council::answers::list_failures;
use crate::protocols::pending_asks::{RetryRule, pending_asks};
use crate::protocols::protocol::{EntryDraft, EntryPart, Step};
use crate::protocols::review::log_row::{LoggedOutcome, log_row};
use crate::protocols::review::policy::ReviewOutcome;
use crate::protocols::review::seat_results::{
    ADJUDICATION, FIRST, SECOND, SeatResult, list_seat_results, read_adjudication, tally_blocks,
};
use crate::protocols::review::to_entities::{round_batch, ruling_verdict};
use crate::protocols::review::types::ReviewPlan;

/// The next step.
pub(crate) fn next_step(state: &RunState) -> Step {
    let Some(gate) = state.review_plan() else { return Step::Finish };
    if state.review_outcome.is_some() {
        return Step::Finish;
    }
    let first = first_round(state, gate);
    first.or_else(|| second_round(state, gate)).unwrap_or_else(|| adjudication_step(state, gate))
}

/// Every deliberator judges alone.
fn first_round(state: &RunState, gate: &ReviewPlan) -> Option<Step> {
    if state.is_round_recorded(FIRST) {
        return None;
    }
    let asking = pending_asks(
        state,
        FIRST,
        AskPurpose::Judgement,
        RetryRule::Unparsed,
        deliberator_seats(gate),
    );
    asking.or_else(|| {
        Some(stop_if_too_few(state).map_or_else(|| record_round(state, FIRST), Step::Stop))
    })
}

/// Stops the review if fewer deliberators answered than the policy needs. Otherwise a deliberator
/// that failed in the first round may still answer in the second.
fn stop_if_too_few(state: &RunState) -> Option<RunStopReason> {
    let needed = state.review_plan()?.policy.min_deliberators;
    let counted = tally_blocks(state)?;
    let is_too_few = counted.computed.is_none();
    is_too_few.then_some(RunStopReason::Quorum { round: FIRST, heard: counted.present, needed })
}

/// Every deliberator judges again and sees the judgements of the others. A deliberator that would
/// see only its own is not asked.
fn second_round(state: &RunState, gate: &ReviewPlan) -> Option<Step> {
    if state.is_round_recorded(SECOND) {
        return None;
    }
    let positions = list_seat_results(state);
    let spoke = |position: &&SeatResult<'_>| position.first.judgement().is_some();
    let heard: Vec<&ExpertSlug> = positions.iter().filter(spoke).map(|one| one.seat).collect();
    let readers = deliberator_seats(gate).filter(|seat| heard.iter().any(|other| other != seat));
    let asking =
        pending_asks(state, SECOND, AskPurpose::CrossReading, RetryRule::Unparsed, readers);
    Some(asking.unwrap_or_else(|| record_round(state, SECOND)))
}

/// The adjudicator decides; the policy limits its decision.
fn adjudication_step(state: &RunState, gate: &ReviewPlan) -> Step {
    let seat = &gate.adjudicator;
    let asking =
        pending_asks(state, ADJUDICATION, AskPurpose::Adjudication, RetryRule::All, [seat]);
    if let Some(step) = asking {
        return step;
    }
    review_outcome(state).map_or_else(
        || {
            let failed = list_failures(state, ADJUDICATION).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(RunStopReason::Unadjudicated { seat: seat.clone(), reason })
        },
        |ruling| record_outcome(state, ruling),
    )
}

/// Registers what a round found.
fn record_round(state: &RunState, round: u8) -> Step {
    Step::Append(vec![EntryDraft::for_round(round_batch(state, round))])
}

/// Records the outcome with its verdict and its line of the log, which ends the review.
fn record_outcome(state: &RunState, ruling: ReviewOutcome) -> Step {
    let verdict = ruling_verdict(state, &ruling).map(Box::new);
    let verdict = verdict.map(|request| EntryPart::Verdict { request, sets_status: true });
    let line = log_row(state, LoggedOutcome::Ruled(&ruling), state.last_entry_at);
    let ruled = EntryPart::from_change(JournalEvent::ReviewDecided(Box::new(ruling)));
    let line = line.map(|line| EntryPart::LogLine(Box::new(line)));
    let parts = verdict.into_iter().chain([ruled]).chain(line).chain([EntryPart::run_done()]);
    Step::Append(vec![EntryDraft::new(JournalEntryKind::VerdictRegistered, parts)])
}

fn review_outcome(state: &RunState) -> Option<ReviewOutcome> {
    let (arithmetic, word) = (tally_blocks(state)?, read_adjudication(state)?);
    Some(ReviewOutcome {
        verdict: arithmetic.apply_adjudication(word)?,
        tally: arithmetic,
        adjudication: word.clone(),
    })
}

fn deliberator_seats(gate: &ReviewPlan) -> impl Iterator<Item = &ExpertSlug> {
    gate.deliberators.iter().map(|deliberator| &deliberator.seat)
}
