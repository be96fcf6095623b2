//! Compares the schema of a store with the one that the migrations make.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::columns::{lossy_text, query};
use crate::store::error::StoreError;
use crate::store::verification::Finding;

/// Tables, indexes, views and the triggers that guard them must be those of the migrations.
pub(super) fn schema(
    connection: &Connection,
    replica: &Connection,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let (live, expected) = (definitions(connection)?, definitions(replica)?);
    let names: BTreeSet<&Name> = live.keys().chain(expected.keys()).collect();
    for name in names {
        let message = match (live.get(name), expected.get(name)) {
            (Some(live), Some(expected)) if live == expected => continue,
            (Some(_), Some(_)) => "was changed",
            (Some(_), None) => "was added",
            (None, _) => "was taken away",
        };
        findings.push(Finding {
            check: "schema",
            dialogue_id: None,
            place: name.1.clone(),
            message: message.to_owned(),
        });
    }
    Ok(())
}

/// Whether a table that the program needs was taken away.
pub(super) fn is_table_missing(
    connection: &Connection,
    replica: &Connection,
) -> Result<bool, StoreError> {
    let tables = |connection: &Connection| -> Result<BTreeSet<String>, StoreError> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table'";
        Ok(query(connection, sql, [], |row| Ok(row.get(0)?))?.into_iter().collect())
    };
    Ok(!tables(connection)?.is_superset(&tables(replica)?))
}

/// A kind of definition and its name: a trigger may be named like a table.
type Name = (String, String);

/// All definitions of a name, each with the table it belongs to and its text.
type Definitions = BTreeMap<Name, Vec<(String, String)>>;

/// What the schema holds. Statistics are left out: `ANALYZE` adds them and they change no answer.
fn definitions(connection: &Connection) -> Result<Definitions, StoreError> {
    let mut statement = connection.prepare(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema
         WHERE NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))",
    )?;
    let mut rows = statement.query([])?;
    let mut found = Definitions::new();
    while let Some(row) = rows.next()? {
        let name = (lossy_text(row, 0)?, lossy_text(row, 1)?);
        found.entry(name).or_default().push((lossy_text(row, 2)?, lossy_text(row, 3)?));
    }
    found.values_mut().for_each(|definitions| definitions.sort());
    Ok(found)
}
