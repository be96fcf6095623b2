//! The protocol itself: the transcript so far, and so the next step.

use super::positions::{
    ADJUDICATION, FIRST, Position, SECOND, adjudication, arithmetic, positions,
};
use crate::domain::ask::Purpose;
use crate::domain::gate::{GatePlan, Ruling};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{Stop, Transcript};
use crate::protocols::asking::ask;
use crate::protocols::council::failures;
use crate::protocols::step::Step;

/// What the engine must do next.
pub fn next(transcript: &Transcript) -> Step {
    let Some(gate) = transcript.gate() else { return Step::Stop(Stop::Done) };
    if transcript.ruling.is_some() {
        return Step::Stop(Stop::Done);
    }
    let first = first_round(transcript, gate);
    first
        .or_else(|| second_round(transcript, gate))
        .unwrap_or_else(|| adjudicated(transcript, gate))
}

/// Everybody judges, alone.
fn first_round(transcript: &Transcript, gate: &GatePlan) -> Option<Step> {
    if transcript.is_held(FIRST) {
        return None;
    }
    let asking = ask(transcript, FIRST, Purpose::Judgement, seats(gate));
    asking.or_else(|| Some(too_few(transcript).map_or(Step::Hold(FIRST), Step::Stop)))
}

/// Whoever was absent from the first round may still be heard in the second; but below the
/// policy's number it is not worth asking, and nothing is decided.
fn too_few(transcript: &Transcript) -> Option<Stop> {
    let needed = transcript.gate()?.policy.min_deliberators;
    let counted = arithmetic(transcript)?;
    let is_too_few = counted.computed.is_none();
    is_too_few.then_some(Stop::Quorum { round: FIRST, heard: counted.present, needed })
}

/// Everybody judges again, with the others' judgements at hand. Whoever has none but their own
/// before them has nothing to read.
fn second_round(transcript: &Transcript, gate: &GatePlan) -> Option<Step> {
    if transcript.is_held(SECOND) {
        return None;
    }
    let positions = positions(transcript);
    let spoke = |position: &&Position<'_>| position.first.held().is_some();
    let heard: Vec<&ExpertSlug> = positions.iter().filter(spoke).map(|one| one.seat).collect();
    let readers = seats(gate).filter(|seat| heard.iter().any(|other| other != seat));
    let asking = ask(transcript, SECOND, Purpose::CrossReading, readers);
    Some(asking.unwrap_or(Step::Hold(SECOND)))
}

/// One merges what was held; the policy counts all the same.
fn adjudicated(transcript: &Transcript, gate: &GatePlan) -> Step {
    let seat = &gate.adjudicator;
    let asking = ask(transcript, ADJUDICATION, Purpose::Adjudication, std::iter::once(seat));
    if let Some(step) = asking {
        return step;
    }
    ruling(transcript).map_or_else(
        || {
            let failed = failures(transcript, ADJUDICATION).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(Stop::Unadjudicated { seat: seat.clone(), reason })
        },
        |ruling| Step::Rule(Box::new(ruling)),
    )
}

fn ruling(transcript: &Transcript) -> Option<Ruling> {
    let (arithmetic, word) = (arithmetic(transcript)?, adjudication(transcript)?);
    Some(Ruling { verdict: arithmetic.with(word)?, arithmetic, adjudication: word.clone() })
}

fn seats(gate: &GatePlan) -> impl Iterator<Item = &ExpertSlug> {
    gate.deliberators.iter().map(|deliberator| &deliberator.seat)
}
