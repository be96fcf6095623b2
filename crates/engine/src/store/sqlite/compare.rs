//! Compares the tables with a replay of the journal into an empty database.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEvent;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params};

use crate::store::error::StoreResult;
use crate::store::sqlite::apply::EventApplier;
use crate::store::sqlite::connect::open_in_memory;
use crate::store::sqlite::journal::LIBRARY_SCOPE;
use crate::store::sqlite::statements::{lossy_text, query_rows};
use crate::store::traits::VerifyFinding;

/// All tables derived from the journal, parents before children.
const PROJECTED_TABLES: [&str; 31] = [
    "dialogues",
    "expert_pool",
    "expert_profiles",
    "panels",
    "rounds",
    "registrations",
    "expert_scores",
    "raw_replies",
    "perspectives",
    "recommendations",
    "tensions",
    "evidence",
    "claims",
    "perspective_events",
    "recommendation_events",
    "tension_events",
    "evidence_events",
    "claim_events",
    "local_ids",
    "refs",
    "moves",
    "verdicts",
    "conclusions",
    "outcomes",
    "verdict_log",
    "overrides",
    "constraints",
    "ethos",
    "ethos_rules",
    "ethos_conflicts",
    "rule_challenges",
];

/// Tables of the library, parents before children. They belong to no dialogue.
const LIBRARY_TABLES: [&str; 4] = ["principles", "domains", "tenets", "lenses"];

/// Replays the library into the replica and compares its tables. The replica keeps the library,
/// because dialogues refer to it.
pub(crate) fn compare_library(
    connection: &Connection,
    replica: &Connection,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    let mut complain = |place: &str, message: String| {
        findings.push(VerifyFinding::new("replay", None, place, message));
    };
    if let Err(message) = replay_journal(connection, replica, LIBRARY_SCOPE) {
        complain("journal", message);
        return Ok(());
    }
    for table in LIBRARY_TABLES {
        compare_table(connection, replica, table, None, &mut complain)?;
    }
    Ok(())
}

/// Replays a dialogue's journal and compares every table with the result.
pub(crate) fn compare_dialogue(
    connection: &Connection,
    replica: &Connection,
    id: &str,
    printed: &SearchTexts,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    let mut complain = |place: &str, message: String| {
        findings.push(VerifyFinding::new("replay", Some(id), place, message));
    };
    let transaction = replica.unchecked_transaction()?;
    if let Err(message) = replay_journal(connection, &transaction, id) {
        complain("journal", message);
        return Ok(());
    }
    for table in PROJECTED_TABLES {
        compare_table(connection, &transaction, table, Some(id), &mut complain)?;
    }
    if read_search_texts(&transaction, Some(id))?.remove(id).unwrap_or_default() != *printed {
        complain(SEARCH_TABLE, "differs from the journal".to_owned());
    }
    // The rollback empties the replica for the next dialogue.
    transaction.rollback()?;
    Ok(())
}

/// The rows of a dialogue that differ from its journal. Neither the hash chain nor the search index
/// is checked.
pub(crate) fn find_changed_rows(
    connection: &Connection,
    id: &DialogueId,
) -> StoreResult<Vec<VerifyFinding>> {
    let (replica, mut findings) = (open_in_memory()?, Vec::new());
    // The dialogue refers to the library. Without it the replay of the dialogue fails, and says so.
    let _ = replay_journal(connection, &replica, LIBRARY_SCOPE);
    let id = id.as_str();
    let mut complain = |place: &str, message: String| {
        findings.push(VerifyFinding::new("replay", Some(id), place, message));
    };
    if let Err(message) = replay_journal(connection, &replica, id) {
        complain("journal", message);
        return Ok(findings);
    }
    for table in PROJECTED_TABLES {
        compare_table(connection, &replica, table, Some(id), &mut complain)?;
    }
    Ok(findings)
}

/// Compares the rows of one dialogue in a table, or all rows of a table of the library.
fn compare_table(
    connection: &Connection,
    replica: &Connection,
    table: &str,
    id: Option<&str>,
    complain: &mut impl FnMut(&str, String),
) -> StoreResult<()> {
    let (live, replayed) = (read_rows(connection, table, id)?, read_rows(replica, table, id)?);
    for (key, row) in &live {
        match replayed.get(key) {
            None => complain(table, format!("row {key} is not in the journal")),
            Some(other) if other != row => complain(table, format!("row {key} was changed")),
            Some(_) => {}
        }
    }
    for key in replayed.keys().filter(|key| !live.contains_key(*key)) {
        complain(table, format!("row {key} is missing"));
    }
    Ok(())
}

fn replay_journal(connection: &Connection, replica: &Connection, id: &str) -> Result<(), String> {
    let describe = |error: rusqlite::Error| error.to_string();
    if id != LIBRARY_SCOPE && id.parse::<DialogueId>().is_err() {
        return Err(format!("`{id}` is not a dialogue's id"));
    }
    let mut statement = connection
        .prepare_cached(
            "SELECT ts, payload, global_seq FROM journal WHERE dialogue_id = ?1 ORDER BY seq",
        )
        .map_err(describe)?;
    let mut rows = statement.query([id]).map_err(describe)?;
    while let Some(row) = rows.next().map_err(describe)? {
        let (ts, payload): (String, Option<String>) =
            (row.get(0).map_err(describe)?, row.get(1).map_err(describe)?);
        let entry = row.get(2).map_err(describe)?;
        let Some(payload) = payload else { continue };
        let at = ts.parse().map_err(|_| format!("`{ts}` is not a moment"))?;
        let changes: Vec<JournalEvent> = serde_json::from_str(&payload)
            .map_err(|error| format!("an entry cannot be read: {error}"))?;
        let applier = EventApplier::new(replica, id, entry, at);
        for change in &changes {
            check_scope(id, change)?;
            applier.apply_event(change).map_err(|error| format!("cannot be replayed: {error}"))?;
        }
    }
    Ok(())
}

/// The entry hash does not cover the dialogue id; only the opening event names the dialogue.
/// Only the library has changes of the library.
fn check_scope(id: &str, change: &JournalEvent) -> Result<(), String> {
    if let JournalEvent::DialogueOpened(opening) = change
        && opening.dialogue_id.as_str() != id
    {
        return Err(format!("its journal opens the dialogue `{}`", opening.dialogue_id));
    }
    let is_of_library = matches!(change, JournalEvent::LibraryChanged(_));
    if is_of_library != (id == LIBRARY_SCOPE) {
        return Err("an entry belongs to another journal".to_owned());
    }
    Ok(())
}

/// Reports rows of unknown dialogues, which no comparison of a dialogue covers.
pub(crate) fn find_stray_rows(
    connection: &Connection,
    ids: &[String],
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    let known: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    for table in PROJECTED_TABLES {
        let sql = format!("SELECT DISTINCT dialogue_id FROM {table}");
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = lossy_text(row, 0)?;
            if !known.contains(id.as_str()) {
                let message = format!("a row belongs to `{id}`, which is not a dialogue");
                findings.push(VerifyFinding::new("replay", None, table, message));
            }
        }
    }
    Ok(())
}

/// The rows of a dialogue in one table, by the key that a finding shows.
fn read_rows(
    connection: &Connection,
    table: &str,
    id: Option<&str>,
) -> StoreResult<BTreeMap<String, Vec<Value>>> {
    let keys = key_columns(connection, table)?;
    let order: Vec<String> = keys.iter().map(|column| format!("\"{column}\"")).collect();
    // A key of the library has no dialogue in front.
    let (filter, first) = match id {
        Some(_) => ("dialogue_id = ?1", 1),
        None => ("?1 IS NULL", 0),
    };
    let sql = format!("SELECT {}, * FROM {table} WHERE {filter}", order.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let columns = statement.column_count();
    let mut found = statement.query(params![id])?;
    let mut rows = BTreeMap::new();
    while let Some(row) = found.next()? {
        let values = |columns: Range<usize>| -> StoreResult<Vec<Value>> {
            columns.map(|column| Ok(to_owned_value(row.get_ref(column)?))).collect()
        };
        let key: Vec<String> = values(first..keys.len())?.iter().map(format_key_part).collect();
        // The row of the dialogue itself has no further key columns.
        let name = if key.is_empty() { "of the dialogue".to_owned() } else { key.join("/") };
        rows.insert(name, values(keys.len()..columns)?);
    }
    Ok(rows)
}

/// An owned copy of a value. Text that is not UTF-8 becomes a blob.
pub(crate) fn to_owned_value(found: ValueRef<'_>) -> Value {
    match found {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Blob(bytes.to_vec()),
        },
    }
}

/// Formats a key column. Values that are no plain names are quoted, so that all keys are distinct.
fn format_key_part(value: &Value) -> String {
    match value {
        Value::Integer(integer) => integer.to_string(),
        Value::Text(text)
            if text.starts_with(|first: char| first.is_ascii_alphabetic())
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) =>
        {
            text.clone()
        }
        Value::Null | Value::Real(_) | Value::Text(_) | Value::Blob(_) => format!("{value:?}"),
    }
}

fn key_columns(connection: &Connection, table: &str) -> StoreResult<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Indexed texts of one dialogue: pairs of field and body, sorted.
pub(crate) type SearchTexts = Vec<(String, String)>;

const SEARCH_TABLE: &str = "search_text";

/// The indexed texts of all dialogues, or of one. The table has no index by dialogue, so it is read
/// once.
pub(crate) fn read_search_texts(
    connection: &Connection,
    id: Option<&str>,
) -> StoreResult<BTreeMap<String, SearchTexts>> {
    let mut statement = connection.prepare_cached(
        "SELECT dialogue_id, field, body FROM search_text WHERE dialogue_id = ?1 OR ?1 IS NULL",
    )?;
    let mut rows = statement.query([id])?;
    let mut texts: BTreeMap<String, SearchTexts> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let text = (lossy_text(row, 1)?, lossy_text(row, 2)?);
        texts.entry(lossy_text(row, 0)?).or_default().push(text);
    }
    texts.values_mut().for_each(|texts| texts.sort());
    Ok(texts)
}

/// Finding for indexed texts of an unknown dialogue.
pub(crate) fn unknown_text_finding(id: &str) -> VerifyFinding {
    VerifyFinding::new("replay", Some(id), SEARCH_TABLE, "belongs to no dialogue")
}

/// Reports differences in tables, indexes, views and triggers.
pub(crate) fn compare_schema(
    connection: &Connection,
    replica: &Connection,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    let (live, expected) = (read_definitions(connection)?, read_definitions(replica)?);
    let names: BTreeSet<&DefinitionName> = live.keys().chain(expected.keys()).collect();
    for name in names {
        let message = match (live.get(name), expected.get(name)) {
            (Some(live), Some(expected)) if live == expected => continue,
            (Some(_), Some(_)) => "was changed",
            (Some(_), None) => "was added",
            (None, _) => "was removed",
        };
        findings.push(VerifyFinding::new("schema", None, &name.1, message));
    }
    Ok(())
}

/// Whether a required table is missing.
pub(crate) fn is_table_missing(connection: &Connection, replica: &Connection) -> StoreResult<bool> {
    let tables = |connection: &Connection| -> StoreResult<BTreeSet<String>> {
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
fn read_definitions(connection: &Connection) -> StoreResult<SchemaDefinitions> {
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
