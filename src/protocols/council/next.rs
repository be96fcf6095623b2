//! The protocol itself: the transcript so far, and so the next step.

use super::agreement;
use super::deliver::{from_best_opinion, from_chair};
use super::voices::{failures, opinions, reviews};
use crate::domain::ask::Purpose;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Delivery, SkipSynthesis};
use crate::domain::transcript::{Shortage, Shortcut, Stop, Transcript};
use crate::protocols::asking::ask;
use crate::protocols::step::Step;

/// What the engine must do next; nothing, when the rounds are over.
pub fn next(transcript: &Transcript) -> Option<Step> {
    if transcript.report.is_some() || transcript.participants.is_some() {
        return None;
    }
    if transcript.is_cut_short {
        return cut_short(transcript);
    }
    let first = first_round(transcript);
    let second = || second_round(transcript);
    first.or_else(second).or_else(|| Some(third_round(transcript)))
}

/// What was heard by then enters the record, and nobody else is asked.
fn cut_short(transcript: &Transcript) -> Option<Step> {
    if !transcript.is_held(1) {
        return Some(too_few(transcript).map_or(Step::Hold(1), Step::Stop));
    }
    let ends_here = transcript.plan.conclusion.is_none();
    if !transcript.is_held(2) && (ends_here || !reviews(transcript).is_empty()) {
        return Some(Step::Hold(2));
    }
    let written = transcript.plan.chairs.iter().find_map(|chair| from_chair(transcript, chair));
    match written {
        Some(report) => Some(Step::Deliver(Box::new(report))),
        None => ends_here.then(|| stand_in(transcript)),
    }
}

/// Everybody answers, alone.
fn first_round(transcript: &Transcript) -> Option<Step> {
    if transcript.is_held(1) {
        return None;
    }
    let seats = transcript.plan.participants().map(|seat| &seat.name);
    if let Some(step) = ask(transcript, 1, Purpose::Opinion, seats) {
        return Some(step);
    }
    let stop = partial(transcript, 1).or_else(|| too_few(transcript));
    Some(stop.map_or(Step::Hold(1), Step::Stop))
}

/// Whether fewer gave an opinion than it takes, or all of too few families.
fn too_few(transcript: &Transcript) -> Option<Stop> {
    let quorum = transcript.plan.quorum;
    let (heard, needed) = (opinions(transcript).len(), quorum.r1_min);
    if heard < needed {
        return Some(Stop::Quorum { round: 1, heard, needed });
    }
    let (heard, needed) = (agreement::families(transcript), quorum.families_min);
    (heard < needed).then_some(Stop::Families { heard, needed })
}

/// Everybody reviews the others; those who failed in the first round too.
fn second_round(transcript: &Transcript) -> Option<Step> {
    if transcript.is_held(2) {
        return None;
    }
    let shortcut = agreement::skip_review(transcript);
    if let Some(step) = shortcut.as_ref().and_then(|shortcut| unnoted(transcript, shortcut)) {
        return Some(step);
    }
    if shortcut.is_some_and(|shortcut| shortcut.is_taken()) {
        return Some(Step::Hold(2));
    }
    let spoke: Vec<&ExpertSlug> = opinions(transcript).iter().map(|voice| voice.seat).collect();
    // Whoever has nothing but an opinion of their own before them has nothing to review.
    let seats = transcript.plan.participants().map(|seat| &seat.name);
    let seats = seats.filter(|name| spoke.iter().any(|other| other != name));
    if let Some(step) = ask(transcript, 2, Purpose::Review, seats) {
        return Some(step);
    }
    let (heard, needed) = (reviews(transcript).len(), transcript.plan.quorum.r2_min);
    if let Some(stop) = partial(transcript, 2) {
        return Some(Step::Stop(stop));
    }
    if heard < needed {
        return Some(Step::Stop(Stop::Quorum { round: 2, heard, needed }));
    }
    Some(Step::Hold(2))
}

/// The chair synthesises; another chair, or the best opinion, stands in.
fn third_round(transcript: &Transcript) -> Step {
    if let Some(step) = agreement::shadow_of_review(transcript) {
        return Step::Weigh(step);
    }
    if transcript.plan.delivery == Delivery::Selection {
        return stand_in(transcript);
    }
    let shortcut = agreement::skip_synthesis(transcript);
    if let Some(step) = shortcut.as_ref().and_then(|shortcut| unnoted(transcript, shortcut)) {
        return step;
    }
    if shortcut.is_some_and(|shortcut| shortcut.is_taken()) {
        return stand_in(transcript);
    }
    for chair in &transcript.plan.chairs {
        match ask(transcript, 3, Purpose::Synthesis, std::iter::once(chair)) {
            Some(Step::Stop(Stop::Budget { shortage })) => {
                return starved_of_chair(transcript, shortage);
            }
            Some(step) => return step,
            None => {}
        }
        if let Some(report) = from_chair(transcript, chair) {
            return agreement::shadow_of_synthesis(transcript, &report)
                .map_or_else(|| Step::Deliver(Box::new(report)), Step::Weigh);
        }
        if let Some(stop) = partial(transcript, 3) {
            return Step::Stop(stop);
        }
    }
    stand_in(transcript)
}

/// The best opinion, in place of a synthesis.
fn stand_in(transcript: &Transcript) -> Step {
    let nobody = Stop::Quorum { round: 1, heard: 0, needed: 1 };
    from_best_opinion(transcript)
        .map_or(Step::Stop(nobody), |report| Step::Deliver(Box::new(report)))
}

/// A shortcut that is not in the record yet is noted first.
fn unnoted(transcript: &Transcript, shortcut: &Shortcut) -> Option<Step> {
    let known = transcript.shortcuts.iter().any(|known| known.round == shortcut.round);
    (!known).then(|| Step::Weigh(shortcut.clone()))
}

/// Where the configuration allows it, a synthesis that cannot be paid for is done without.
fn starved_of_chair(transcript: &Transcript, shortage: Shortage) -> Step {
    let rules = &transcript.plan.short_circuit;
    let may_skip =
        rules.enabled && !rules.shadow && rules.skip_r3_if.contains(&SkipSynthesis::Budget);
    match (may_skip, transcript.plan.quorum.r3_required) {
        (true, _) => Step::Weigh(agreement::out_of_budget(shortage)),
        (false, true) => Step::Stop(Stop::Budget { shortage }),
        (false, false) => stand_in(transcript),
    }
}

/// `allow_partial: false`: one absence ends the run.
fn partial(transcript: &Transcript, round: u8) -> Option<Stop> {
    let failed = failures(transcript, round).into_iter().next()?;
    let tolerated = transcript.plan.quorum.allow_partial;
    (!tolerated).then_some(Stop::Partial { round, seat: failed.provider })
}
