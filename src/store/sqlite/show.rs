//! Streams the entities of a record to a visitor, row by row and round by round.

use rusqlite::{Connection, Row, params};
use serde::de::IgnoredAny;

use super::columns::{malformed_error, parse_column};
use super::statements;
use crate::domain::ids::{EntityId, EntityKind};
use crate::domain::record::DialogueRecord;
use crate::domain::shown::{EntityView, EntityVisitor, VISITED_KINDS};
use crate::store::error::StoreError;

pub(super) fn visit_entities(
    connection: &Connection,
    record: &DialogueRecord,
    viewer: &mut EntityVisitor<'_>,
) -> Result<(), StoreError> {
    let dialogue = record.dialogue.id().as_str();
    for held in &record.rounds {
        for kind in VISITED_KINDS {
            let mut statement =
                connection.prepare_cached(&statements::statements_for(kind).visit)?;
            let mut rows = statement.query(params![dialogue, held.round])?;
            while let Some(row) = rows.next()? {
                let shown = read_visited_entity(row, kind, held.round)?;
                viewer(record, &shown).map_err(StoreError::Unwritable)?;
            }
        }
    }
    Ok(())
}

fn read_visited_entity<'a>(
    row: &'a Row<'_>,
    kind: EntityKind,
    round: u8,
) -> Result<EntityView<'a>, StoreError> {
    let contributors = read_str(row, 4)?;
    Ok(EntityView {
        id: EntityId { kind, round, seq: row.get(0)? },
        label: read_str(row, 1)?,
        text: read_str(row, 2)?,
        status: parse_column(row, 3, "status")?,
        contributors: serde_json::from_str(contributors)
            .map_err(|_| malformed_error("contributors", contributors))?,
        references: read_json_text(row, 5, "references")?,
        parameters: match kind {
            EntityKind::Recommendation => read_json_text(row, 6, "parameters")?,
            EntityKind::Perspective
            | EntityKind::Tension
            | EntityKind::Evidence
            | EntityKind::Claim => None,
        },
    })
}

fn read_str<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, StoreError> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

/// A JSON column that is validated but not deserialised.
fn read_json_text<'a>(
    row: &'a Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<Option<&'a str>, StoreError> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    if let Some(text) = text {
        serde_json::from_str::<IgnoredAny>(text).map_err(|_| malformed_error(what, text))?;
    }
    Ok(text)
}
