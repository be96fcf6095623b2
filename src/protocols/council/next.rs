//! The protocol itself: the transcript so far, and so the next step.

use super::agreement;
use super::deliver::{from_best_opinion, from_chair};
use super::voices::{failures, opinions, reviews};
use crate::domain::ask::{Ask, Purpose};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Delivery, SkipSynthesis};
use crate::domain::transcript::{Asked, Reading, Shortage, Shortcut, Stop, Transcript};
use crate::protocols::step::Step;

/// What the engine must do next.
pub fn next(transcript: &Transcript) -> Step {
    let first = first_round(transcript);
    let second = || second_round(transcript);
    first.or_else(second).unwrap_or_else(|| third_round(transcript))
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
    let quorum = transcript.plan.quorum;
    let (heard, needed) = (opinions(transcript).len(), quorum.r1_min);
    if let Some(stop) = partial(transcript, 1) {
        return Some(Step::Stop(stop));
    }
    if heard < needed {
        return Some(Step::Stop(Stop::Quorum { round: 1, heard, needed }));
    }
    let families = agreement::families(transcript);
    if families < quorum.families_min {
        return Some(Step::Stop(Stop::Families { heard: families, needed: quorum.families_min }));
    }
    Some(Step::Hold(1))
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
    if transcript.report.is_some() {
        return Step::Stop(Stop::Done);
    }
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

/// Where one seat's part in a round stands.
enum Standing<'a> {
    Unasked,
    Open(&'a Asked),
    /// A reply that could not be read gets one stricter ask.
    AskStricter(String),
    Starved(Shortage),
    Settled,
}

/// Asks those who still have something to say in a round; nothing, when all is settled.
fn ask<'a>(
    transcript: &Transcript,
    round: u8,
    purpose: Purpose,
    seats: impl Iterator<Item = &'a ExpertSlug>,
) -> Option<Step> {
    let (mut asks, mut shortage) = (Vec::new(), None);
    let mut id = transcript.next_ask_id();
    for seat in seats {
        let stricter = match standing(transcript.last_ask(round, seat)) {
            Standing::Settled => continue,
            Standing::Starved(of) => {
                shortage = Some(of);
                continue;
            }
            Standing::Open(asked) => {
                asks.push(asked.ask.clone());
                continue;
            }
            Standing::Unasked => None,
            Standing::AskStricter(reason) => Some(reason),
        };
        asks.push(Ask { id, round, seat: seat.clone(), purpose, stricter });
        id += 1;
    }
    match (asks.is_empty(), shortage) {
        (false, _) => Some(Step::Ask(asks)),
        (true, Some(shortage)) => Some(Step::Stop(Stop::Budget { shortage })),
        (true, None) => None,
    }
}

fn standing(last: Option<&Asked>) -> Standing<'_> {
    let Some(asked) = last else { return Standing::Unasked };
    match &asked.reading {
        Some(Reading::Read { .. }) => return Standing::Settled,
        Some(Reading::Unreadable { reason, refusal: false }) if asked.ask.stricter.is_none() => {
            return Standing::AskStricter(reason.clone());
        }
        Some(Reading::Unreadable { .. }) => return Standing::Settled,
        None => {}
    }
    match asked.not_sent {
        _ if asked.gave_up => Standing::Settled,
        Some(shortage) => Standing::Starved(shortage),
        None => Standing::Open(asked),
    }
}
