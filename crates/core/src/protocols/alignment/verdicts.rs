//! The verdicts at the end: checked against the record, with a vote that code counts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::dialogue::verdict::parse::VerdictRequest;
use crate::markers::extraction::VerdictDraft;
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, VerdictId};
use crate::model::lifecycle::{EntityStatus, next_statuses};
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::run_state::RunState;
use crate::model::text::{to_one_line, trim_and_truncate};
use crate::model::verdict::{VerdictConfidence, VerdictType, VoteTally};
use crate::protocols::alignment::answers::{judged_run, list_heard};
use crate::protocols::alignment::ending::{DialogueEnding, count_vote};
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
    let rules = last.ethos_compliance.iter().flat_map(|compliance| &compliance.rules);
    for text in rules.flat_map(|rule| &rule.ids) {
        if find_registered(judged, text).is_none() {
            let shown = to_one_line(text);
            faults.push(format!("final.ethos_compliance: `{shown}` is not registered"));
        }
    }
    let objectors = list_objectors(state);
    let authors = reply.minority.iter().map(|one| ("minority", &one.author));
    let authors = authors.chain(reply.dissents.iter().map(|one| ("dissents", &one.author)));
    for (field, author) in authors {
        if find_objector(&objectors, author).is_none() {
            let shown = to_one_line(author);
            faults.push(format!("{field}: `{shown}` neither dissented nor withheld convergence"));
        }
    }
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

/// Experts who may have a minority verdict or a dissent: seats of the last panel that did not
/// converge, and experts who marked one.
pub fn list_objectors(state: &RunState) -> BTreeSet<ExpertSlug> {
    let Some((_, judged)) = judged_run(state) else { return BTreeSet::new() };
    let Some(last) = judged.last_round() else { return BTreeSet::new() };
    let converged = judged.converged_in(last);
    let seats = judged.panel_of(last).iter().map(|seat| &seat.expert_slug);
    let withheld = seats.filter(|slug| !converged.contains(slug)).cloned();
    withheld.chain(list_drafts(state).into_iter().map(|draft| draft.author_expert)).collect()
}

/// The minority verdicts and dissents that experts marked in the last round.
pub fn list_drafts(state: &RunState) -> Vec<VerdictDraft> {
    let Some(last) = state.alignment.as_deref().and_then(AlignmentState::last_round) else {
        return Vec::new();
    };
    let drafts = list_heard(state, last).into_iter().flat_map(|reply| reply.read.verdicts);
    drafts.filter(|draft| !draft.verdict_type.takes_effect()).collect()
}

fn find_objector(objectors: &BTreeSet<ExpertSlug>, name: &str) -> Option<ExpertSlug> {
    let name = name.trim();
    objectors.iter().find(|slug| slug.as_str().eq_ignore_ascii_case(name)).cloned()
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
        let told = conditions.iter().chain([&recommendation]).any(|text| text.contains(&name));
        if !told {
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
        confidence: Some(honest_confidence(last.confidence, vote)),
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

/// The Judge cannot call a divided panel unanimous.
fn honest_confidence(stated: VerdictConfidence, vote: Option<VoteTally>) -> VerdictConfidence {
    let is_divided = vote.is_none_or(|vote| !vote.reaches_percent(100));
    match stated {
        VerdictConfidence::Unanimous if is_divided => VerdictConfidence::Split,
        VerdictConfidence::Unanimous
        | VerdictConfidence::Strong
        | VerdictConfidence::Split
        | VerdictConfidence::Contested => stated,
    }
}

/// Minority verdicts and dissents: those of the Judge, then those that an expert marked and the
/// Judge left out.
fn objection_requests(state: &RunState, reply: &VerdictsReply) -> Vec<VerdictRequest> {
    let objectors = list_objectors(state);
    let mut told: BTreeSet<ExpertSlug> = BTreeSet::new();
    let mut requests = Vec::new();
    for minority in &reply.minority {
        let Some(author) = find_objector(&objectors, &minority.author) else { continue };
        let mut supporters: Vec<ExpertSlug> = vec![author.clone()];
        let named = minority.supporting_experts.iter();
        for supporter in named.filter_map(|name| find_objector(&objectors, name)) {
            if !supporters.contains(&supporter) {
                supporters.push(supporter);
            }
        }
        if told.insert(author.clone()) {
            told.extend(supporters.iter().cloned());
            let texts = (minority.recommendation.as_str(), minority.description.as_str());
            let made = objection(state, VerdictType::Minority, &author, texts);
            requests.extend(made.map(|request| request.supported_by(&supporters)));
        }
    }
    for dissent in &reply.dissents {
        let Some(author) = find_objector(&objectors, &dissent.author) else { continue };
        if told.insert(author.clone()) {
            let texts = (dissent.recommendation.as_str(), dissent.description.as_str());
            requests.extend(objection(state, VerdictType::Dissent, &author, texts));
        }
    }
    for draft in list_drafts(state) {
        if !told.insert(draft.author_expert.clone()) {
            continue;
        }
        let recommendation = draft.recommendation.as_deref().unwrap_or_default();
        let description = draft.description.as_deref().unwrap_or(recommendation);
        let kind = draft.verdict_type;
        let made = objection(state, kind, &draft.author_expert, (recommendation, description));
        let supporters = draft.supporting_experts.clone().unwrap_or_default();
        let supporters = [vec![draft.author_expert.clone()], supporters].concat();
        requests.extend(made.map(|request| match kind {
            VerdictType::Minority => request.supported_by(&known_experts(state, supporters)),
            VerdictType::Dissent | VerdictType::Interim | VerdictType::Final => request,
        }));
    }
    requests
}

fn known_experts(state: &RunState, slugs: Vec<ExpertSlug>) -> Vec<ExpertSlug> {
    let judged = state.alignment.as_deref();
    let is_known =
        |slug: &ExpertSlug| judged.is_some_and(|known| known.find_expert(slug).is_some());
    let mut known: Vec<ExpertSlug> = Vec::new();
    for slug in slugs.into_iter().filter(is_known) {
        if !known.contains(&slug) {
            known.push(slug);
        }
    }
    known
}

/// A verdict of an expert; none if it says nothing.
fn objection(
    state: &RunState,
    verdict_type: VerdictType,
    author: &ExpertSlug,
    (recommendation, description): (&str, &str),
) -> Option<VerdictRequest> {
    let id: VerdictId = format!("{}-{author}", verdict_type.name()).parse().ok()?;
    let recommendation = trim_and_truncate(&to_one_line(recommendation), LINE_CHARS_MAX);
    let description = trim_and_truncate(description, TEXT_CHARS_MAX);
    let (recommendation, description) = match (recommendation.is_empty(), description.is_empty()) {
        (true, true) => return None,
        (true, false) => {
            (trim_and_truncate(&to_one_line(&description), LINE_CHARS_MAX), description)
        }
        (false, true) => (recommendation.clone(), recommendation),
        (false, false) => (recommendation, description),
    };
    let dialogue = state.opening.dialogue_id.clone();
    let round = state.alignment.as_deref().and_then(AlignmentState::last_round).unwrap_or_default();
    let request = VerdictRequest::new(dialogue, id, verdict_type, recommendation, description);
    Some(request.with_round(round).with_author(Some(author)))
}
