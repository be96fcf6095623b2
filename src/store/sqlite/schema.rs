//! Compares the schema of a store with the schema of the migrations.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::columns::{lossy_text, query_rows};
use crate::store::error::StoreError;
use crate::store::verification::VerifyFinding;

/// Reports differences in tables, indexes, views and triggers.
pub(super) fn compare_schema(
    connection: &Connection,
    replica: &Connection,
    findings: &mut Vec<VerifyFinding>,
) -> Result<(), StoreError> {
    let (live, expected) = (read_definitions(connection)?, read_definitions(replica)?);
    let names: BTreeSet<&DefinitionName> = live.keys().chain(expected.keys()).collect();
    for name in names {
        let message = match (live.get(name), expected.get(name)) {
            (Some(live), Some(expected)) if live == expected => continue,
            (Some(_), Some(_)) => "was changed",
            (Some(_), None) => "was added",
            (None, _) => "was taken away",
        };
        findings.push(VerifyFinding {
            check: "schema",
            dialogue_id: None,
            place: name.1.clone(),
            message: message.to_owned(),
        });
    }
    Ok(())
}

/// Whether a required table is missing.
pub(super) fn is_table_missing(
    connection: &Connection,
    replica: &Connection,
) -> Result<bool, StoreError> {
    let tables = |connection: &Connection| -> Result<BTreeSet<String>, StoreError> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table'";
        Ok(query_rows(connection, sql, [], |row| Ok(row.get(0)?))?.into_iter().collect())
    };
    Ok(!tables(connection)?.is_superset(&tables(replica)?))
}

/// Type and name of a definition; a trigger may have the name of a table.
type DefinitionName = (String, String);

/// Definitions by name, each with its table and SQL text.
type SchemaDefinitions = BTreeMap<DefinitionName, Vec<(String, String)>>;

/// Reads all definitions. The tables of `ANALYZE` are left out, because they do not affect results.
fn read_definitions(connection: &Connection) -> Result<SchemaDefinitions, StoreError> {
    let mut statement = connection.prepare(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema
         WHERE NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))",
    )?;
    let mut rows = statement.query([])?;
    let mut found = SchemaDefinitions::new();
    while let Some(row) = rows.next()? {
        let name = (lossy_text(row, 0)?, lossy_text(row, 1)?);
        found.entry(name).or_default().push((lossy_text(row, 2)?, lossy_text(row, 3)?));
    }
    found.values_mut().for_each(|definitions| definitions.sort());
    Ok(found)
}
