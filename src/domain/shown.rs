//! An entity as it passes by: a long record is read without being held.

use super::entity::Entity;
use super::ids::{EntityId, EntityKind, ExpertSlug};
use super::lifecycle::Status;
use super::record::Record;

/// What is shown. Tensions are few, and looked back at, so the record itself holds them.
pub const SHOWN: [EntityKind; 4] =
    [EntityKind::Perspective, EntityKind::Recommendation, EntityKind::Evidence, EntityKind::Claim];

/// An entity as its row shows it. What is only passed on stays JSON text, known to be well formed.
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

/// Is shown each entity in turn, round by round, with the record it belongs to.
pub type Viewer<'a> = dyn FnMut(&Record, &Shown<'_>) -> Result<(), serde_json::Error> + 'a;

/// Shows a record that is held.
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
