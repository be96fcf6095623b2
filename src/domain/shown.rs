//! Visits the entities of a record one at a time, so that a long record need not be in memory.

use super::entity::Entity;
use super::ids::{EntityId, EntityKind, ExpertSlug};
use super::lifecycle::EntityStatus;
use super::record::DialogueRecord;

/// The visited kinds. Tensions are few and needed later, so the record contains them.
pub const VISITED_KINDS: [EntityKind; 4] =
    [EntityKind::Perspective, EntityKind::Recommendation, EntityKind::Evidence, EntityKind::Claim];

/// An entity as its table row shows it. Fields that are only passed on stay valid JSON text.
#[derive(Debug, Clone)]
pub struct EntityView<'a> {
    pub id: EntityId,
    pub label: &'a str,
    pub text: &'a str,
    pub status: EntityStatus,
    pub contributors: Vec<&'a str>,
    pub references: Option<&'a str>,
    pub parameters: Option<&'a str>,
}

/// Called for each entity, round by round, with the record it belongs to.
pub type EntityVisitor<'a> =
    dyn FnMut(&DialogueRecord, &EntityView<'_>) -> Result<(), serde_json::Error> + 'a;

/// Visits the entities of a record in memory.
pub fn visit_entities(
    record: &DialogueRecord,
    viewer: &mut EntityVisitor<'_>,
) -> Result<(), serde_json::Error> {
    for held in &record.rounds {
        for entity in
            VISITED_KINDS.iter().flat_map(|kind| record.entities_of_round(*kind, held.round))
        {
            visit_entity(record, entity, viewer)?;
        }
    }
    Ok(())
}

fn visit_entity(
    record: &DialogueRecord,
    entity: &Entity,
    viewer: &mut EntityVisitor<'_>,
) -> Result<(), serde_json::Error> {
    let references = serde_json::to_string(&entity.references)?;
    let parameters = entity.parameters.as_ref().map(serde_json::to_string).transpose()?;
    let shown = EntityView {
        id: entity.id,
        label: &entity.label,
        text: &entity.text,
        status: entity.status,
        contributors: entity.contributors.iter().map(ExpertSlug::as_str).collect(),
        references: Some(&references),
        parameters: parameters.as_deref(),
    };
    viewer(record, &shown)
}
