//! The verdicts at the end: checked against the record, with a vote that code counts.

use serde_json::{Value, json};

use crate::dialogue::verdict::parse::VerdictRequest;
use crate::model::ids::{EntityId, EntityKind, EntityTarget, VerdictId};
use crate::model::lifecycle::{EntityStatus, next_statuses};
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::run_state::RunState;
use crate::model::text::{to_one_line, trim_and_truncate};
use crate::model::verdict::{VerdictConfidence, VerdictType, VoteTally};
use crate::protocols::alignment::answers::judged_run;
use crate::protocols::alignment::ending::{DialogueEnding, count_vote};
use crate::protocols::alignment::objections::{check_objections, objection_requests};
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::{FinalProposal, VerdictsReply};
use crate::protocols::protocol::EntryPart;

/// What is wrong with the Judge's verdicts.
pub fn check_verdicts(state: &RunState, reply: &VerdictsReply) -> Result<(), String> {
    let Some((_, judged)) = judged_run(state) else { return Err("no record".to_owned()) };
    let last = &reply.last;
    let mut faults = Vec::new();
    for (field, text) in
        [("recommendation", &last.recommendation), ("description", &last.description)]
    {
        if text.trim().is_empty() {
            faults.push(format!("final.{field}: empty"));
        }
    }
    let lists = [
        ("recommendations_adopted", EntityKind::Recommendation, &last.recommendations_adopted),
        ("key_evidence", EntityKind::Evidence, &last.key_evidence),
        ("key_claims", EntityKind::Claim, &last.key_claims),
    ];
    for (field, kind, ids) in lists {
        for text in ids {
            if find_entity(judged, kind, text).is_none() {
                let shown = to_one_line(text);
                faults.push(format!("final.{field}: `{shown}` is not registered"));
            }
        }
    }
    for accepted in &last.tensions_accepted {
        let id = find_entity(judged, EntityKind::Tension, &accepted.id);
        if id.is_none_or(|id| !judged.active_tensions().any(|(active, _)| active == id)) {
            let shown = to_one_line(&accepted.id);
            faults.push(format!("final.tensions_accepted: `{shown}` is no active tension"));
        } else if accepted.reason.trim().is_empty() {
            faults.push(format!("final.tensions_accepted: `{}` needs a reason", accepted.id));
        }
    }
    let rules = || last.ethos_compliance.iter().flat_map(|compliance| &compliance.rules);
    for rule in rules().filter(|rule| rule.reason.trim().is_empty()) {
        let shown = to_one_line(&rule.rule_id);
        faults.push(format!("final.ethos_compliance: `{shown}` needs a reason"));
    }
    for text in rules().flat_map(|rule| &rule.ids) {
        if find_registered(judged, text).is_none() {
            let shown = to_one_line(text);
            faults.push(format!("final.ethos_compliance: `{shown}` is not registered"));
        }
    }
    faults.extend(check_objections(state, reply));
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

fn find_entity(judged: &AlignmentState, kind: EntityKind, text: &str) -> Option<EntityId> {
    find_registered(judged, text).filter(|id| id.kind == kind)
}

/// The entity that a text names, if it is in the record.
fn find_registered(judged: &AlignmentState, text: &str) -> Option<EntityId> {
    let id = match text.trim().parse().ok()? {
        EntityTarget::Global(id) => id,
        EntityTarget::Local(id) => *judged.local_ids.get(&id)?,
        EntityTarget::Position(_) => return None,
    };
    judged.statuses.contains_key(&id).then_some(id)
}

/// How the verdict stands to the rules, as far as its ids are in the record. The record refuses a
/// verdict that leaves a rule out.
fn compliance_of(judged: &AlignmentState, last: &FinalProposal) -> Value {
    let proposed = last.ethos_compliance.as_ref();
    let Some(proposed) = proposed.filter(|_| judged.calibration.approved_ethos().is_some()) else {
        return Value::Null;
    };
    let rules = proposed.rules.iter().map(|rule| {
        let ids: Vec<EntityId> =
            rule.ids.iter().filter_map(|text| find_registered(judged, text)).collect();
        let reason = trim_and_truncate(&rule.reason, TEXT_CHARS_MAX);
        json!({ "rule_id": rule.rule_id.trim(), "status": rule.status, "reason": reason, "ids": ids })
    });
    json!({ "rules": rules.collect::<Vec<_>>() })
}

/// The final verdict, then the minority verdicts and dissents. What is not in the record is left
/// out.
pub(crate) fn verdict_parts(
    state: &RunState,
    ending: DialogueEnding,
    reply: &VerdictsReply,
) -> Vec<EntryPart> {
    let Some((plan, judged)) = judged_run(state) else { return Vec::new() };
    let warning = ending.warning(plan).map(|text| warning_text(judged, text));
    let objections = objection_requests(state, reply);
    let first = final_request(state, judged, &reply.last, warning);
    let all = first.into_iter().chain(objections);
    all.map(|request| EntryPart::Verdict { request: Box::new(request), sets_status: true })
        .collect()
}

/// The warning, with the tensions that stay open.
fn warning_text(judged: &AlignmentState, text: String) -> String {
    let open: Vec<String> = judged.unsettled_tensions().map(|(id, _)| id.to_string()).collect();
    if open.is_empty() { text } else { format!("{text} Unsettled: {}.", open.join(", ")) }
}

fn final_request(
    state: &RunState,
    judged: &AlignmentState,
    last: &FinalProposal,
    warning: Option<String>,
) -> Option<VerdictRequest> {
    let id: VerdictId = "final".parse().ok()?;
    let vote = count_vote(judged);
    let accepted = accepted_tensions(judged, last);
    let is_accepted = |id: EntityId| accepted.iter().any(|(known, _)| *known == id);
    let is_unsettled = judged.active_tensions().any(|(id, _)| !is_accepted(id));
    let recommendation = trim_and_truncate(&last.recommendation, LINE_CHARS_MAX);
    let mut conditions: Vec<String> = last
        .conditions
        .iter()
        .map(|text| trim_and_truncate(text, TEXT_CHARS_MAX))
        .filter(|text| !text.is_empty())
        .collect();
    // A reader must see what was accepted, and why.
    for (id, reason) in &accepted {
        let name = id.to_string();
        let result = conditions.iter().chain([&recommendation]).any(|text| text.contains(&name));
        if !result {
            conditions.push(format!("Accepts {name}: {reason}"));
        }
    }
    let of_kind = |kind, ids: &[String]| -> Vec<EntityTarget> {
        let found = ids.iter().filter_map(|text| find_entity(judged, kind, text));
        found.filter(|id| is_adoptable(judged, *id)).map(EntityTarget::Global).collect()
    };
    let request = VerdictRequest::new(
        state.opening.dialogue_id.clone(),
        id,
        VerdictType::Final,
        or_default(recommendation, "The Judge stated no recommendation."),
        or_default(
            trim_and_truncate(&last.description, TEXT_CHARS_MAX),
            "The Judge gave no reasons.",
        ),
    );
    Some(VerdictRequest {
        round: judged.last_round().map(u16::from),
        conditions: Some(conditions),
        vote,
        confidence: Some(honest_confidence(last.confidence, vote, is_unsettled)),
        tensions_resolved: Some(resolved_tensions(judged)),
        tensions_accepted: Some(accepted.iter().map(|(id, _)| EntityTarget::Global(*id)).collect()),
        recommendations_adopted: Some(of_kind(
            EntityKind::Recommendation,
            &last.recommendations_adopted,
        )),
        key_evidence: Some(of_kind(EntityKind::Evidence, &last.key_evidence)),
        key_claims: Some(of_kind(EntityKind::Claim, &last.key_claims)),
        forced: warning.is_some(),
        warning,
        ethos_compliance: compliance_of(judged, last),
        ..request
    })
}

/// The tensions that the rounds resolved.
fn resolved_tensions(judged: &AlignmentState) -> Vec<EntityTarget> {
    let is_resolved = |id: &&EntityId| judged.statuses.get(id) == Some(&EntityStatus::Resolved);
    judged.tensions.keys().filter(is_resolved).map(|id| EntityTarget::Global(*id)).collect()
}

fn or_default(text: String, default: &str) -> String {
    if text.is_empty() { default.to_owned() } else { text }
}

/// Active tensions that the Judge accepted, in a round or in the verdict, with the reason.
fn accepted_tensions(judged: &AlignmentState, last: &FinalProposal) -> Vec<(EntityId, String)> {
    let named = |id: EntityId| {
        let is_it = |id_text: &str| find_entity(judged, EntityKind::Tension, id_text) == Some(id);
        let found = last.tensions_accepted.iter().find(|accepted| is_it(&accepted.id));
        found.map(|accepted| to_one_line(&accepted.reason)).filter(|reason| !reason.is_empty())
    };
    let active = judged.active_tensions();
    let accepted = active
        .filter_map(|(id, tension)| Some((id, named(id).or_else(|| tension.accepted.clone())?)));
    accepted.collect()
}

/// Evidence is only cited; a recommendation or a claim must be able to become adopted.
fn is_adoptable(judged: &AlignmentState, id: EntityId) -> bool {
    let status = judged.statuses.get(&id).copied();
    match id.kind {
        EntityKind::Recommendation | EntityKind::Claim => {
            status.is_some_and(|from| next_statuses(id.kind, from).contains(&EntityStatus::Adopted))
        }
        EntityKind::Perspective | EntityKind::Tension | EntityKind::Evidence => true,
    }
}

/// The Judge cannot call a panel more united than its vote and its tensions say.
fn honest_confidence(
    stated: VerdictConfidence,
    vote: Option<VoteTally>,
    is_unsettled: bool,
) -> VerdictConfidence {
    let reaches = |percent| vote.is_some_and(|vote| vote.reaches_percent(percent));
    let best = match () {
        // One of a hundred is a voice; none at all is no side of a split.
        () if is_unsettled || !reaches(1) => VerdictConfidence::Contested,
        () if !reaches(50) => VerdictConfidence::Split,
        // Who calls a divided panel unanimous has not looked at it.
        () if !reaches(100) && stated == VerdictConfidence::Unanimous => VerdictConfidence::Split,
        () => VerdictConfidence::Unanimous,
    };
    stated.max(best)
}
