//! The steps of a dialogue that the built-in Judge leads: a pure function of the run state.
//!
//! Design, then for each round: panel, experts, reconciliation, registration. Code decides after
//! each round whether the dialogue ends; then the Judge gives the verdicts, once.

use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::PanelSeat;
use crate::model::ids::ExpertSlug;
use crate::model::journal::{JournalEntryKind, JournalEvent};
use crate::model::limits::LINE_CHARS_MAX;
use crate::model::run_state::{ReplyDocument, RunState, RunStopReason};
use crate::model::text::{to_one_line, trim_and_truncate};
use crate::protocols::alignment::answers::{
    JudgeAnswer, REPEAT_REASON, judge_answer, judged_run, list_heard, list_silent,
};
use crate::protocols::alignment::calibrate::calibrate_step;
use crate::protocols::alignment::design::{designed_dialogue, planned_dialogue};
use crate::protocols::alignment::ending::{DialogueEnding, decide_ending, find_shortage};
use crate::protocols::alignment::evolve_panel::evolve_panel;
use crate::protocols::alignment::reconcile::{check_reconciliation, salvage_scores};
use crate::protocols::alignment::to_entities::{build_batch, build_unmerged_batch};
use crate::protocols::alignment::types::{AlignmentPlan, PANEL_MIN};
use crate::protocols::alignment::verdicts::{check_verdicts, verdict_parts};
use crate::protocols::pending_asks::{RetryRule, pending_asks};
use crate::protocols::protocol::{EntryDraft, EntryPart, Step};

/// The next step; none once the final verdict is given, or for a record without a Judge's plan.
pub(crate) fn next_step(state: &RunState) -> Option<Step> {
    let (_, judged) = judged_run(state)?;
    if judged.final_verdict().is_some() || state.participants.is_some() {
        return None;
    }
    Some(match decide_ending(state) {
        Some(ending) if judged.last_round().is_some() => verdict_step(state, ending),
        Some(_) => stop_without_round(state),
        None if !judged.is_designed => design_step(state),
        None => calibrate_step(state).unwrap_or_else(|| round_step(state, judged.next_round())),
    })
}

/// Without a registered round there is nothing to decide on.
fn stop_without_round(state: &RunState) -> Step {
    Step::Stop(match find_shortage(state) {
        Some(shortage) if !state.is_cut_short => RunStopReason::Budget { shortage },
        Some(_) | None => RunStopReason::Stopped,
    })
}

/// The Judge designs the pool, unless the caller gave one.
fn design_step(state: &RunState) -> Step {
    let Some((plan, _)) = judged_run(state) else { return Step::Finish };
    if let Some(pool) = &plan.pool {
        return record_design(planned_dialogue(state, plan, pool));
    }
    let design = judge_answer(state, 0, AskPurpose::Design, |document| {
        let ReplyDocument::Design(design) = document else {
            return Err("the reply is no design".to_owned());
        };
        Ok(design)
    });
    match design {
        JudgeAnswer::Pending(step) => step,
        JudgeAnswer::Failed(stop) => Step::Stop(stop),
        JudgeAnswer::Usable { value, .. } => record_design(designed_dialogue(state, plan, value)),
        JudgeAnswer::Unusable { fault, .. } => Step::Stop(unjudged(plan, "design", &fault)),
    }
}

fn record_design(changes: Vec<JournalEvent>) -> Step {
    let parts = changes.into_iter().map(EntryPart::from_change);
    Step::Append(vec![EntryDraft::new(JournalEntryKind::DialogueDesigned, parts)])
}

fn round_step(state: &RunState, round: u8) -> Step {
    let Some((plan, judged)) = judged_run(state) else { return Step::Finish };
    if judged.panel_of(round).is_empty() {
        return panel_step(state, round, &plan.judge);
    }
    expert_step(state, round, judged.panel_of(round))
        .unwrap_or_else(|| reconcile_step(state, round))
}

/// The Judge proposes the panel, code completes it. Without a usable proposal code decides alone.
fn panel_step(state: &RunState, round: u8, judge: &ExpertSlug) -> Step {
    let asked = pending_asks(state, round, AskPurpose::Panel, RetryRule::All, [judge]);
    if let Some(step) = asked {
        return step;
    }
    let answer = state.last_ask_for(round, judge, AskPurpose::Panel);
    let reply = answer.and_then(|asked| {
        let ReplyDocument::Panel(reply) = asked.parsed_document()? else { return None };
        Some(reply.as_ref())
    });
    let parts = evolve_panel(state, round, reply).into_iter().map(EntryPart::from_change);
    Step::Append(vec![EntryDraft::new(JournalEntryKind::PanelEvolved, parts)])
}

/// All experts answer concurrently. With too few answers the round is repeated once.
fn expert_step(state: &RunState, round: u8, panel: &[PanelSeat]) -> Option<Step> {
    let seats = panel.iter().map(|seat| &seat.expert_slug);
    let asked = pending_asks(state, round, AskPurpose::Contribution, RetryRule::Unparsed, seats);
    if asked.is_some() {
        return asked;
    }
    let (heard, needed) = (list_heard(state, round).len(), PANEL_MIN);
    if heard >= needed {
        return None;
    }
    let is_repeat = |ask: &Ask| ask.retry_reason.as_deref() == Some(REPEAT_REASON);
    let mut asks = state.asks_in_round(round).filter(|asked| !asked.retired);
    if asks.any(|asked| is_repeat(&asked.ask)) {
        return Some(Step::Stop(RunStopReason::Quorum { round, heard, needed }));
    }
    let ids = state.next_ask_id()..;
    let repeated = ids.zip(list_silent(state, round)).map(|(id, seat)| Ask {
        id,
        round,
        seat,
        purpose: AskPurpose::Contribution,
        retry_reason: Some(REPEAT_REASON.to_owned()),
    });
    Some(Step::Ask(repeated.collect()))
}

/// The Judge merges, settles and scores; then one batch registers the round. What the record
/// refuses goes back to the Judge; if the Judge cannot fix it, the batch goes without the Judge's
/// part.
fn reconcile_step(state: &RunState, round: u8) -> Step {
    let heard = list_heard(state, round);
    let answer = judge_answer(state, round, AskPurpose::Reconciliation, |document| {
        let ReplyDocument::Reconciliation(reply) = document else {
            return Err("the reply is no reconciliation".to_owned());
        };
        check_reconciliation(state, &heard, reply)
    });
    match answer {
        JudgeAnswer::Pending(step) => step,
        JudgeAnswer::Failed(stop) => Step::Stop(stop),
        JudgeAnswer::Usable { ask, value } => match build_batch(state, round, heard, &value) {
            Ok(batch) => Step::Append(vec![EntryDraft::for_round(batch).refusable_by(ask)]),
            Err(faults) => {
                let refused = JournalEvent::BatchRefused { ask, reason: faults.summary_message() };
                let parts = [EntryPart::from_change(refused)];
                Step::Append(vec![EntryDraft::new(JournalEntryKind::BatchRefused, parts)])
            }
        },
        JudgeAnswer::Unusable { document, fault } => {
            let scores = match document {
                Some(ReplyDocument::Reconciliation(reply)) => salvage_scores(state, &heard, reply),
                _ => Vec::new(),
            };
            match build_unmerged_batch(state, round, heard, &scores, &fault) {
                Ok(batch) => Step::Append(vec![EntryDraft::for_round(batch)]),
                Err(_) => Step::Stop(RunStopReason::Interrupted),
            }
        }
    }
}

/// The Judge gives the verdicts. Ids that are not in the record are refused; if the Judge insists,
/// they are left out.
fn verdict_step(state: &RunState, ending: DialogueEnding) -> Step {
    let Some((plan, judged)) = judged_run(state) else { return Step::Finish };
    let round = judged.last_round().unwrap_or_default();
    let answer = judge_answer(state, round, AskPurpose::Verdicts, |document| {
        let ReplyDocument::Verdicts(reply) = document else {
            return Err("the reply has no verdicts".to_owned());
        };
        check_verdicts(state, reply).map(|()| reply)
    });
    let (ask, reply) = match answer {
        JudgeAnswer::Pending(step) => return step,
        JudgeAnswer::Failed(stop) => return Step::Stop(stop),
        JudgeAnswer::Usable { ask, value } => (ask, value),
        JudgeAnswer::Unusable { document: Some(ReplyDocument::Verdicts(reply)), fault } => {
            let asked = state.last_ask_for(round, &plan.judge, AskPurpose::Verdicts);
            // What the Judge may not name is left out; what the record refuses even then ends it.
            match asked.filter(|asked| !judged.refusals.contains_key(&asked.ask.id)) {
                Some(asked) => (asked.ask.id, reply),
                None => return Step::Stop(unjudged(plan, "verdict", &fault)),
            }
        }
        JudgeAnswer::Unusable { fault, .. } => {
            return Step::Stop(unjudged(plan, "verdict", &fault));
        }
    };
    let is_the_end = state.plan.conclusion.is_none();
    let parts = verdict_parts(state, ending, reply);
    let parts = parts.into_iter().chain(is_the_end.then(EntryPart::run_done));
    let entry = EntryDraft::new(JournalEntryKind::VerdictRegistered, parts);
    Step::Append(vec![entry.refusable_by(ask)])
}

fn unjudged(plan: &AlignmentPlan, what: &str, fault: &str) -> RunStopReason {
    let fault = trim_and_truncate(&to_one_line(fault), LINE_CHARS_MAX);
    let reason = format!("the Judge gave no usable {what}: {fault}");
    RunStopReason::Unjudged { seat: plan.judge.clone(), reason }
}
