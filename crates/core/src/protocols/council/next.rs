//! The steps of a council's rounds: a pure function of the run state.

use crate::model::ask::AskPurpose;
use crate::model::ids::ExpertSlug;
use crate::model::journal::{JournalEntryKind, JournalEvent};
use crate::model::plan::{DeliveryMode, SkipSynthesisRule};
use crate::model::run_state::{BudgetShortage, RoundShortcut, RunState, RunStopReason};
use crate::protocols::council::answers::{list_failures, list_opinions, list_peer_reviews};
use crate::protocols::council::final_report::{report_from_best_opinion, report_from_chair};
use crate::protocols::council::report_types::CouncilFinalReport;
use crate::protocols::council::shortcuts::{
    count_families, out_of_budget, shadow_of_review, shadow_of_synthesis, skip_review,
    skip_synthesis,
};
use crate::protocols::council::to_entities::{report_verdict, round_batch};
use crate::protocols::pending_asks::{RetryRule, pending_asks};
use crate::protocols::protocol::{EntryDraft, EntryPart, Step};

/// The next step; none if the rounds are over.
pub(crate) fn next_step(state: &RunState) -> Option<Step> {
    if state.report.is_some() || state.participants.is_some() {
        return None;
    }
    if state.is_cut_short {
        return cut_short(state);
    }
    let first = first_round(state);
    let second = || second_round(state);
    first.or_else(second).or_else(|| Some(third_round(state)))
}

/// Records the replies so far and asks no other seat.
fn cut_short(state: &RunState) -> Option<Step> {
    if !state.is_round_recorded(1) {
        return Some(stop_if_too_few(state).map_or_else(|| record_round(state, 1), Step::Stop));
    }
    let ends_here = state.plan.conclusion.is_none();
    if !state.is_round_recorded(2) && (ends_here || !list_peer_reviews(state).is_empty()) {
        return Some(record_round(state, 2));
    }
    let written = state.plan.chairs.iter().find_map(|chair| report_from_chair(state, chair));
    match written {
        Some(report) => Some(record_report(state, report)),
        None => ends_here.then(|| deliver_best_opinion(state)),
    }
}

/// Every seat answers alone.
fn first_round(state: &RunState) -> Option<Step> {
    if state.is_round_recorded(1) {
        return None;
    }
    let seats = state.plan.participant_seats().map(|seat| &seat.name);
    if let Some(step) = pending_asks(state, 1, AskPurpose::Opinion, RetryRule::Unparsed, seats) {
        return Some(step);
    }
    let stop = stop_if_partial(state, 1).or_else(|| stop_if_too_few(state));
    Some(stop.map_or_else(|| record_round(state, 1), Step::Stop))
}

/// Stops the run if too few seats, or seats of too few families, gave an opinion.
fn stop_if_too_few(state: &RunState) -> Option<RunStopReason> {
    let quorum = state.plan.quorum;
    let (heard, needed) = (list_opinions(state).len(), quorum.r1_min);
    if heard < needed {
        return Some(RunStopReason::Quorum { round: 1, heard, needed });
    }
    let (heard, needed) = (count_families(state), quorum.families_min);
    (heard < needed).then_some(RunStopReason::Families { heard, needed })
}

/// Every seat reviews the others, including seats that failed in the first round.
fn second_round(state: &RunState) -> Option<Step> {
    if state.is_round_recorded(2) {
        return None;
    }
    let shortcut = skip_review(state);
    if let Some(step) = shortcut.as_ref().and_then(|shortcut| record_if_new(state, shortcut)) {
        return Some(step);
    }
    if shortcut.is_some_and(|shortcut| shortcut.is_taken()) {
        return Some(record_round(state, 2));
    }
    let spoke: Vec<&ExpertSlug> = list_opinions(state).iter().map(|voice| voice.seat).collect();
    // A seat that would see no opinion but its own has nothing to review.
    let seats = state.plan.participant_seats().map(|seat| &seat.name);
    let reviewers: Vec<&ExpertSlug> =
        seats.filter(|name| spoke.iter().any(|other| other != name)).collect();
    // A panel of one seat has no reviewer, so it needs no review.
    let needed = state.plan.quorum.r2_min.min(reviewers.len());
    if let Some(step) =
        pending_asks(state, 2, AskPurpose::PeerReview, RetryRule::Unparsed, reviewers)
    {
        return Some(step);
    }
    let heard = list_peer_reviews(state).len();
    if let Some(stop) = stop_if_partial(state, 2) {
        return Some(Step::Stop(stop));
    }
    if heard < needed {
        return Some(Step::Stop(RunStopReason::Quorum { round: 2, heard, needed }));
    }
    Some(record_round(state, 2))
}

/// The chair writes the report; if it fails, the next chair does, then the best opinion is used.
fn third_round(state: &RunState) -> Step {
    if let Some(step) = shadow_of_review(state) {
        return record_shortcut(step);
    }
    if state.plan.delivery == DeliveryMode::Selection {
        return deliver_best_opinion(state);
    }
    let shortcut = skip_synthesis(state);
    if let Some(step) = shortcut.as_ref().and_then(|shortcut| record_if_new(state, shortcut)) {
        return step;
    }
    if shortcut.is_some_and(|shortcut| shortcut.is_taken()) {
        return deliver_best_opinion(state);
    }
    for chair in &state.plan.chairs {
        match pending_asks(
            state,
            3,
            AskPurpose::Synthesis,
            RetryRule::Unparsed,
            std::iter::once(chair),
        ) {
            Some(Step::Stop(RunStopReason::Budget { shortage })) => {
                return without_chair_budget(state, shortage);
            }
            Some(step) => return step,
            None => {}
        }
        if let Some(report) = report_from_chair(state, chair) {
            return shadow_of_synthesis(state, &report)
                .map_or_else(|| record_report(state, report), record_shortcut);
        }
        if let Some(stop) = stop_if_partial(state, 3) {
            return Step::Stop(stop);
        }
    }
    deliver_best_opinion(state)
}

/// Delivers the best opinion in place of a report.
fn deliver_best_opinion(state: &RunState) -> Step {
    let no_opinion = RunStopReason::Quorum { round: 1, heard: 0, needed: 1 };
    report_from_best_opinion(state)
        .map_or(Step::Stop(no_opinion), |report| record_report(state, report))
}

/// Records a shortcut before it takes effect.
fn record_if_new(state: &RunState, shortcut: &RoundShortcut) -> Option<Step> {
    let known = state.shortcuts.iter().any(|known| known.round == shortcut.round);
    (!known).then(|| record_shortcut(shortcut.clone()))
}

/// Continues without a report that the budget does not cover, if the settings allow it.
fn without_chair_budget(state: &RunState, shortage: BudgetShortage) -> Step {
    let rules = &state.plan.short_circuit;
    let may_skip =
        rules.enabled && !rules.shadow && rules.skip_r3_if.contains(&SkipSynthesisRule::Budget);
    match (may_skip, state.plan.quorum.r3_required) {
        (true, _) => record_shortcut(out_of_budget(shortage)),
        (false, true) => Step::Stop(RunStopReason::Budget { shortage }),
        (false, false) => deliver_best_opinion(state),
    }
}

/// Registers what a round found.
fn record_round(state: &RunState, round: u8) -> Step {
    Step::Append(vec![EntryDraft::for_round(round_batch(state, round))])
}

/// Records whether a round is skipped.
fn record_shortcut(shortcut: RoundShortcut) -> Step {
    let change = EntryPart::from_change(JournalEvent::ShortcutRecorded(shortcut));
    Step::Append(vec![EntryDraft::new(JournalEntryKind::ShortcutRecorded, [change])])
}

/// Records the report with its round and its verdict, which ends the rounds. Without a conclusion
/// it ends the run; with one, the conclusion says whether the dialogue converged.
fn record_report(state: &RunState, report: CouncilFinalReport) -> Step {
    let is_the_end = state.plan.conclusion.is_none();
    let verdict = report_verdict(state, &report).map(Box::new);
    let verdict = verdict.map(|request| EntryPart::Verdict { request, sets_status: is_the_end });
    let report = EntryPart::from_change(JournalEvent::ReportGiven(Box::new(report)));
    let parts = verdict.into_iter().chain([report]).chain(is_the_end.then(EntryPart::run_done));
    Step::Append(vec![
        EntryDraft::for_round(round_batch(state, 3)),
        EntryDraft::new(JournalEntryKind::VerdictRegistered, parts),
    ])
}

/// `allow_partial: false`: one failed seat ends the run.
fn stop_if_partial(state: &RunState, round: u8) -> Option<RunStopReason> {
    let failed = list_failures(state, round).into_iter().next()?;
    let tolerated = state.plan.quorum.allow_partial;
    (!tolerated).then_some(RunStopReason::Partial { round, seat: failed.provider })
}
