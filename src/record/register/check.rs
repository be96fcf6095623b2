//! Checks a batch against the record: who exists, what exists, what makes sense.

use std::collections::BTreeSet;

use serde_json::json;

use super::batch::{Batch, RoundOrder, Update};
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::Facts;
use crate::domain::ids::{Actor, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::Status;
use crate::domain::limits::{ITEMS_PER_ROUND_MAX, ROUND_MAX};
use crate::domain::reference::{Nonsense, RefType};
use crate::domain::refusal::{Code, Fault, Item};
use crate::record::board::Board;
use crate::record::faults::{closed, not_in_dialogue};
use crate::record::target::{Resolution, Resolver, Target};

/// Is the dialogue open, is this its next round, and does the round have room?
pub(super) fn whole_batch(batch: &Batch, dialogue: &Dialogue) -> Vec<Fault> {
    let mut faults = Vec::new();
    if dialogue.status.is_closed() {
        faults.push(closed(dialogue));
    }
    faults.extend(round_order(batch, dialogue));
    for kind in EntityKind::ALL {
        let items = batch.items.iter().filter(|item| item.kind() == *kind).count();
        if items > usize::from(ITEMS_PER_ROUND_MAX) {
            let section = kind.section();
            let message = format!(
                "a round holds at most {ITEMS_PER_ROUND_MAX} {section}, this one has {items}"
            );
            faults.push(
                Fault::new(Code::RoundCapacityExceeded, message)
                    .field(section)
                    .value(items)
                    .suggest("merge what is alike, or keep some for the next round"),
            );
        }
    }
    faults
}

fn round_order(batch: &Batch, dialogue: &Dialogue) -> Option<Fault> {
    let next = dialogue.next_round();
    let round = batch.round.unwrap_or_default();
    let fault = match batch.is_next(next, dialogue.opening.protocol) {
        RoundOrder::Unread => return None,
        RoundOrder::Next if next > ROUND_MAX => {
            let message = format!("a dialogue has at most {} rounds", u16::from(ROUND_MAX) + 1);
            return Some(
                Fault::new(Code::RoundCapacityExceeded, message)
                    .field("round")
                    .value(round)
                    .suggest("give a verdict, or go on in a new dialogue"),
            );
        }
        RoundOrder::Next => return None,
        RoundOrder::Past => {
            let message = format!("round {round} is already registered, with another batch");
            Fault::new(Code::RoundAlreadyRegistered, message)
        }
        RoundOrder::OutOfOrder => {
            let message = format!("round {round} is out of order: the next round is {next}");
            Fault::new(Code::InvalidRound, message)
        }
    };
    Some(
        fault
            .field("round")
            .value(round)
            .options([next])
            .suggest(format!("the next round is {next}")),
    )
}

/// Who is named, and whether they take part.
#[derive(Debug)]
pub(super) struct Roll<'a> {
    pub dialogue: &'a Dialogue,
    pub facts: &'a Facts,
}

impl Roll<'_> {
    /// The expert, or a fault about whoever was named instead.
    pub(super) fn expert(&self, name: &str, item: &Item, field: &str) -> Result<ExpertSlug, Fault> {
        let slug = name.parse().ok().filter(|slug| self.facts.experts.contains_key(slug));
        slug.ok_or_else(|| not_in_dialogue(name, self.dialogue).about(item).field(field))
    }

    /// The experts, each once; strangers are each complained of once.
    pub(super) fn experts(
        &self,
        names: &[String],
        item: &Item,
        field: &str,
        faults: &mut Vec<Fault>,
    ) -> Vec<ExpertSlug> {
        let mut seen = BTreeSet::new();
        let mut experts = Vec::new();
        for name in names.iter().filter(|name| seen.insert(name.as_str())) {
            match self.expert(name, item, field) {
                Ok(expert) => experts.push(expert),
                Err(fault) => faults.push(fault),
            }
        }
        experts
    }

    fn actors(&self, names: &[String], item: &Item, faults: &mut Vec<Fault>) -> Vec<Actor> {
        let judge = names.iter().any(|name| name == crate::domain::ids::JUDGE);
        let others: Vec<String> =
            names.iter().filter(|name| *name != crate::domain::ids::JUDGE).cloned().collect();
        let experts = self.experts(&others, item, "by", faults).into_iter().map(Actor::Expert);
        judge.then_some(Actor::Judge).into_iter().chain(experts).collect()
    }
}

/// The entity a target means, or a fault; nothing when its own fault was already named.
pub(super) fn look_up(
    source: Option<EntityId>,
    target: &Target,
    resolver: &Resolver<'_>,
    dialogue: &Dialogue,
    item: &Item,
    field: &str,
) -> Result<Option<EntityId>, Fault> {
    match resolver.resolve_from(source, target) {
        Resolution::Found(id) => Ok(Some(id)),
        Resolution::Faulty => Ok(None),
        Resolution::NotFound => {
            let message = format!("target_id '{target}' not found in dialogue '{}'", dialogue.id());
            let fault = Fault::new(Code::TargetNotFound, message)
                .about(item)
                .field(field)
                .value(target.to_string());
            Err(match target {
                Target::Global(id) if id.round == dialogue.next_round() => {
                    fault.suggest("items of this batch have no global id yet: use the local id")
                }
                Target::Position(expert) => {
                    fault.suggest(format!("{expert} has stated no perspective yet"))
                }
                Target::Global(_) | Target::Local(_) => {
                    fault.suggest("use the id of an item that is already registered, or that this batch registers")
                }
            })
        }
    }
}

/// Whether a reference between these two says anything.
pub(super) fn meaning(
    source: (EntityId, &str),
    ref_type: RefType,
    target: EntityId,
    item: &Item,
) -> Result<(), Fault> {
    let (source, source_name) = source;
    let context = json!({"source_id": source_name, "target_id": target.to_string(), "target_type": target.kind});
    let complain = |code: Code, message: String| {
        Fault::new(code, message)
            .about(item)
            .field("ref_type")
            .value(ref_type.name())
            .context(context)
    };
    if source == target {
        let message = format!("'{source_name}' cannot reference itself");
        return Err(complain(Code::InvalidRefTarget, message).suggest("point at another item"));
    }
    match ref_type.check(source.kind, target.kind) {
        Ok(()) => Ok(()),
        Err(Nonsense::TensionOnly) => {
            let message = format!(
                "ref_type '{ref_type}' can only target Tensions (T), but target_type is '{}'",
                target.kind
            );
            Err(complain(Code::InvalidRefTarget, message).options(["T"]).suggest(format!(
                "Use 'support' or 'oppose' for {} targets, or change target to a Tension ID",
                target.kind.title()
            )))
        }
        Err(Nonsense::SameKindOnly) => {
            let message = format!(
                "ref_type 'refine' requires same source and target type (got {}→{})",
                source.kind, target.kind
            );
            Err(complain(Code::RefineTypeMismatch, message).options([source.kind]).suggest(
                format!(
                    "Use 'support' or 'depend' across types, or refine a {}",
                    source.kind.title()
                ),
            ))
        }
    }
}

/// An update whose ids and actors were found.
#[derive(Debug)]
pub(super) struct CheckedUpdate {
    pub id: EntityId,
    pub status: Status,
    pub actors: Vec<Actor>,
    pub via: Option<EntityId>,
    pub reason: Option<String>,
}

pub(super) fn update(
    update: &Update,
    resolver: &Resolver<'_>,
    roll: &Roll<'_>,
    board: &Board,
    faults: &mut Vec<Fault>,
) -> Option<CheckedUpdate> {
    let item = update.item();
    let before = faults.len();
    let actors = roll.actors(&update.by, &item, faults);
    let mut find = |target: &Target, field: &str| {
        look_up(None, target, resolver, roll.dialogue, &item, field).unwrap_or_else(|fault| {
            faults.push(fault);
            None
        })
    };
    let id = find(&update.id, "id");
    let via = update.via.as_ref().map(|via| find(via, "via"));
    if faults.len() > before {
        return None;
    }
    let id = id?;
    if let Err(fault) = authority(id, update.status, &actors, board, &item) {
        faults.push(fault);
        return None;
    }
    let reason = update.reason.clone();
    Some(CheckedUpdate { id, status: update.status, actors, via: via.flatten(), reason })
}

/// A tension is resolved by those who raised it, or by the Judge.
fn authority(
    id: EntityId,
    status: Status,
    actors: &[Actor],
    board: &Board,
    item: &Item,
) -> Result<(), Fault> {
    let may = |actor: &Actor| match actor {
        Actor::Judge => true,
        Actor::Expert(expert) => board.is_contributor(id, expert),
    };
    if id.kind != EntityKind::Tension || status != Status::Resolved || actors.iter().any(may) {
        return Ok(());
    }
    let contributors: Vec<String> = board
        .standing(id)
        .map(|standing| standing.contributors.iter().map(ToString::to_string).collect())
        .unwrap_or_default();
    let names: Vec<String> = actors.iter().map(ToString::to_string).collect();
    let message = format!(
        "{} cannot resolve {id}: only its contributors ({}) or the judge can",
        names.join(", "),
        contributors.join(", ")
    );
    Err(Fault::new(Code::NotAuthorized, message)
        .about(item)
        .field("by")
        .value(names)
        .options(contributors.into_iter().chain([crate::domain::ids::JUDGE.to_owned()]))
        .suggest("propose 'addressed' instead, or let a contributor or the judge confirm"))
}
