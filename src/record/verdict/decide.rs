//! Decides whether a verdict is accepted and which events it causes.

use super::gate::check_convergence;
use super::read::VerdictRequest;
use crate::domain::change::JournalEvent;
use crate::domain::dialogue::{Dialogue, DialogueStatus};
use crate::domain::entity::EventOrigin;
use crate::domain::facts::RecordLookup;
use crate::domain::ids::{EntityId, EntityKind, EventActor};
use crate::domain::lifecycle::EntityStatus;
use crate::domain::limits::ROUND_MAX;
use crate::domain::refusal::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};
use crate::domain::target::EntityTarget;
use crate::domain::verdict::{Verdict, VerdictType};
use crate::record::board::{EntityStates, TransitionCause};
use crate::record::convergence;
use crate::record::faults::{dialogue_closed, illegal_transition};
use crate::record::lookup::TargetLookup;
use crate::record::register::check_may_resolve;
use crate::record::roll::ExpertLookup;
use crate::record::warning::RequestWarning;

/// Result of an accepted verdict.
#[derive(Debug)]
pub struct VerdictDecision {
    pub verdict: Verdict,
    pub dialogue_status: DialogueStatus,
    pub adopted: Vec<EntityId>,
    pub tensions_resolved: Vec<EntityId>,
    pub changes: Vec<JournalEvent>,
    pub warnings: Vec<RequestWarning>,
}

pub fn decide_verdict(
    request: &VerdictRequest,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Result<VerdictDecision, ValidationErrors> {
    if facts.has_verdict {
        return Err(verdict_exists_error(request, dialogue).into());
    }
    let takes_effect = request.verdict_type.takes_effect();
    let is_late_objection = dialogue.status == DialogueStatus::Converged && !takes_effect;
    if dialogue.status.is_closed() && !is_late_objection {
        return Err(dialogue_closed(dialogue).into());
    }
    let mut faults = Vec::new();
    let verdict = resolve_verdict(request, dialogue, facts, &mut faults);
    let mut board = EntityStates::new(verdict.round, facts);
    if faults.is_empty() && takes_effect {
        apply_verdict(&verdict, &mut board, &mut faults);
    }
    if faults.is_empty() {
        faults.extend(check_convergence(&verdict, dialogue, facts));
    }
    if !faults.is_empty() {
        return Err(ValidationErrors::new(faults));
    }
    Ok(build_decision(verdict, board, dialogue, facts))
}

fn verdict_exists_error(request: &VerdictRequest, dialogue: &Dialogue) -> ValidationError {
    let message = format!(
        "dialogue '{}' already has a verdict '{}', and verdicts are immutable",
        dialogue.id(),
        request.verdict_id
    );
    ValidationError::new(ErrorCode::VerdictExists, message)
        .with_field("verdict_id")
        .with_value(request.verdict_id.as_str())
        .with_suggestion("choose another verdict_id")
}

/// Resolves the names and ids of a verdict and reports the unknown ones.
fn resolve_verdict(
    request: &VerdictRequest,
    dialogue: &Dialogue,
    facts: &RecordLookup,
    faults: &mut Vec<ValidationError>,
) -> Verdict {
    let lookup = TargetLookup::new_for_record(facts, dialogue);
    let roll = ExpertLookup { dialogue, facts };
    let named =
        |name: &str| ErrorItem::Source { item_type: "verdict", source_id: Some(name.to_owned()) };
    let author_expert = request.author().and_then(|name| {
        let found = roll.find_expert(name, &named(name), "author_expert");
        found.map_err(|fault| faults.push(fault)).ok()
    });
    let supporting_experts = request.supporting_experts.as_ref().map(|names| {
        let item = ErrorItem::Source { item_type: "verdict", source_id: None };
        roll.find_experts(names, &item, "supporting_experts", faults)
    });
    let mut all =
        |field, list: &Option<Vec<EntityTarget>>| resolve_list(field, list, &lookup, faults);
    Verdict {
        tensions_resolved: all("tensions_resolved", &request.tensions_resolved),
        tensions_accepted: all("tensions_accepted", &request.tensions_accepted),
        recommendations_adopted: all("recommendations_adopted", &request.recommendations_adopted),
        key_evidence: all("key_evidence", &request.key_evidence),
        key_claims: all("key_claims", &request.key_claims),
        round: verdict_round(request, dialogue, faults),
        verdict_id: request.verdict_id.clone(),
        verdict_type: request.verdict_type,
        author_expert,
        recommendation: request.recommendation.clone(),
        description: request.description.clone(),
        conditions: request.conditions.clone(),
        vote: request.vote,
        confidence: request.confidence,
        supporting_experts,
        forced: request.forced,
        warning: request.warning.clone(),
    }
}

fn resolve_list(
    field: &str,
    list: &Option<Vec<EntityTarget>>,
    lookup: &TargetLookup<'_>,
    faults: &mut Vec<ValidationError>,
) -> Option<Vec<EntityId>> {
    let mut ids = Vec::new();
    for target in list.as_ref()? {
        let item = ErrorItem::Source { item_type: "verdict", source_id: Some(target.to_string()) };
        let found = lookup.find_target(target, (&item, field), faults);
        ids.extend(found.filter(|id| !ids.contains(id)));
    }
    Some(ids)
}

/// The round of the verdict: a registered one or the next one.
fn verdict_round(
    request: &VerdictRequest,
    dialogue: &Dialogue,
    faults: &mut Vec<ValidationError>,
) -> u8 {
    let first = dialogue.opening.protocol.first_round();
    let next = dialogue.next_round().min(ROUND_MAX);
    match request.round {
        None => dialogue.last_round().unwrap_or(first),
        Some(round) if (u16::from(first)..=u16::from(next)).contains(&round) => {
            u8::try_from(round).unwrap_or(next)
        }
        Some(round) => {
            let message = format!("round {round} has not been held: the next round is {next}");
            let fault = ValidationError::new(ErrorCode::InvalidRound, message)
                .with_field("round")
                .with_value(round);
            faults.push(fault.with_suggestion("leave 'round' out to mean the newest one"));
            next
        }
    }
}

/// Resolves tensions and adopts recommendations and claims, with events that name the verdict.
fn apply_verdict(verdict: &Verdict, board: &mut EntityStates, faults: &mut Vec<ValidationError>) {
    let author = verdict.author_expert.clone().map_or(EventActor::Judge, EventActor::Expert);
    let origin = Some(EventOrigin::Verdict(verdict.verdict_id.clone()));
    let cause = TransitionCause::by_actors(vec![author.clone()]).with_origin(origin);
    let steps = [
        (&verdict.tensions_resolved, EntityStatus::Resolved),
        (&verdict.recommendations_adopted, EntityStatus::Adopted),
        (&verdict.key_claims, EntityStatus::Adopted),
    ];
    for (list, to) in steps {
        for id in list.iter().flatten() {
            let item = ErrorItem::Source { item_type: "verdict", source_id: Some(id.to_string()) };
            let authors = std::slice::from_ref(&author);
            if id.kind == EntityKind::Tension
                && let Err(fault) = check_may_resolve(*id, authors, board)
            {
                faults.push(fault.about_item(&item).with_field("author_expert"));
            } else if let Err(illegal) = board.transition(*id, to, cause.clone()) {
                faults.push(illegal_transition(*id, illegal, &item));
            }
        }
    }
}

fn build_decision(
    verdict: Verdict,
    board: EntityStates,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> VerdictDecision {
    let work = convergence::work_remaining(board.count_active_tensions(), facts.new_perspectives);
    let status = if verdict.verdict_type == VerdictType::Final {
        Some(JournalEvent::StatusSet { status: DialogueStatus::Converged, reason: None })
    } else if verdict.verdict_type == VerdictType::Interim {
        convergence::status_change(dialogue, &facts.recent_scores, work)
    } else {
        None
    };
    let dialogue_status = match &status {
        Some(JournalEvent::StatusSet { status, .. }) => *status,
        _ => dialogue.status,
    };
    let effective = |list: &Option<Vec<EntityId>>| -> Vec<EntityId> {
        let list = list.iter().filter(|_| verdict.verdict_type.takes_effect());
        list.flatten().copied().collect()
    };
    let adopted =
        [effective(&verdict.recommendations_adopted), effective(&verdict.key_claims)].concat();
    let tensions_resolved = effective(&verdict.tensions_resolved);
    let mut changes = vec![JournalEvent::VerdictGiven(verdict.clone())];
    changes.extend(board.events.into_iter().map(JournalEvent::EventAdded));
    changes.extend(status);
    let warnings = warn_too_many_votes(&verdict, facts).into_iter().collect();
    VerdictDecision { verdict, dialogue_status, adopted, tensions_resolved, changes, warnings }
}

/// Warns about an impossible tally. Only the Judge can correct it.
fn warn_too_many_votes(verdict: &Verdict, facts: &RecordLookup) -> Option<RequestWarning> {
    let (cast, experts) = (verdict.vote?.votes_cast()?, facts.experts.len());
    let message = format!("{cast} votes were cast, but the dialogue has {experts} experts");
    (cast > experts).then(|| RequestWarning::new("too_many_votes", message))
}
