//! Decides whether a verdict is accepted and which events it causes.

use std::collections::BTreeSet;

use serde_json::json;

use crate::dialogue::diagnostics::{RequestWarning, dialogue_closed, illegal_transition};
use crate::dialogue::entity_states::{EntityStates, TransitionCause};
use crate::dialogue::lookup::{ExpertLookup, TargetLookup};
use crate::dialogue::progress::{PanelAgreement, status_change, work_remaining};
use crate::dialogue::register::check::check_may_resolve;
use crate::dialogue::verdict::parse::VerdictRequest;
use crate::ethos::compliance::ComplianceCheck;
use crate::model::dialogue::{Dialogue, DialogueStatus};
use crate::model::entity::EventOrigin;
use crate::model::ids::{EntityId, EntityKind, EntityTarget, EventActor};
use crate::model::journal::JournalEvent;
use crate::model::lifecycle::EntityStatus;
use crate::model::limits::ROUND_MAX;
use crate::model::record::RecordLookup;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};
use crate::model::verdict::{Verdict, VerdictConfidence, VerdictType};

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
    let (mut faults, mut warnings) = (Vec::new(), Vec::new());
    let verdict = resolve_verdict(request, dialogue, facts, &mut warnings, &mut faults);
    faults.extend(too_many_votes(&verdict, facts));
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
    let mut decision = build_decision(verdict, board, dialogue, facts);
    decision.warnings.extend(warnings);
    Ok(decision)
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
    warnings: &mut Vec<RequestWarning>,
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
    let check = ComplianceCheck {
        dialogue,
        calibration: facts.calibration.as_ref(),
        lookup: &lookup,
        is_final: request.verdict_type == VerdictType::Final,
    };
    let given = request.compliance(faults);
    let ethos_compliance = check.decide_compliance(given.as_ref(), warnings, faults);
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
        ethos_compliance,
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
            let message = format!("round {round} is not registered yet; the next round is {next}");
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
    let work = work_remaining(board.count_active_tensions(), facts.new_perspectives);
    let status = if verdict.verdict_type == VerdictType::Final {
        Some(JournalEvent::StatusSet { status: DialogueStatus::Converged, reason: None })
    } else if verdict.verdict_type == VerdictType::Interim {
        status_change(dialogue, &facts.recent_scores, work)
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
    let beyond = warn_vote_beyond_signals(&verdict, dialogue, facts);
    let warnings = beyond.into_iter().chain(warn_confidence(&verdict)).collect();
    VerdictDecision { verdict, dialogue_status, adopted, tensions_resolved, changes, warnings }
}

/// An impossible tally. A verdict is immutable, so it is refused.
fn too_many_votes(verdict: &Verdict, facts: &RecordLookup) -> Option<ValidationError> {
    let (vote, experts) = (verdict.vote?, facts.experts.len());
    let cast = vote.votes_cast()?;
    let message = format!("{cast} votes were cast, but the dialogue has {experts} experts");
    (cast > experts).then(|| {
        ValidationError::new(ErrorCode::InvalidVote, message)
            .with_field("vote")
            .with_value(vote.to_string())
            .with_suggestion("count one vote for each expert")
    })
}

/// The vote of a final verdict decides; a reader learns that the signals say less.
fn warn_vote_beyond_signals(
    verdict: &Verdict,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Option<RequestWarning> {
    let is_decided = verdict.verdict_type == VerdictType::Final
        && dialogue.opening.protocol.is_judged()
        && !verdict.forced;
    let vote = verdict.vote.filter(|_| is_decided)?;
    let panel = facts.last_panel.iter().map(|seat| &seat.expert_slug);
    let agreement = PanelAgreement::from_signals(panel, &facts.signals);
    let is_beyond = !agreement.reaches_percent(dialogue.opening.convergence_percent);
    let message = format!(
        "the vote is {vote}, but {} % of the last panel signalled convergence",
        agreement.percent_agreed()
    );
    is_beyond.then(|| RequestWarning::new("vote_beyond_signals", message))
}

/// The vote says less than the stated confidence.
fn warn_confidence(verdict: &Verdict) -> Option<RequestWarning> {
    let (confidence, vote) = (verdict.confidence?, verdict.vote?);
    let needed = match confidence {
        VerdictConfidence::Unanimous => 100,
        VerdictConfidence::Strong => 50,
        VerdictConfidence::Split | VerdictConfidence::Contested => return None,
    };
    let message = format!("the confidence is {confidence}, but the vote is {vote}");
    (!vote.reaches_percent(needed)).then(|| RequestWarning::new("confidence_beyond_vote", message))
}

/// Returns the error that blocks the verdict, if any.
///
/// Applies only to final verdicts of the alignment protocol that are not forced.
pub(crate) fn check_convergence(
    verdict: &Verdict,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Option<ValidationError> {
    let waits = verdict.verdict_type == VerdictType::Final
        && dialogue.opening.protocol.is_judged()
        && !verdict.forced;
    if !waits {
        return None;
    }
    let open = unsettled_tensions(verdict, facts);
    let panel = facts.last_panel.iter().map(|seat| &seat.expert_slug);
    let agreement = PanelAgreement::from_signals(panel, &facts.signals);
    let required = dialogue.opening.convergence_percent;
    let agreed = match verdict.vote {
        Some(vote) => vote.reaches_percent(required),
        None => agreement.reaches_percent(required),
    };
    let held = dialogue.total_rounds > 0;
    if held && open.is_empty() && agreed {
        return None;
    }
    let mut reasons = Vec::new();
    if !held {
        reasons.push("no round is registered".to_owned());
    }
    if !open.is_empty() {
        reasons.push(format!("tensions neither resolved nor accepted: {}", open.join(", ")));
    }
    if held && !agreed {
        reasons.push(format!(
            "agreement under {required} %: {}",
            describe_agreement(verdict, &agreement)
        ));
    }
    let missing = if agreed || verdict.vote.is_some() { &[][..] } else { &agreement.silent };
    let message = format!("dialogue '{}' has not converged: {}", dialogue.id(), reasons.join("; "));
    Some(
        ValidationError::new(ErrorCode::NotConverged, message)
            .with_field("verdict_type")
            .with_value("final")
            .with_context(json!({
                "open_tensions": open,
                "missing_experts": missing,
                "required_percent": required,
                "vote": verdict.vote,
            }))
            .with_suggestion("name the tensions in tensions_resolved or tensions_accepted, give the vote, hold another round, or set forced: true with a warning"),
    )
}

/// Active tensions that the verdict does not name.
fn unsettled_tensions(verdict: &Verdict, facts: &RecordLookup) -> Vec<String> {
    let named = [&verdict.tensions_resolved, &verdict.tensions_accepted];
    let settled: BTreeSet<EntityId> = named.into_iter().flatten().flatten().copied().collect();
    let open = facts.active_tensions.iter().filter(|id| !settled.contains(id));
    open.map(ToString::to_string).collect()
}

fn describe_agreement(verdict: &Verdict, agreement: &PanelAgreement) -> String {
    if let Some(vote) = verdict.vote {
        return format!("the vote is {vote}");
    }
    if agreement.panel == 0 {
        return "the last panel is empty, and there is no vote".to_owned();
    }
    let silent: Vec<&str> = agreement.silent.iter().map(|slug| slug.as_str()).collect();
    format!(
        "{} % signalled convergence, missing: {}",
        agreement.percent_agreed(),
        silent.join(", ")
    )
}
