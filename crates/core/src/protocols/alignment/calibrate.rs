//! The ethos of a calibrated dialogue: made after the design, approved by code if no conflict is
//! open, and the calibration figures of a round.

use std::collections::{BTreeMap, BTreeSet};

use crate::ethos::authoring::{number_constraint, plain_constraint};
use crate::ethos::conflict_ask::{FIND_CONFLICTS, proposals_of};
use crate::ethos::conflicts::normalize_text;
use crate::ethos::rule_set::{
    ConstraintSource, DialogueEthos, EthosConstraint, EthosStatus, challenged_rules,
};
use crate::ethos::scoring::{CalibrationMark, CalibrationScore, score_calibration};
use crate::ethos::synthesis::{SynthesisInput, synthesize_ethos};
use crate::model::ask::AskState;
use crate::model::ids::{EntityKind, ExpertSlug};
use crate::model::journal::{JournalEntryKind, JournalEvent};
use crate::model::limits::LINE_CHARS_MAX;
use crate::model::run_state::{ReplyDocument, RunState, RunStopReason};
use crate::model::text::trim_and_truncate;
use crate::protocols::alignment::answers::{HeardReply, judged_run};
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::AlignmentPlan;
use crate::protocols::pending_asks::{RetryRule, pending_asks};
use crate::protocols::protocol::{EntryDraft, EntryPart, Step};

/// Who approves an ethos without open conflicts.
const APPROVER: &str = "automatic";

/// The step that gives a calibrated dialogue its ethos; none if it has one or needs none.
pub(crate) fn calibrate_step(state: &RunState) -> Option<Step> {
    let (plan, judged) = judged_run(state)?;
    plan.calibration.as_ref()?;
    if judged.calibration.approved_ethos().is_some() {
        return None;
    }
    Some(match judged.calibration.versions.last() {
        None => synthesize(state, plan),
        Some(ethos) => approve_or_stop(state, ethos),
    })
}

/// Asks the Judge once for conflicts that code cannot see; then records the constraints and the
/// first version. Without an answer the checks in code hold alone.
fn synthesize(state: &RunState, plan: &AlignmentPlan) -> Step {
    let constraints = list_constraints(state, plan);
    let mut ethos = match draft_ethos(state) {
        Ok(ethos) => ethos,
        // A model cannot repair the rules, so a resume would stop here again.
        Err(fault) => {
            let reason = format!("the rules make no ethos: {fault}");
            return Step::Stop(RunStopReason::Unjudged { seat: plan.judge.clone(), reason });
        }
    };
    if ethos.rules_in_force().count() > 1 {
        let judge = [&plan.judge];
        let asked = pending_asks(state, 0, FIND_CONFLICTS, RetryRule::Unparsed, judge);
        if let Some(step) = asked {
            return step;
        }
    }
    let answer = state.last_ask_for(0, &plan.judge, FIND_CONFLICTS);
    let found = answer.and_then(AskState::parsed_document).map(proposals_of);
    // What names no rule or quotes it wrongly is dropped.
    ethos.add_proposals(found.unwrap_or_default());
    // An open conflict keeps it a draft.
    let _ = ethos.approve(APPROVER, state.last_entry_at);
    let constraints = constraints.into_iter().map(JournalEvent::ConstraintAdded);
    let saved = JournalEvent::EthosSaved(Box::new(ethos));
    let parts = constraints.chain([saved]).map(EntryPart::from_change);
    Step::Append(vec![EntryDraft::new(JournalEntryKind::EthosSynthesized, parts)])
}

/// The first version, as far as code makes it.
pub(crate) fn draft_ethos(state: &RunState) -> Result<DialogueEthos, String> {
    let planned = judged_run(state).and_then(|(plan, _)| Some((plan, plan.calibration.as_ref()?)));
    let (plan, planned) = planned.ok_or("the dialogue is not calibrated")?;
    let made = synthesize_ethos(&SynthesisInput {
        dialogue: &state.opening.dialogue_id,
        version: 1,
        library: &planned.library,
        constraints: &list_constraints(state, plan),
        domains: &planned.domains,
    });
    made.map_err(|fault| fault.message)
}

/// Why only code looked for conflicts; `None` if the Judge did, or there are no rules.
pub(crate) fn missed_detection(state: &RunState) -> Option<String> {
    let (plan, judged) = judged_run(state)?;
    let asked = state.last_ask_for(0, &plan.judge, FIND_CONFLICTS)?;
    let is_missed = asked.parsed_document().is_none() && !judged.calibration.versions.is_empty();
    is_missed.then(|| "the Judge did not look for conflicts between the rules".to_owned())
}

/// A person has resolved what was open, or still has to.
fn approve_or_stop(state: &RunState, ethos: &DialogueEthos) -> Step {
    let mut approved = ethos.clone();
    if ethos.status == EthosStatus::Draft && approved.approve(APPROVER, state.last_entry_at).is_ok()
    {
        let saved = EntryPart::from_change(JournalEvent::EthosSaved(Box::new(approved)));
        return Step::Append(vec![EntryDraft::new(JournalEntryKind::EthosDecided, [saved])]);
    }
    let conflicts = ethos.open_conflicts().count();
    Step::Stop(RunStopReason::Uncalibrated { ethos: ethos.ethos_id.clone(), conflicts })
}

/// What the caller requires, and what the Judge found in the question.
fn list_constraints(state: &RunState, plan: &AlignmentPlan) -> Vec<EthosConstraint> {
    let design = state.asks.iter().rev().find_map(|asked| {
        let ReplyDocument::Design(design) = asked.parsed_document()? else { return None };
        Some(design)
    });
    let found = design.into_iter().flat_map(|design| &design.constraints);
    let authored = plan.constraints.iter().map(|text| (text, ConstraintSource::Authored));
    let all = authored.chain(found.map(|text| (text, ConstraintSource::Extracted)));
    let mut known: Vec<EthosConstraint> = Vec::new();
    for (text, source) in all {
        let label = trim_and_truncate(text, LINE_CHARS_MAX);
        let is_same = |other: &EthosConstraint| match source {
            ConstraintSource::Authored => other.label.eq_ignore_ascii_case(&label),
            // A model repeats requirements of the caller in other spelling.
            ConstraintSource::Extracted => normalize_text(&other.label) == normalize_text(&label),
        };
        let is_known = known.iter().any(is_same);
        if label.is_empty() || is_known {
            continue;
        }
        known.extend(number_constraint(plain_constraint(&label, source), &known).ok());
    }
    known
}

/// The calibration figures of a round; none for a dialogue without an ethos.
pub(crate) fn count_marks(
    judged: &AlignmentState,
    heard: &[HeardReply<'_>],
    marks: &[CalibrationMark],
) -> Option<CalibrationScore> {
    let ethos = judged.calibration.approved_ethos()?;
    let replies: BTreeMap<ExpertSlug, String> =
        heard.iter().map(|reply| (reply.expert().clone(), reply.text.to_owned())).collect();
    let printed = heard.iter().flat_map(|reply| &reply.read.contributions);
    let tensions = printed.filter(|item| item.local_id.kind == EntityKind::Tension);
    let fresh = tensions.flat_map(|item| challenged_rules([item.label.as_str(), &item.text]));
    let fresh = fresh.filter_map(|seq| ethos.find_rule(seq)).map(|rule| rule.source_id.clone());
    let before = judged.calibration.challenges.iter().map(|one| one.source_id.clone());
    let challenged: BTreeSet<String> = before.chain(fresh).collect();
    let mut score = score_calibration(marks, ethos, &replies, &challenged);
    // An expert without a mark has a figure of 0.
    for reply in heard {
        score.experts.entry(reply.expert().clone()).or_default();
    }
    Some(score)
}
