//! Resolves all names and ids of a batch, assigns new ids and applies the explicit updates.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::dialogue::diagnostics::illegal_transition;
use crate::dialogue::entity_states::{EntityStates, TransitionCause};
use crate::dialogue::lookup::{ExpertLookup, TargetLookup};
use crate::dialogue::register::batch::{RegisterBatch, RegisterItem};
use crate::dialogue::register::check::{CheckedUpdate, check_reference, check_update};
use crate::model::entity::{EventOrigin, ExpertMove, MoveType, ReferenceLink};
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, new_entity_id};
use crate::model::journal::NewEntity;
use crate::model::limits::ITEMS_PER_ROUND_MAX;
use crate::model::record::RecordLookup;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError};
use crate::protocols::alignment::types::ScoreComponents;

/// A batch with all names and ids resolved.
#[derive(Debug)]
pub(crate) struct ResolvedBatch {
    pub round: u8,
    pub scores: Vec<(ExpertSlug, i64, Option<ScoreComponents>)>,
    pub replies: Vec<(ExpertSlug, String)>,
    pub entities: Vec<NewEntity>,
    pub updates: Vec<CheckedUpdate>,
    pub links: Vec<ReferenceLink>,
    pub moves: Vec<ExpertMove>,
}

impl ResolvedBatch {
    /// All experts with a score, reply, item or move in the round.
    pub(crate) fn active_experts(&self) -> BTreeSet<&ExpertSlug> {
        self.scores
            .iter()
            .map(|(expert, ..)| expert)
            .chain(self.replies.iter().map(|(expert, _)| expert))
            .chain(self.entities.iter().flat_map(|entity| &entity.contributors))
            .chain(self.moves.iter().map(|made| &made.expert))
            .collect()
    }
}

/// Resolves everything and applies the explicit updates. Returns `None` on errors.
pub(crate) fn resolve_batch(
    batch: &RegisterBatch,
    round: u8,
    roll: ExpertLookup<'_>,
    board: &mut EntityStates,
    faults: &mut Vec<ValidationError>,
) -> Option<ResolvedBatch> {
    let scores = resolve_scores(batch, &roll, faults);
    let replies = resolve_per_expert(&batch.raw_content, "raw_content", &roll, faults);
    let entities = assign_ids(batch, round, &roll, faults);
    let overflow = overflow_ids(&batch.items);
    let lookup = TargetLookup::new_for_record(roll.facts, roll.dialogue)
        .with_batch(&entities, &[&batch.faulty[..], &overflow].concat());
    for entity in &entities {
        board.add_entity(entity.id, entity.contributors.clone());
    }
    let updates = apply_updates(batch, &lookup, &roll, board, faults);
    let links = resolve_references(batch, &lookup, roll.facts, faults);
    let moves = resolve_moves(batch, round, &lookup, &roll, faults);
    let found = ResolvedBatch { round, scores, replies, entities, updates, links, moves };
    faults.is_empty().then_some(found)
}

/// Scores with what they are made of. Components without a score are their own sum.
fn resolve_scores(
    batch: &RegisterBatch,
    roll: &ExpertLookup<'_>,
    faults: &mut Vec<ValidationError>,
) -> Vec<(ExpertSlug, i64, Option<ScoreComponents>)> {
    let sums = resolve_per_expert(&batch.expert_scores, "expert_scores", roll, faults);
    let mut parts = resolve_per_expert(&batch.score_components, "score_components", roll, faults);
    let mut scores = Vec::new();
    for (expert, score) in sums {
        let place = parts.iter().position(|(slug, _)| *slug == expert);
        let own = place.map(|place| parts.remove(place).1);
        if let Some(own) = own.as_ref().filter(|own| own.total() != score) {
            let total = own.total();
            let message =
                format!("the score of '{expert}' is {score}, but its components add up to {total}");
            let item = ErrorItem::Source {
                item_type: "score_components",
                source_id: Some(expert.to_string()),
            };
            faults.push(
                ValidationError::new(ErrorCode::InvalidType, message)
                    .about_item(&item)
                    .with_field("score_components")
                    .with_suggestion("leave the expert out of expert_scores, or correct the sum"),
            );
        }
        scores.push((expert, score, own));
    }
    scores.extend(parts.into_iter().map(|(expert, own)| (expert, own.total(), Some(own))));
    scores
}

/// Resolves the names in a list of values per expert.
fn resolve_per_expert<T: Clone>(
    named: &[(String, T)],
    field: &'static str,
    roll: &ExpertLookup<'_>,
    faults: &mut Vec<ValidationError>,
) -> Vec<(ExpertSlug, T)> {
    let mut found = Vec::with_capacity(named.len());
    for (name, value) in named {
        let item = ErrorItem::Source { item_type: field, source_id: Some(name.clone()) };
        match roll.find_expert(name, &item, field) {
            Ok(expert) => found.push((expert, value.clone())),
            Err(fault) => faults.push(fault),
        }
    }
    found
}

/// Assigns global ids in batch order. References are added later.
fn assign_ids(
    batch: &RegisterBatch,
    round: u8,
    roll: &ExpertLookup<'_>,
    faults: &mut Vec<ValidationError>,
) -> Vec<NewEntity> {
    let mut taken = HashSet::new();
    let mut counts: HashMap<EntityKind, usize> = HashMap::new();
    let mut entities = Vec::with_capacity(batch.items.len());
    for new in &batch.items {
        let item = new.error_item();
        if !taken.insert(&new.local_id) {
            let message = format!("local_id '{}' is used twice in this batch", new.local_id);
            let fault = ValidationError::new(ErrorCode::DuplicateLocalId, message)
                .about_item(&item)
                .with_field("local_id");
            faults.push(fault.with_value(new.local_id.to_string()));
            continue;
        }
        let author = new.local_id.expert.as_str();
        let contributors = roll.find_experts(&new.contributors, &item, "contributors", faults);
        if !new.contributors.iter().any(|name| name == author)
            && let Err(fault) = roll.find_expert(author, &item, "local_id")
        {
            faults.push(fault);
        }
        let count = counts.entry(new.kind()).or_default();
        *count += 1;
        // `check_batch` already reports a round that is too full.
        let Some(id) = new_entity_id(new.kind(), round, *count) else { continue };
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

/// Items beyond the capacity of the round. References to them are not reported again.
fn overflow_ids(items: &[RegisterItem]) -> Vec<String> {
    let mut beyond = Vec::new();
    for kind in EntityKind::ALL {
        let same = items.iter().filter(|item| item.kind() == *kind);
        let rest = same.skip(usize::from(ITEMS_PER_ROUND_MAX));
        beyond.extend(rest.map(|item| item.local_id.to_string()));
    }
    beyond
}

/// Applies explicit updates in order. An illegal transition is an error.
fn apply_updates(
    batch: &RegisterBatch,
    lookup: &TargetLookup<'_>,
    roll: &ExpertLookup<'_>,
    board: &mut EntityStates,
    faults: &mut Vec<ValidationError>,
) -> Vec<CheckedUpdate> {
    let mut applied = Vec::new();
    for update in &batch.updates {
        let Some(checked) = check_update(update, lookup, roll, board, faults) else {
            continue;
        };
        let cause = TransitionCause::by_actors(checked.actors.clone())
            .with_origin(checked.via.map(EventOrigin::Entity))
            .with_reason(checked.reason.clone());
        match board.transition(checked.id, checked.status, cause) {
            Ok(()) => applied.push(checked),
            Err(illegal) => {
                faults.push(illegal_transition(checked.id, illegal, &update.error_item()))
            }
        }
    }
    applied
}

/// Resolves all references in order of appearance, without duplicates.
fn resolve_references(
    batch: &RegisterBatch,
    lookup: &TargetLookup<'_>,
    facts: &RecordLookup,
    faults: &mut Vec<ValidationError>,
) -> Vec<ReferenceLink> {
    let mut seen = facts.references.clone();
    let mut links = Vec::new();
    let inside = batch.items.iter().flat_map(|item| {
        let source = EntityTarget::Local(item.local_id.clone());
        item.references.iter().map(move |(ref_type, to)| (source.clone(), *ref_type, to, "target"))
    });
    let beside = batch
        .refs
        .iter()
        .map(|loose| (loose.source.clone(), loose.ref_type, &loose.target, "target_id"));
    for (from, ref_type, to, field) in inside.chain(beside) {
        let source_id = from.to_string();
        let item = ErrorItem::Source { item_type: "reference", source_id: Some(source_id.clone()) };
        let Some(source) = lookup.find_target(&from, (&item, "source_id"), faults) else {
            continue;
        };
        let Some(target) = lookup.find_target_of(source, to, (&item, field), faults) else {
            continue;
        };
        let link = ReferenceLink { source, ref_type, target };
        match check_reference(link, &source_id, &item) {
            Ok(()) if seen.insert(link) => links.push(link),
            Ok(()) => {}
            Err(fault) => faults.push(fault),
        }
    }
    links
}

fn resolve_moves(
    batch: &RegisterBatch,
    round: u8,
    lookup: &TargetLookup<'_>,
    roll: &ExpertLookup<'_>,
    faults: &mut Vec<ValidationError>,
) -> Vec<ExpertMove> {
    let mut moves = Vec::new();
    for made in &batch.moves {
        let item = made.error_item();
        let expert =
            roll.find_expert(&made.expert, &item, "expert").map_err(|fault| faults.push(fault));
        let found: Vec<EntityId> = made
            .targets
            .iter()
            .filter_map(|target| lookup.find_target(target, (&item, "targets"), faults))
            .collect();
        let targets = dedup_ids(&found);
        let (move_type, context) = (made.move_type, made.context.clone());
        let needed = move_type.targets_min();
        // Two names may mean the same entity. Unresolved targets were already reported.
        if found.len() == made.targets.len() && targets.len() < needed {
            let message = format!("move '{move_type}' needs {needed} different targets");
            let fault = ValidationError::new(ErrorCode::MissingField, message)
                .about_item(&item)
                .with_field("targets");
            faults.push(fault.with_suggestion("name another item"));
        }
        if let Ok(expert) = expert {
            moves.push(ExpertMove { expert, round, move_type, targets, context });
        }
    }
    let item = ErrorItem::Source { item_type: "converge", source_id: None };
    for expert in roll.find_experts(&batch.converge, &item, "converge", faults) {
        let move_type = MoveType::Converge;
        // An expert may signal both here and as a move; keep one signal.
        if !moves.iter().any(|made| made.expert == expert && made.move_type == move_type) {
            moves.push(ExpertMove { expert, round, move_type, targets: Vec::new(), context: None });
        }
    }
    moves
}

fn dedup_ids(ids: &[EntityId]) -> Vec<EntityId> {
    let mut seen = HashSet::new();
    ids.iter().copied().filter(|id| seen.insert(*id)).collect()
}
