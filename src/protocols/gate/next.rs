//! The steps of a review: a pure function of the run state.

use super::enter::{round_batch, ruling_verdict};
use super::positions::{
    ADJUDICATION, FIRST, Position, SECOND, adjudication, arithmetic, positions,
};
use super::row::{Outcome, row};
use crate::domain::ask::Purpose;
use crate::domain::change::{Change, EntryKind};
use crate::domain::gate::{GatePlan, Ruling};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{Stop, Transcript};
use crate::protocols::asking::{RetryRule, pending_asks};
use crate::protocols::council::failures;
use crate::protocols::step::{EntryDraft, EntryPart, Step};

/// The next step.
pub(super) fn next(transcript: &Transcript) -> Step {
    let Some(gate) = transcript.gate() else { return Step::Finish };
    if transcript.ruling.is_some() {
        return Step::Finish;
    }
    let first = first_round(transcript, gate);
    first
        .or_else(|| second_round(transcript, gate))
        .unwrap_or_else(|| adjudicated(transcript, gate))
}

/// Every deliberator judges alone.
fn first_round(transcript: &Transcript, gate: &GatePlan) -> Option<Step> {
    if transcript.is_held(FIRST) {
        return None;
    }
    let asking =
        pending_asks(transcript, FIRST, Purpose::Judgement, RetryRule::Unparsed, seats(gate));
    asking.or_else(|| Some(too_few(transcript).map_or_else(|| hold(transcript, FIRST), Step::Stop)))
}

/// Stops the review if fewer deliberators answered than the policy needs. Otherwise a deliberator
/// that failed in the first round may still answer in the second.
fn too_few(transcript: &Transcript) -> Option<Stop> {
    let needed = transcript.gate()?.policy.min_deliberators;
    let counted = arithmetic(transcript)?;
    let is_too_few = counted.computed.is_none();
    is_too_few.then_some(Stop::Quorum { round: FIRST, heard: counted.present, needed })
}

/// Every deliberator judges again and sees the judgements of the others. A deliberator that would
/// see only its own is not asked.
fn second_round(transcript: &Transcript, gate: &GatePlan) -> Option<Step> {
    if transcript.is_held(SECOND) {
        return None;
    }
    let positions = positions(transcript);
    let spoke = |position: &&Position<'_>| position.first.held().is_some();
    let heard: Vec<&ExpertSlug> = positions.iter().filter(spoke).map(|one| one.seat).collect();
    let readers = seats(gate).filter(|seat| heard.iter().any(|other| other != seat));
    let asking =
        pending_asks(transcript, SECOND, Purpose::CrossReading, RetryRule::Unparsed, readers);
    Some(asking.unwrap_or_else(|| hold(transcript, SECOND)))
}

/// The adjudicator decides; the policy limits its decision.
fn adjudicated(transcript: &Transcript, gate: &GatePlan) -> Step {
    let seat = &gate.adjudicator;
    let asking =
        pending_asks(transcript, ADJUDICATION, Purpose::Adjudication, RetryRule::All, [seat]);
    if let Some(step) = asking {
        return step;
    }
    ruling(transcript).map_or_else(
        || {
            let failed = failures(transcript, ADJUDICATION).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(Stop::Unadjudicated { seat: seat.clone(), reason })
        },
        |ruling| rule(transcript, ruling),
    )
}

/// Registers what a round found.
fn hold(transcript: &Transcript, round: u8) -> Step {
    Step::Append(vec![EntryDraft::round(round_batch(transcript, round))])
}

/// Records the outcome with its verdict and its line of the log, which ends the review.
fn rule(transcript: &Transcript, ruling: Ruling) -> Step {
    let verdict = ruling_verdict(transcript, &ruling).map(Box::new);
    let verdict = verdict.map(|request| EntryPart::Verdict { request, sets_status: true });
    let line = row(transcript, Outcome::Ruled(&ruling), transcript.last_entry_at);
    let ruled = EntryPart::change(Change::Ruled(Box::new(ruling)));
    let line = line.map(|line| EntryPart::LogLine(Box::new(line)));
    let parts = verdict.into_iter().chain([ruled]).chain(line).chain([EntryPart::done()]);
    Step::Append(vec![EntryDraft::new(EntryKind::VerdictRegistered, parts)])
}

fn ruling(transcript: &Transcript) -> Option<Ruling> {
    let (arithmetic, word) = (arithmetic(transcript)?, adjudication(transcript)?);
    Some(Ruling { verdict: arithmetic.with(word)?, arithmetic, adjudication: word.clone() })
}

fn seats(gate: &GatePlan) -> impl Iterator<Item = &ExpertSlug> {
    gate.deliberators.iter().map(|deliberator| &deliberator.seat)
}
