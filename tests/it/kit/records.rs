//! Records without a store, for tests that need entities.

use std::collections::BTreeMap;

use plenary_core::dialogue::register::batch::RegisterItem;
use plenary_core::model::dialogue::{Dialogue, DialogueStatus};
use plenary_core::model::entity::{Entity, EntityReference};
use plenary_core::model::ids::{EntityId, EntityKind, ExpertSlug};
use plenary_core::model::lifecycle::initial_status;
use plenary_core::model::record::{DialogueRecord, RoundRecord};
use plenary_core::model::run_state::RunState;
use plenary_core::protocols::council::to_entities::round_batch;

/// A record without entities.
pub fn empty_record(state: &RunState) -> DialogueRecord {
    let at = state.opened_at;
    DialogueRecord {
        dialogue: Dialogue {
            opening: state.opening.clone(),
            status: DialogueStatus::Open,
            terminal_state: None,
            total_rounds: 0,
            total_alignment: 0,
            created_at: at,
            converged_at: None,
            closed_because: None,
        },
        pool: None,
        experts: Vec::new(),
        panels: BTreeMap::new(),
        rounds: Vec::new(),
        perspectives: Vec::new(),
        recommendations: Vec::new(),
        tensions: Vec::new(),
        evidence: Vec::new(),
        claims: Vec::new(),
        moves: Vec::new(),
        verdicts: Vec::new(),
        conclusion: None,
        local_ids: Vec::new(),
        calibration: None,
        head: String::new(),
    }
}

/// The entities of a council after its first two rounds, as the store would return them.
pub fn council_record(state: &RunState) -> DialogueRecord {
    let mut record = empty_record(state);
    let mut known: BTreeMap<String, EntityId> = BTreeMap::new();
    for round in [1, 2] {
        let batch = round_batch(state, round);
        let text = |text: Option<&str>| text.map(str::to_owned);
        add_round(&mut record, round, text(batch.title()), text(batch.summary()));
        for kind in EntityKind::ALL {
            let items = batch.items().iter().filter(|item| item.local_id.kind == *kind);
            for (seq, item) in (1..).zip(items) {
                let id = EntityId { kind: *kind, round, seq };
                known.insert(item.local_id.to_string(), id);
                let entity = make_entity(state, id, item, &known);
                entities_of_kind(&mut record, *kind).push(entity);
            }
        }
    }
    record
}

pub fn add_round(
    record: &mut DialogueRecord,
    round: u8,
    title: Option<String>,
    summary: Option<String>,
) {
    let created_at = record.dialogue.created_at;
    record.rounds.push(RoundRecord { round, title, score: 0, summary, created_at });
}

/// An entity without events.
pub fn add_entity(record: &mut DialogueRecord, id: &str, by: &str, label: &str, text: &str) {
    let id: EntityId = id.parse().unwrap();
    let contributors: Vec<ExpertSlug> = by.split(',').map(|name| name.parse().unwrap()).collect();
    let created_at = record.dialogue.created_at;
    entities_of_kind(record, id.kind).push(Entity {
        id,
        label: label.to_owned(),
        text: text.to_owned(),
        contributors,
        status: initial_status(id.kind),
        parameters: None,
        references: Vec::new(),
        adopted_in_verdict: None,
        events: Vec::new(),
        created_at,
    });
}

fn make_entity(
    state: &RunState,
    id: EntityId,
    item: &RegisterItem,
    known: &BTreeMap<String, EntityId>,
) -> Entity {
    let references = item.references.iter().map(|(ref_type, target)| EntityReference {
        ref_type: *ref_type,
        target: known[&target.to_string()],
    });
    Entity {
        id,
        label: item.label.clone(),
        text: item.text.clone(),
        contributors: item.contributors.iter().map(|name| name.parse().unwrap()).collect(),
        status: initial_status(id.kind),
        parameters: item.parameters.clone(),
        references: references.collect(),
        adopted_in_verdict: None,
        events: Vec::new(),
        created_at: state.opened_at,
    }
}

fn entities_of_kind(record: &mut DialogueRecord, kind: EntityKind) -> &mut Vec<Entity> {
    match kind {
        EntityKind::Perspective => &mut record.perspectives,
        EntityKind::Recommendation => &mut record.recommendations,
        EntityKind::Tension => &mut record.tensions,
        EntityKind::Evidence => &mut record.evidence,
        EntityKind::Claim => &mut record.claims,
    }
}
