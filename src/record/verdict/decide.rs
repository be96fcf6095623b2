//! Decides whether a verdict is accepted and which events it causes.

use super::gate::gate;
use super::read::VerdictRequest;
use crate::domain::change::Change;
use crate::domain::dialogue::{Dialogue, DialogueStatus};
use crate::domain::entity::Origin;
use crate::domain::facts::Facts;
use crate::domain::ids::{Actor, EntityId, EntityKind};
use crate::domain::lifecycle::Status;
use crate::domain::limits::ROUND_MAX;
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::domain::target::Target;
use crate::domain::verdict::{Verdict, VerdictType};
use crate::record::board::{Board, Cause};
use crate::record::convergence;
use crate::record::faults::{closed, illegal_step};
use crate::record::lookup::Lookup;
use crate::record::register::may_resolve;
use crate::record::roll::Roll;
use crate::record::warning::Warning;

/// Result of an accepted verdict.
#[derive(Debug)]
pub struct Decision {
    pub verdict: Verdict,
    pub dialogue_status: DialogueStatus,
    pub adopted: Vec<EntityId>,
    pub tensions_resolved: Vec<EntityId>,
    pub changes: Vec<Change>,
    pub warnings: Vec<Warning>,
}

pub fn decide(
    request: &VerdictRequest,
    dialogue: &Dialogue,
    facts: &Facts,
) -> Result<Decision, Refusal> {
    if facts.has_verdict {
        return Err(already_given(request, dialogue).into());
    }
    let takes_effect = request.verdict_type.takes_effect();
    let is_late_objection = dialogue.status == DialogueStatus::Converged && !takes_effect;
    if dialogue.status.is_closed() && !is_late_objection {
        return Err(closed(dialogue).into());
    }
    let mut faults = Vec::new();
    let verdict = find(request, dialogue, facts, &mut faults);
    let mut board = Board::new(verdict.round, facts);
    if faults.is_empty() && takes_effect {
        take_effect(&verdict, &mut board, &mut faults);
    }
    if faults.is_empty() {
        faults.extend(gate(&verdict, dialogue, facts));
    }
    if !faults.is_empty() {
        return Err(Refusal::new(faults));
    }
    Ok(decision(verdict, board, dialogue, facts))
}

fn already_given(request: &VerdictRequest, dialogue: &Dialogue) -> Fault {
    let message = format!(
        "dialogue '{}' already has a verdict '{}', and verdicts are immutable",
        dialogue.id(),
        request.verdict_id
    );
    Fault::new(Code::VerdictExists, message)
        .field("verdict_id")
        .value(request.verdict_id.as_str())
        .suggest("choose another verdict_id")
}

/// Resolves the names and ids of a verdict and reports the unknown ones.
fn find(
    request: &VerdictRequest,
    dialogue: &Dialogue,
    facts: &Facts,
    faults: &mut Vec<Fault>,
) -> Verdict {
    let lookup = Lookup::in_record(facts, dialogue);
    let roll = Roll { dialogue, facts };
    let named =
        |name: &str| Item::Source { item_type: "verdict", source_id: Some(name.to_owned()) };
    let author_expert = request.author().and_then(|name| {
        let found = roll.expert(name, &named(name), "author_expert");
        found.map_err(|fault| faults.push(fault)).ok()
    });
    let supporting_experts = request.supporting_experts.as_ref().map(|names| {
        let item = Item::Source { item_type: "verdict", source_id: None };
        roll.experts(names, &item, "supporting_experts", faults)
    });
    let mut all = |field, list: &Option<Vec<Target>>| find_all(field, list, &lookup, faults);
    Verdict {
        tensions_resolved: all("tensions_resolved", &request.tensions_resolved),
        tensions_accepted: all("tensions_accepted", &request.tensions_accepted),
        recommendations_adopted: all("recommendations_adopted", &request.recommendations_adopted),
        key_evidence: all("key_evidence", &request.key_evidence),
        key_claims: all("key_claims", &request.key_claims),
        round: issued_in(request, dialogue, faults),
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

fn find_all(
    field: &str,
    list: &Option<Vec<Target>>,
    lookup: &Lookup<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Vec<EntityId>> {
    let mut ids = Vec::new();
    for target in list.as_ref()? {
        let item = Item::Source { item_type: "verdict", source_id: Some(target.to_string()) };
        let found = lookup.find(target, (&item, field), faults);
        ids.extend(found.filter(|id| !ids.contains(id)));
    }
    Some(ids)
}

/// The round of the verdict: a registered one or the next one.
fn issued_in(request: &VerdictRequest, dialogue: &Dialogue, faults: &mut Vec<Fault>) -> u8 {
    let first = dialogue.opening.protocol.first_round();
    let next = dialogue.next_round().min(ROUND_MAX);
    match request.round {
        None => dialogue.last_round().unwrap_or(first),
        Some(round) if (u16::from(first)..=u16::from(next)).contains(&round) => {
            u8::try_from(round).unwrap_or(next)
        }
        Some(round) => {
            let message = format!("round {round} has not been held: the next round is {next}");
            let fault = Fault::new(Code::InvalidRound, message).field("round").value(round);
            faults.push(fault.suggest("leave 'round' out to mean the newest one"));
            next
        }
    }
}

/// Resolves tensions and adopts recommendations and claims, with events that name the verdict.
fn take_effect(verdict: &Verdict, board: &mut Board, faults: &mut Vec<Fault>) {
    let author = verdict.author_expert.clone().map_or(Actor::Judge, Actor::Expert);
    let origin = Some(Origin::Verdict(verdict.verdict_id.clone()));
    let cause = Cause::by(vec![author.clone()]).through(origin);
    let steps = [
        (&verdict.tensions_resolved, Status::Resolved),
        (&verdict.recommendations_adopted, Status::Adopted),
        (&verdict.key_claims, Status::Adopted),
    ];
    for (list, to) in steps {
        for id in list.iter().flatten() {
            let item = Item::Source { item_type: "verdict", source_id: Some(id.to_string()) };
            let authors = std::slice::from_ref(&author);
            if id.kind == EntityKind::Tension
                && let Err(fault) = may_resolve(*id, authors, board)
            {
                faults.push(fault.about(&item).field("author_expert"));
            } else if let Err(illegal) = board.step(*id, to, cause.clone()) {
                faults.push(illegal_step(*id, illegal, &item));
            }
        }
    }
}

fn decision(verdict: Verdict, board: Board, dialogue: &Dialogue, facts: &Facts) -> Decision {
    let work = convergence::work_remaining(board.active_tensions(), facts.new_perspectives);
    let status = if verdict.verdict_type == VerdictType::Final {
        Some(Change::StatusSet { status: DialogueStatus::Converged, reason: None })
    } else if verdict.verdict_type == VerdictType::Interim {
        convergence::status_change(dialogue, &facts.recent_scores, work)
    } else {
        None
    };
    let dialogue_status = match &status {
        Some(Change::StatusSet { status, .. }) => *status,
        _ => dialogue.status,
    };
    let effective = |list: &Option<Vec<EntityId>>| -> Vec<EntityId> {
        let list = list.iter().filter(|_| verdict.verdict_type.takes_effect());
        list.flatten().copied().collect()
    };
    let adopted =
        [effective(&verdict.recommendations_adopted), effective(&verdict.key_claims)].concat();
    let tensions_resolved = effective(&verdict.tensions_resolved);
    let mut changes = vec![Change::VerdictGiven(verdict.clone())];
    changes.extend(board.events.into_iter().map(Change::EventAdded));
    changes.extend(status);
    let warnings = too_many_votes(&verdict, facts).into_iter().collect();
    Decision { verdict, dialogue_status, adopted, tensions_resolved, changes, warnings }
}

/// Warns about an impossible tally. Only the Judge can correct it.
fn too_many_votes(verdict: &Verdict, facts: &Facts) -> Option<Warning> {
    let (cast, experts) = (verdict.vote?.cast()?, facts.experts.len());
    let message = format!("{cast} votes were cast, but the dialogue has {experts} experts");
    (cast > experts).then(|| Warning::new("too_many_votes", message))
}
