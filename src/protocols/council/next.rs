//! The steps of a council's rounds: a pure function of the run state.

use super::agreement;
use super::deliver::{from_best_opinion, from_chair};
use super::enter::{report_verdict, round_batch};
use super::voices::{failures, opinions, reviews};
use crate::domain::ask::Purpose;
use crate::domain::change::{Change, EntryKind};
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Delivery, SkipSynthesis};
use crate::domain::transcript::{Shortage, Shortcut, Stop, Transcript};
use crate::protocols::asking::{RetryRule, pending_asks};
use crate::protocols::step::{EntryDraft, EntryPart, Step};

/// The next step; none if the rounds are over.
pub(super) fn next(transcript: &Transcript) -> Option<Step> {
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

/// Records the replies so far and asks no other seat.
fn cut_short(transcript: &Transcript) -> Option<Step> {
    if !transcript.is_held(1) {
        return Some(too_few(transcript).map_or_else(|| hold(transcript, 1), Step::Stop));
    }
    let ends_here = transcript.plan.conclusion.is_none();
    if !transcript.is_held(2) && (ends_here || !reviews(transcript).is_empty()) {
        return Some(hold(transcript, 2));
    }
    let written = transcript.plan.chairs.iter().find_map(|chair| from_chair(transcript, chair));
    match written {
        Some(report) => Some(deliver(transcript, report)),
        None => ends_here.then(|| stand_in(transcript)),
    }
}

/// Every seat answers alone.
fn first_round(transcript: &Transcript) -> Option<Step> {
    if transcript.is_held(1) {
        return None;
    }
    let seats = transcript.plan.participants().map(|seat| &seat.name);
    if let Some(step) = pending_asks(transcript, 1, Purpose::Opinion, RetryRule::Unparsed, seats) {
        return Some(step);
    }
    let stop = partial(transcript, 1).or_else(|| too_few(transcript));
    Some(stop.map_or_else(|| hold(transcript, 1), Step::Stop))
}

/// Stops the run if too few seats, or seats of too few families, gave an opinion.
fn too_few(transcript: &Transcript) -> Option<Stop> {
    let quorum = transcript.plan.quorum;
    let (heard, needed) = (opinions(transcript).len(), quorum.r1_min);
    if heard < needed {
        return Some(Stop::Quorum { round: 1, heard, needed });
    }
    let (heard, needed) = (agreement::families(transcript), quorum.families_min);
    (heard < needed).then_some(Stop::Families { heard, needed })
}

/// Every seat reviews the others, including seats that failed in the first round.
fn second_round(transcript: &Transcript) -> Option<Step> {
    if transcript.is_held(2) {
        return None;
    }
    let shortcut = agreement::skip_review(transcript);
    if let Some(step) = shortcut.as_ref().and_then(|shortcut| unnoted(transcript, shortcut)) {
        return Some(step);
    }
    if shortcut.is_some_and(|shortcut| shortcut.is_taken()) {
        return Some(hold(transcript, 2));
    }
    let spoke: Vec<&ExpertSlug> = opinions(transcript).iter().map(|voice| voice.seat).collect();
    // A seat that would see no opinion but its own has nothing to review.
    let seats = transcript.plan.participants().map(|seat| &seat.name);
    let seats = seats.filter(|name| spoke.iter().any(|other| other != name));
    if let Some(step) = pending_asks(transcript, 2, Purpose::Review, RetryRule::Unparsed, seats) {
        return Some(step);
    }
    let (heard, needed) = (reviews(transcript).len(), transcript.plan.quorum.r2_min);
    if let Some(stop) = partial(transcript, 2) {
        return Some(Step::Stop(stop));
    }
    if heard < needed {
        return Some(Step::Stop(Stop::Quorum { round: 2, heard, needed }));
    }
    Some(hold(transcript, 2))
}

/// The chair writes the report; if it fails, the next chair does, then the best opinion is used.
fn third_round(transcript: &Transcript) -> Step {
    if let Some(step) = agreement::shadow_of_review(transcript) {
        return weigh(step);
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
        match pending_asks(
            transcript,
            3,
            Purpose::Synthesis,
            RetryRule::Unparsed,
            std::iter::once(chair),
        ) {
            Some(Step::Stop(Stop::Budget { shortage })) => {
                return starved_of_chair(transcript, shortage);
            }
            Some(step) => return step,
            None => {}
        }
        if let Some(report) = from_chair(transcript, chair) {
            return agreement::shadow_of_synthesis(transcript, &report)
                .map_or_else(|| deliver(transcript, report), weigh);
        }
        if let Some(stop) = partial(transcript, 3) {
            return Step::Stop(stop);
        }
    }
    stand_in(transcript)
}

/// Delivers the best opinion in place of a report.
fn stand_in(transcript: &Transcript) -> Step {
    let nobody = Stop::Quorum { round: 1, heard: 0, needed: 1 };
    from_best_opinion(transcript).map_or(Step::Stop(nobody), |report| deliver(transcript, report))
}

/// Records a shortcut before it takes effect.
fn unnoted(transcript: &Transcript, shortcut: &Shortcut) -> Option<Step> {
    let known = transcript.shortcuts.iter().any(|known| known.round == shortcut.round);
    (!known).then(|| weigh(shortcut.clone()))
}

/// Continues without a report that the budget does not cover, if the settings allow it.
fn starved_of_chair(transcript: &Transcript, shortage: Shortage) -> Step {
    let rules = &transcript.plan.short_circuit;
    let may_skip =
        rules.enabled && !rules.shadow && rules.skip_r3_if.contains(&SkipSynthesis::Budget);
    match (may_skip, transcript.plan.quorum.r3_required) {
        (true, _) => weigh(agreement::out_of_budget(shortage)),
        (false, true) => Step::Stop(Stop::Budget { shortage }),
        (false, false) => stand_in(transcript),
    }
}

/// Registers what a round found.
fn hold(transcript: &Transcript, round: u8) -> Step {
    Step::Append(vec![EntryDraft::round(round_batch(transcript, round))])
}

/// Records whether a round is skipped.
fn weigh(shortcut: Shortcut) -> Step {
    let change = EntryPart::change(Change::ShortcutWeighed(shortcut));
    Step::Append(vec![EntryDraft::new(EntryKind::ShortcutWeighed, [change])])
}

/// Records the report with its round and its verdict, which ends the rounds. Without a conclusion
/// it ends the run; with one, the conclusion says whether the dialogue converged.
fn deliver(transcript: &Transcript, report: CouncilFinalReport) -> Step {
    let is_the_end = transcript.plan.conclusion.is_none();
    let verdict = report_verdict(transcript, &report).map(Box::new);
    let verdict = verdict.map(|request| EntryPart::Verdict { request, sets_status: is_the_end });
    let report = EntryPart::change(Change::ReportGiven(Box::new(report)));
    let parts = verdict.into_iter().chain([report]).chain(is_the_end.then(EntryPart::done));
    Step::Append(vec![
        EntryDraft::round(round_batch(transcript, 3)),
        EntryDraft::new(EntryKind::VerdictRegistered, parts),
    ])
}

/// `allow_partial: false`: one failed seat ends the run.
fn partial(transcript: &Transcript, round: u8) -> Option<Stop> {
    let failed = failures(transcript, round).into_iter().next()?;
    let tolerated = transcript.plan.quorum.allow_partial;
    (!tolerated).then_some(Stop::Partial { round, seat: failed.provider })
}
