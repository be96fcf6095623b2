//! Streams the entities of a record to a visitor, row by row and round by round.

use rusqlite::{Connection, Row, params};
use serde::de::IgnoredAny;

use super::columns::{malformed, parsed};
use super::statements;
use crate::domain::ids::{EntityId, EntityKind};
use crate::domain::record::Record;
use crate::domain::shown::{SHOWN, Shown, Viewer};
use crate::store::error::StoreError;

pub(super) fn entities(
    connection: &Connection,
    record: &Record,
    viewer: &mut Viewer<'_>,
) -> Result<(), StoreError> {
    let dialogue = record.dialogue.id().as_str();
    for held in &record.rounds {
        for kind in SHOWN {
            let mut statement = connection.prepare_cached(&statements::of(kind).show)?;
            let mut rows = statement.query(params![dialogue, held.round])?;
            while let Some(row) = rows.next()? {
                let shown = shown(row, kind, held.round)?;
                viewer(record, &shown).map_err(StoreError::Unwritable)?;
            }
        }
    }
    Ok(())
}

fn shown<'a>(row: &'a Row<'_>, kind: EntityKind, round: u8) -> Result<Shown<'a>, StoreError> {
    let contributors = text(row, 4)?;
    Ok(Shown {
        id: EntityId { kind, round, seq: row.get(0)? },
        label: text(row, 1)?,
        text: text(row, 2)?,
        status: parsed(row, 3, "status")?,
        contributors: serde_json::from_str(contributors)
            .map_err(|_| malformed("contributors", contributors))?,
        references: json_text(row, 5, "references")?,
        parameters: match kind {
            EntityKind::Recommendation => json_text(row, 6, "parameters")?,
            EntityKind::Perspective
            | EntityKind::Tension
            | EntityKind::Evidence
            | EntityKind::Claim => None,
        },
    })
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, StoreError> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

/// A JSON column that is validated but not deserialised.
fn json_text<'a>(
    row: &'a Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<Option<&'a str>, StoreError> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    if let Some(text) = text {
        serde_json::from_str::<IgnoredAny>(text).map_err(|_| malformed(what, text))?;
    }
    Ok(text)
}
