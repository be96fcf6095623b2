//! Plays a batch out on the board and says what changes, or all that is wrong.
//!
//! Effects come in a fixed order: entities, explicit updates, references in
//! order of appearance, moves.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::answer::Answer;
use super::batch::{Batch, NewItem};
use super::check::{self, CheckedUpdate};
use super::effects;
use crate::domain::change::{Change, NewEntity};
use crate::domain::dialogue::Dialogue;
use crate::domain::entity::Origin;
use crate::domain::expert::{PanelSeat, inherited_panel};
use crate::domain::facts::Facts;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug, entity_id};
use crate::domain::limits::ITEMS_PER_ROUND_MAX;
use crate::domain::reference::{Link, Move, MoveType, Reference};
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::domain::target::Target;
use crate::record::board::{Board, Cause};
use crate::record::convergence;
use crate::record::faults::{illegal_step, out_of_order};
use crate::record::lookup::Lookup;
use crate::record::roll::Roll;
use crate::record::warning::Warning;

/// What a batch becomes.
#[derive(Debug)]
pub struct Decision {
    pub changes: Vec<Change>,
    pub answer: Answer,
}

pub fn decide(batch: &Batch, dialogue: &Dialogue, facts: &Facts) -> Result<Decision, Refusal> {
    let mut faults = batch.notes.faults.clone();
    faults.extend(check::whole_batch(batch, dialogue));
    if batch.round.is_some_and(|round| out_of_order(round, dialogue).is_some()) {
        // What it says about the record of another moment cannot be judged by today's.
        return Err(Refusal::new(faults));
    }
    let round = dialogue.next_round();
    let mut board = Board::new(round, facts);
    let Some(found) = find(batch, round, Roll { dialogue, facts }, &mut board, &mut faults) else {
        return Err(Refusal::new(faults));
    };
    let explicit = board.events.len();
    let mut warnings = batch.notes.warnings.clone();
    warnings.extend(off_panel(&found, facts));
    warnings.extend(play(&found, facts, &mut board));
    let implied = board.events.get(explicit..).unwrap_or_default();
    let answer = Answer::new(round, &found.entities, &found.updates, implied, warnings);
    Ok(Decision { changes: changes(batch, found, board, &answer, dialogue, facts), answer })
}

/// A batch whose names and ids were all found.
#[derive(Debug)]
struct Found {
    round: u8,
    scores: Vec<(ExpertSlug, i64)>,
    replies: Vec<(ExpertSlug, String)>,
    entities: Vec<NewEntity>,
    updates: Vec<CheckedUpdate>,
    links: Vec<Link>,
    moves: Vec<Move>,
}

/// Looks everything up and applies the explicit updates; nothing, when there were faults.
fn find(
    batch: &Batch,
    round: u8,
    roll: Roll<'_>,
    board: &mut Board,
    faults: &mut Vec<Fault>,
) -> Option<Found> {
    let scores = per_expert(&batch.expert_scores, "expert_scores", &roll, faults);
    let replies = per_expert(&batch.raw_content, "raw_content", &roll, faults);
    let entities = number(batch, round, &roll, faults);
    let overflow = beyond_capacity(&batch.items);
    let lookup = Lookup::in_record(roll.facts, roll.dialogue)
        .with_batch(&entities, &[&batch.faulty[..], &overflow].concat());
    for entity in &entities {
        board.add(entity.id, entity.contributors.clone());
    }
    let updates = apply_updates(batch, &lookup, &roll, board, faults);
    let links = connect(batch, &lookup, roll.facts, faults);
    let moves = find_moves(batch, round, &lookup, &roll, faults);
    let found = Found { round, scores, replies, entities, updates, links, moves };
    faults.is_empty().then_some(found)
}

/// Values keyed by expert, with the names looked up.
fn per_expert<T: Clone>(
    named: &[(String, T)],
    field: &'static str,
    roll: &Roll<'_>,
    faults: &mut Vec<Fault>,
) -> Vec<(ExpertSlug, T)> {
    let mut found = Vec::with_capacity(named.len());
    for (name, value) in named {
        let item = Item::Source { item_type: field, source_id: Some(name.clone()) };
        match roll.expert(name, &item, field) {
            Ok(expert) => found.push((expert, value.clone())),
            Err(fault) => faults.push(fault),
        }
    }
    found
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
        let contributors = roll.experts(&new.contributors, &item, "contributors", faults);
        if !new.contributors.iter().any(|name| name == author)
            && let Err(fault) = roll.expert(author, &item, "local_id")
        {
            faults.push(fault);
        }
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

/// Items for which the round has no number left: pointing at them is not another fault.
fn beyond_capacity(items: &[NewItem]) -> Vec<String> {
    let mut beyond = Vec::new();
    for kind in EntityKind::ALL {
        let same = items.iter().filter(|item| item.kind() == *kind);
        let rest = same.skip(usize::from(ITEMS_PER_ROUND_MAX));
        beyond.extend(rest.map(|item| item.local_id.to_string()));
    }
    beyond
}

/// Explicit updates, in order; here an illegal step is a fault.
fn apply_updates(
    batch: &Batch,
    lookup: &Lookup<'_>,
    roll: &Roll<'_>,
    board: &mut Board,
    faults: &mut Vec<Fault>,
) -> Vec<CheckedUpdate> {
    let mut applied = Vec::new();
    for update in &batch.updates {
        let Some(checked) = check::update(update, lookup, roll, board, faults) else { continue };
        let cause = Cause::by(checked.actors.clone())
            .through(checked.via.map(Origin::Entity))
            .because(checked.reason.clone());
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
    lookup: &Lookup<'_>,
    facts: &Facts,
    faults: &mut Vec<Fault>,
) -> Vec<Link> {
    let mut seen = facts.references.clone();
    let mut links = Vec::new();
    let inside = batch.items.iter().flat_map(|item| {
        let source = Target::Local(item.local_id.clone());
        item.references.iter().map(move |(ref_type, to)| (source.clone(), *ref_type, to, "target"))
    });
    let beside = batch
        .refs
        .iter()
        .map(|loose| (loose.source.clone(), loose.ref_type, &loose.target, "target_id"));
    for (from, ref_type, to, field) in inside.chain(beside) {
        let source_id = from.to_string();
        let item = Item::Source { item_type: "reference", source_id: Some(source_id.clone()) };
        let Some(source) = lookup.find(&from, (&item, "source_id"), faults) else { continue };
        let Some(target) = lookup.find_for(source, to, (&item, field), faults) else { continue };
        let link = Link { source, ref_type, target };
        match check::meaning(link, &source_id, &item) {
            Ok(()) if seen.insert(link) => links.push(link),
            Ok(()) => {}
            Err(fault) => faults.push(fault),
        }
    }
    links
}

fn find_moves(
    batch: &Batch,
    round: u8,
    lookup: &Lookup<'_>,
    roll: &Roll<'_>,
    faults: &mut Vec<Fault>,
) -> Vec<Move> {
    let mut moves = Vec::new();
    for made in &batch.moves {
        let item = made.item();
        let expert = roll.expert(&made.expert, &item, "expert").map_err(|fault| faults.push(fault));
        let found: Vec<EntityId> = made
            .targets
            .iter()
            .filter_map(|target| lookup.find(target, (&item, "targets"), faults))
            .collect();
        let targets = each_once(&found);
        let (move_type, context) = (made.move_type, made.context.clone());
        let needed = move_type.targets_min();
        // Two names may mean one thing; what could not be found was complained of.
        if found.len() == made.targets.len() && targets.len() < needed {
            let message = format!("move '{move_type}' needs {needed} different targets");
            let fault = Fault::new(Code::MissingField, message).about(&item).field("targets");
            faults.push(fault.suggest("name another item"));
        }
        if let Ok(expert) = expert {
            moves.push(Move { expert, round, move_type, targets, context });
        }
    }
    let item = Item::Source { item_type: "converge", source_id: None };
    for expert in roll.experts(&batch.converge, &item, "converge", faults) {
        let move_type = MoveType::Converge;
        // A signal that was also made as a move is one signal.
        if !moves.iter().any(|made| made.expert == expert && made.move_type == move_type) {
            moves.push(Move { expert, round, move_type, targets: Vec::new(), context: None });
        }
    }
    moves
}

fn each_once(ids: &[EntityId]) -> Vec<EntityId> {
    let mut seen = HashSet::new();
    ids.iter().copied().filter(|id| seen.insert(*id)).collect()
}

/// References, then moves.
fn play(found: &Found, facts: &Facts, board: &mut Board) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for link in &found.links {
        warnings.extend(effects::of_reference(board, *link));
    }
    for made in &found.moves {
        warnings.extend(effects::of_move(board, made, facts, &found.links));
    }
    warnings
}

fn changes(
    batch: &Batch,
    mut found: Found,
    board: Board,
    answer: &Answer,
    dialogue: &Dialogue,
    facts: &Facts,
) -> Vec<Change> {
    let round = found.round;
    let new_perspectives = answer.perspectives.len();
    let scores: Vec<i64> = facts.recent_scores.iter().copied().chain([batch.score]).collect();
    let work = convergence::work_remaining(board.active_tensions(), new_perspectives);
    let status = convergence::status_change(dialogue.status, &scores, work);
    let late = attach(&mut found.entities, &found.links);

    let mut changes = vec![Change::RoundHeld {
        round,
        title: batch.title.clone(),
        score: batch.score,
        summary: batch.summary.clone(),
    }];
    changes.extend(inherited(round, facts));
    changes.extend(joined(&found, facts));
    changes.extend(found.scores.into_iter().map(|(expert, score)| Change::ScoreGiven {
        round,
        expert,
        score,
    }));
    changes.extend(found.replies.into_iter().map(|(expert, content)| Change::RawReplyKept {
        round,
        expert,
        content,
    }));
    changes.extend(found.entities.into_iter().map(Change::EntityAdded));
    changes.extend(late);
    changes.extend(found.moves.into_iter().map(Change::MoveMade));
    changes.extend(board.events.into_iter().map(Change::EventAdded));
    changes.extend(status);
    changes.push(Change::BatchAnswered {
        round,
        batch_sha256: batch.sha256.clone(),
        answer: serde_json::json!(answer),
    });
    changes
}

/// References of new entities are stored with them; those of older ones come late.
fn attach(entities: &mut [NewEntity], links: &[Link]) -> Vec<Change> {
    let places: HashMap<EntityId, usize> =
        entities.iter().enumerate().map(|(place, entity)| (entity.id, place)).collect();
    let mut late = Vec::new();
    for link in links {
        let Link { source, ref_type, target } = *link;
        match places.get(&source).and_then(|place| entities.get_mut(*place)) {
            Some(entity) => entity.references.push(Reference { ref_type, target }),
            None => late.push(Change::ReferenceAdded(*link)),
        }
    }
    late
}

/// Who holds the round: the panel recorded for it, or the one it inherits.
fn panel(round: u8, facts: &Facts) -> Vec<PanelSeat> {
    if facts.recorded_panel.is_empty() {
        return inherited_panel(&facts.last_panel, &facts.experts, round);
    }
    facts.recorded_panel.clone()
}

/// An inherited panel is kept with its round: whoever joins later did not sit on it.
fn inherited(round: u8, facts: &Facts) -> Option<Change> {
    let seats = panel(round, facts);
    let is_new = facts.recorded_panel.is_empty() && !seats.is_empty();
    is_new.then_some(Change::PanelSet { round, seats })
}

/// Experts who take part without a seat: allowed, but worth a word.
fn off_panel(found: &Found, facts: &Facts) -> Option<Warning> {
    let panel = panel(found.round, facts);
    let is_seated = |expert: &ExpertSlug| panel.iter().any(|seat| seat.expert_slug == *expert);
    let guests: Vec<&str> = active(found)
        .into_iter()
        .filter(|expert| !is_seated(expert))
        .map(ExpertSlug::as_str)
        .collect();
    let message = format!("not on the panel of round {}: {}", found.round, guests.join(", "));
    (!guests.is_empty()).then(|| Warning::new("off_panel", message).with("experts", guests))
}

/// Everyone who said, earned or did something in the round.
fn active(found: &Found) -> BTreeSet<&ExpertSlug> {
    found
        .scores
        .iter()
        .map(|(expert, _)| expert)
        .chain(found.replies.iter().map(|(expert, _)| expert))
        .chain(found.entities.iter().flat_map(|entity| &entity.contributors))
        .chain(found.moves.iter().map(|made| &made.expert))
        .collect()
}

/// Experts that take part for the first time.
fn joined(found: &Found, facts: &Facts) -> Vec<Change> {
    active(found)
        .into_iter()
        .filter(|expert| facts.newcomers.contains(*expert))
        .map(|expert| Change::ExpertJoined { expert: expert.clone(), round: found.round })
        .collect()
}
