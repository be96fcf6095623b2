//! Visits the entities of a record one at a time, so that a long record need not be in memory.

use super::entity::Entity;
use super::ids::{EntityId, EntityKind, ExpertSlug};
use super::lifecycle::Status;
use super::record::Record;

/// The visited kinds. Tensions are few and needed later, so the record contains them.
pub const SHOWN: [EntityKind; 4] =
    [EntityKind::Perspective, EntityKind::Recommendation, EntityKind::Evidence, EntityKind::Claim];

/// An entity as its table row shows it. Fields that are only passed on stay valid JSON text.
#[derive(Debug, Clone)]
pub struct Shown<'a> {
    pub id: EntityId,
    pub label: &'a str,
    pub text: &'a str,
    pub status: Status,
    pub contributors: Vec<&'a str>,
    pub references: Option<&'a str>,
    pub parameters: Option<&'a str>,
}

/// Called for each entity, round by round, with the record it belongs to.
pub type Viewer<'a> = dyn FnMut(&Record, &Shown<'_>) -> Result<(), serde_json::Error> + 'a;

/// Visits the entities of a record in memory.
pub fn show(record: &Record, viewer: &mut Viewer<'_>) -> Result<(), serde_json::Error> {
    for held in &record.rounds {
        for entity in SHOWN.iter().flat_map(|kind| record.entities_of(*kind, held.round)) {
            show_entity(record, entity, viewer)?;
        }
    }
    Ok(())
}

fn show_entity(
    record: &Record,
    entity: &Entity,
    viewer: &mut Viewer<'_>,
) -> Result<(), serde_json::Error> {
    let references = serde_json::to_string(&entity.references)?;
    let parameters = entity.parameters.as_ref().map(serde_json::to_string).transpose()?;
    let shown = Shown {
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
