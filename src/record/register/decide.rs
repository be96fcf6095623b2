//! Plays a batch out on the board and says what changes, or all that is wrong.
//!
//! Effects come in a fixed order: entities, explicit updates, references in
//! order of appearance, moves.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::answer;
use super::batch::Batch;
use super::check::{self, CheckedUpdate, Roll};
use super::effects;
use crate::domain::change::{Change, NewEntity};
use crate::domain::dialogue::{Dialogue, DialogueStatus};
use crate::domain::facts::Facts;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug, entity_id};
use crate::domain::lifecycle::Status;
use crate::domain::reference::{Move, MoveType, RefType, Reference};
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::record::board::{Board, Cause};
use crate::record::convergence::is_converging;
use crate::record::faults::illegal_step;
use crate::record::target::{Resolver, Target};

/// What a batch becomes.
#[derive(Debug)]
pub struct Decision {
    pub changes: Vec<Change>,
    pub answer: Value,
}

type Triple = (EntityId, RefType, EntityId);

pub fn decide(batch: &Batch, dialogue: &Dialogue, facts: &Facts) -> Result<Decision, Refusal> {
    let mut faults = batch.faults.clone();
    faults.extend(check::whole_batch(batch, dialogue));
    let roll = Roll { dialogue, facts };
    let round = dialogue.next_round();

    let scores = per_expert(&batch.expert_scores, "expert_scores", &roll, &mut faults);
    let replies = per_expert(&batch.raw_content, "raw_content", &roll, &mut faults);
    let mut entities = number(batch, round, &roll, &mut faults);
    let resolver = resolver(batch, facts, &entities);
    let mut board = Board::new(round, facts);
    for entity in &entities {
        board.add(entity.id, entity.contributors.clone());
    }
    let updates = apply_updates(batch, &resolver, &roll, &mut board, &mut faults);
    let references = connect(batch, &resolver, dialogue, &mut faults);
    let moves = read_moves(batch, round, &resolver, &roll, &mut faults);
    if !faults.is_empty() {
        return Err(Refusal::new(faults).of_batch());
    }

    let mut warnings = batch.warnings.clone();
    for (source, ref_type, target) in &references {
        warnings.extend(effects::of_reference(&mut board, *source, *ref_type, *target));
    }
    let opponents = |target| effects::opponents_of(target, facts, &references);
    for made in &moves {
        effects::of_move(&mut board, made, &opponents, &mut warnings);
    }
    let late = attach(&mut entities, references);
    let answer = answer::compose(round, &entities, &updates, &warnings);

    let mut changes = vec![Change::RoundHeld {
        round,
        title: batch.title.clone(),
        score: batch.score,
        summary: batch.summary.clone(),
    }];
    changes.extend(joined(round, facts, &scores, &replies, &entities, &moves));
    changes.extend(scores.into_iter().map(|(expert, score)| Change::ScoreGiven {
        round,
        expert,
        score,
    }));
    changes.extend(replies.into_iter().map(|(expert, content)| Change::RawReplyKept {
        round,
        expert,
        content,
    }));
    let new_perspectives = entities.iter().filter(|e| e.id.kind == EntityKind::Perspective).count();
    changes.extend(entities.into_iter().map(Change::EntityAdded));
    changes.extend(late);
    changes.extend(moves.into_iter().map(Change::MoveMade));
    let work_remaining =
        board.active_tensions() + u32::try_from(new_perspectives).unwrap_or(u32::MAX);
    changes.extend(board.events.into_iter().map(Change::EventAdded));
    changes.extend(new_status(batch, dialogue, facts, work_remaining));
    let batch_sha256 = batch.sha256.clone();
    changes.push(Change::BatchAnswered { round, batch_sha256, answer: answer.clone() });
    Ok(Decision { changes, answer })
}

/// Values keyed by expert, with the names looked up.
fn per_expert<T: Clone>(
    named: &[(String, T)],
    field: &'static str,
    roll: &Roll<'_>,
    faults: &mut Vec<Fault>,
) -> Vec<(ExpertSlug, T)> {
    let found = named.iter().filter_map(|(name, value)| {
        let item = Item::Source { item_type: field, source_id: Some(name.clone()) };
        match roll.expert(name, &item, field) {
            Ok(expert) => Some((expert, value.clone())),
            Err(fault) => {
                faults.push(fault);
                None
            }
        }
    });
    found.collect()
}

/// Gives every item its global id, in the order of the batch. References follow in [`attach`].
fn number(batch: &Batch, round: u8, roll: &Roll<'_>, faults: &mut Vec<Fault>) -> Vec<NewEntity> {
    let mut taken = HashSet::new();
    let mut counts: HashMap<EntityKind, usize> = HashMap::new();
    let mut entities = Vec::with_capacity(batch.items.len());
    for new in &batch.items {
        let item = new.item();
        if !taken.insert(&new.local_id) {
            let message = format!("local_id '{}' is used twice in this batch", new.local_id);
            let fault = Fault::new(Code::DuplicateLocalId, message).about(&item).field("local_id");
            faults.push(fault.value(new.local_id.to_string()));
            continue;
        }
        let author = new.local_id.expert.as_str();
        let mut contributors = roll.experts(&new.contributors, &item, "contributors", faults);
        if !new.contributors.iter().any(|name| name == author)
            && let Err(fault) = roll.expert(author, &item, "local_id")
        {
            faults.push(fault);
        }
        contributors.shrink_to_fit();
        let count = counts.entry(new.kind()).or_default();
        *count += 1;
        // A round that is too full was complained of as a whole.
        let Some(id) = entity_id(new.kind(), round, *count) else { continue };
        entities.push(NewEntity {
            id,
            local_id: new.local_id.clone(),
            label: new.label.clone(),
            text: new.text.clone(),
            contributors,
            parameters: new.parameters.clone(),
            references: Vec::new(),
        });
    }
    entities
}

fn resolver<'a>(batch: &Batch, facts: &'a Facts, entities: &[NewEntity]) -> Resolver<'a> {
    let mut positions: HashMap<ExpertSlug, Vec<EntityId>> = HashMap::new();
    for entity in entities.iter().filter(|entity| entity.id.kind == EntityKind::Perspective) {
        for expert in &entity.contributors {
            positions.entry(expert.clone()).or_default().push(entity.id);
        }
    }
    Resolver {
        facts,
        fresh: entities.iter().map(|entity| (entity.local_id.clone(), entity.id)).collect(),
        positions,
        faulty: batch.faulty.iter().cloned().collect(),
    }
}

/// Explicit updates, in order; here an illegal step is a fault.
fn apply_updates(
    batch: &Batch,
    resolver: &Resolver<'_>,
    roll: &Roll<'_>,
    board: &mut Board,
    faults: &mut Vec<Fault>,
) -> Vec<CheckedUpdate> {
    let mut applied = Vec::new();
    for update in &batch.updates {
        let Some(checked) = check::update(update, resolver, roll, board, faults) else { continue };
        let becomes = matches!(
            checked.status,
            Status::Refined | Status::Merged | Status::Conceded | Status::Amended
        );
        let cause = Cause {
            actors: checked.actors.clone(),
            result: checked.via.filter(|_| becomes),
            reference: checked.via.filter(|_| !becomes).map(|via| via.to_string()),
            reason: checked.reason.clone(),
        };
        match board.step(checked.id, checked.status, cause) {
            Ok(()) => applied.push(checked),
            Err(illegal) => faults.push(illegal_step(checked.id, illegal, &update.item())),
        }
    }
    applied
}

/// Every reference of the batch, looked up, in order of appearance, each once.
fn connect(
    batch: &Batch,
    resolver: &Resolver<'_>,
    dialogue: &Dialogue,
    faults: &mut Vec<Fault>,
) -> Vec<Triple> {
    let mut seen: HashSet<Triple> = resolver.facts.references.clone();
    let mut connected = Vec::new();
    let inside = batch.items.iter().flat_map(|item| {
        let source = Target::Local(item.local_id.clone());
        item.references.iter().map(move |(ref_type, target)| (source.clone(), *ref_type, target))
    });
    let beside =
        batch.refs.iter().map(|loose| (loose.source.clone(), loose.ref_type, &loose.target));
    for (source, ref_type, target) in inside.chain(beside) {
        let source_id = source.to_string();
        let item = Item::Source { item_type: "reference", source_id: Some(source_id.clone()) };
        let mut find = |from: Option<EntityId>, target: &Target, field: &str| {
            check::look_up(from, target, resolver, dialogue, &item, field).unwrap_or_else(|fault| {
                faults.push(fault);
                None
            })
        };
        let from = find(None, &source, "source_id");
        let (Some(from), Some(to)) = (from, find(from, target, "target_id")) else { continue };
        match check::meaning((from, &source_id), ref_type, to, &item) {
            Ok(()) if seen.insert((from, ref_type, to)) => connected.push((from, ref_type, to)),
            Ok(()) => {}
            Err(fault) => faults.push(fault),
        }
    }
    connected
}

fn read_moves(
    batch: &Batch,
    round: u8,
    resolver: &Resolver<'_>,
    roll: &Roll<'_>,
    faults: &mut Vec<Fault>,
) -> Vec<Move> {
    let mut moves = Vec::new();
    for made in &batch.moves {
        let item = made.item();
        let expert = roll.expert(&made.expert, &item, "expert");
        let mut targets = Vec::with_capacity(made.targets.len());
        for target in &made.targets {
            match check::look_up(None, target, resolver, roll.dialogue, &item, "targets") {
                Ok(found) => targets.extend(found.filter(|id| !targets.contains(id))),
                Err(fault) => faults.push(fault),
            }
        }
        let (move_type, context) = (made.move_type, made.context.clone());
        match expert {
            Ok(expert) => moves.push(Move { expert, round, move_type, targets, context }),
            Err(fault) => faults.push(fault),
        }
    }
    let item = Item::Source { item_type: "converge", source_id: None };
    for expert in roll.experts(&batch.converge, &item, "converge", faults) {
        let converge = MoveType::Converge;
        // A signal that was also made as a move is one signal.
        if !moves.iter().any(|made| made.expert == expert && made.move_type == converge) {
            moves.push(Move {
                expert,
                round,
                move_type: converge,
                targets: Vec::new(),
                context: None,
            });
        }
    }
    moves
}

/// References of new entities are stored with them; those of older ones come late.
fn attach(entities: &mut [NewEntity], references: Vec<Triple>) -> Vec<Change> {
    let places: HashMap<EntityId, usize> =
        entities.iter().enumerate().map(|(place, entity)| (entity.id, place)).collect();
    let mut late = Vec::new();
    for (source, ref_type, target) in references {
        match places.get(&source).and_then(|place| entities.get_mut(*place)) {
            Some(entity) => entity.references.push(Reference { ref_type, target }),
            None => late.push(Change::ReferenceAdded { source, ref_type, target }),
        }
    }
    late
}

/// Experts that take part for the first time.
fn joined(
    round: u8,
    facts: &Facts,
    scores: &[(ExpertSlug, i64)],
    replies: &[(ExpertSlug, String)],
    entities: &[NewEntity],
    moves: &[Move],
) -> Vec<Change> {
    let active: BTreeSet<&ExpertSlug> = scores
        .iter()
        .map(|(expert, _)| expert)
        .chain(replies.iter().map(|(expert, _)| expert))
        .chain(entities.iter().flat_map(|entity| &entity.contributors))
        .chain(moves.iter().map(|made| &made.expert))
        .collect();
    active
        .into_iter()
        .filter(|expert| facts.experts.get(*expert).is_some_and(Option::is_none))
        .map(|expert| Change::ExpertJoined { expert: expert.clone(), round })
        .collect()
}

/// The dialogue is converging, or no longer is.
fn new_status(
    batch: &Batch,
    dialogue: &Dialogue,
    facts: &Facts,
    work_remaining: u32,
) -> Option<Change> {
    let scores: Vec<i64> = facts.recent_scores.iter().copied().chain([batch.score]).collect();
    let status = if is_converging(&scores, work_remaining) {
        DialogueStatus::Converging
    } else {
        DialogueStatus::Open
    };
    (status != dialogue.status).then_some(Change::StatusSet { status, reason: None })
}
