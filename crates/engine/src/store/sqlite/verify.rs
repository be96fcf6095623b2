//! Verifies a store: recomputes the hash chains, the tables from the journal, the statuses from the
//! events, and the search index from its texts.
//!
//! The journal is the only source of truth, so the main check replays it into an empty database and
//! compares row by row (`compare`). Any damage to the file becomes a finding and never makes
//! verification fail.
//!
//! `compare` checks the texts of the search index. Here its index tables in SQLite are checked: a
//! word that is missing there hides a dialogue from `similar` although its text is complete.

use std::collections::BTreeMap;

use plenary_core::model::ids::{DialogueId, EntityKind};
use plenary_core::model::lifecycle::EntityEventType;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use crate::store::error::{StoreError, StoreResult};
use crate::store::sqlite::compare::{
    compare_dialogue, compare_library, compare_schema, find_stray_rows, is_table_missing,
    read_search_texts, to_owned_value, unknown_text_finding,
};
use crate::store::sqlite::connect::open_in_memory;
use crate::store::sqlite::journal::{
    ChainHead, GENESIS_HASH, GLOBAL_SCOPE, LIBRARY_SCOPE, digest_bytes, hash_entry, hash_global,
};
use crate::store::sqlite::statements::{lossy_number, lossy_text, table_names};
use crate::store::traits::{VerifyFinding, VerifyReport};

pub(crate) fn verify_record(
    connection: &Connection,
    dialogue: Option<&DialogueId>,
    head: Option<&str>,
) -> StoreResult<VerifyReport> {
    let replica = open_in_memory()?;
    let mut findings = Vec::new();
    let compared = compare_schema(connection, &replica, &mut findings);
    record_damage(compared, "schema", &mut findings)?;
    let missing = is_table_missing(connection, &replica);
    let is_unreadable = missing.is_err();
    if record_damage(missing, "schema", &mut findings)? || is_unreadable {
        // A missing table cannot be compared.
        let head = GENESIS_HASH.to_owned();
        return Ok(VerifyReport { dialogues: 0, entries: 0, head, findings });
    }
    let entries = verify_chains(connection, dialogue, head, &mut findings);
    let entries = record_damage(entries, "journal", &mut findings)?;
    let compared = compare_library(connection, &replica, &mut findings);
    record_damage(compared, "library", &mut findings)?;
    let dialogues = match dialogue {
        Some(id) => Ok(vec![id.to_string()]),
        None => list_dialogue_ids(connection),
    };
    let ids = record_damage(dialogues, "dialogues", &mut findings)?;
    let texts = read_search_texts(connection, dialogue.map(DialogueId::as_str));
    let mut texts = record_damage(texts, "search_text", &mut findings)?;
    for id in &ids {
        let text = texts.remove(id).unwrap_or_default();
        let compared = compare_dialogue(connection, &replica, id, &text, &mut findings)
            .and_then(|()| check_statuses(connection, id, &mut findings));
        record_damage(compared, id, &mut findings)?;
    }
    findings.extend(texts.keys().map(|id| unknown_text_finding(id)));
    if dialogue.is_none() {
        check_whole_store(connection, &ids, &mut findings)?;
    }
    let scope = dialogue.map_or(GLOBAL_SCOPE, DialogueId::as_str);
    let noted =
        record_damage(load_noted_heads(connection, Some(scope)), "chain_heads", &mut findings)?;
    let head = noted.get(scope).map_or(GENESIS_HASH, |head| &head.hash).to_owned();
    Ok(VerifyReport { dialogues: ids.len(), entries, head, findings })
}

/// Checks that cover all dialogues together.
fn check_whole_store(
    connection: &Connection,
    ids: &[String],
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    let compared = find_stray_rows(connection, ids, findings);
    record_damage(compared, "rows", findings)?;
    let compared = compare_search_index(connection, findings);
    record_damage(compared, "search_text", findings)?;
    let checked = check_database(connection, findings);
    record_damage(checked, "database", findings)
}

/// Turns damage that stops one check into a finding, so that the other checks still run.
fn record_damage<T: Default>(
    checked: StoreResult<T>,
    place: &str,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<T> {
    match checked {
        Err(error @ (StoreError::Damaged { .. } | StoreError::Malformed { .. })) => {
            findings.push(VerifyFinding::new("unreadable", None, place, error.to_string()));
            Ok(T::default())
        }
        other => other,
    }
}

fn list_dialogue_ids(connection: &Connection) -> StoreResult<Vec<String>> {
    // A dialogue may have lost its rows or its journal entries.
    let mut statement = connection.prepare(
        "SELECT dialogue_id FROM dialogues UNION SELECT dialogue_id FROM journal
         WHERE dialogue_id <> ?1 ORDER BY 1",
    )?;
    let ids = statement.query_map([LIBRARY_SCOPE], |row| lossy_text(row, 0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Chain heads computed so far.
#[derive(Debug)]
struct ChainWalk {
    heads: BTreeMap<String, ChainHead>,
    head_seen: bool,
    entries: usize,
}

/// Reads the journal from its first entry and recomputes every hash.
fn verify_chains(
    connection: &Connection,
    dialogue: Option<&DialogueId>,
    head: Option<&str>,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<usize> {
    let mut walk = ChainWalk { heads: BTreeMap::new(), head_seen: false, entries: 0 };
    let sql = match dialogue {
        Some(_) => "SELECT global_seq, dialogue_id, seq, kind, ts, payload, payload_sha256, prev_hash, hash, global_hash
                    FROM journal WHERE dialogue_id = ?1 ORDER BY seq",
        None => "SELECT global_seq, dialogue_id, seq, kind, ts, payload, payload_sha256, prev_hash, hash, global_hash
                 FROM journal WHERE ?1 IS NULL ORDER BY global_seq",
    };
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([dialogue.map(DialogueId::as_str)])?;
    while let Some(row) = rows.next()? {
        let (own, global) = verify_entry(row, &mut walk, dialogue.is_none(), findings)?;
        walk.head_seen |= head.is_some_and(|head| head == own || head == global);
    }
    compare_heads(connection, dialogue, &walk, findings)?;
    if let Some(head) = head.filter(|_| !walk.head_seen) {
        let message = describe_missing_head(connection, head)?;
        let id = dialogue.map(DialogueId::as_str);
        findings.push(VerifyFinding::new("head", id, "journal", message));
    }
    Ok(walk.entries)
}

/// Explains where a missing head hash was found, if anywhere.
fn describe_missing_head(connection: &Connection, head: &str) -> StoreResult<String> {
    let elsewhere = connection
        .prepare("SELECT 1 FROM journal WHERE hash = ?1 OR global_hash = ?1")?
        .exists([head])?;
    Ok(match elsewhere {
        true => format!("{head} is the head of another chain: the store's, or another dialogue's"),
        false => format!(
            "the hash {head} is not part of the chain: it is mistyped or of another store, or the \
             record was rewritten"
        ),
    })
}

fn verify_entry(
    row: &Row<'_>,
    walk: &mut ChainWalk,
    is_global: bool,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<(String, String)> {
    let (global_seq, seq) = (lossy_number(row, 0)?, lossy_number(row, 2)?);
    let (id, kind, ts) = (lossy_text(row, 1)?, lossy_text(row, 3)?, lossy_text(row, 4)?);
    let (payload_sha256, prev) = (lossy_text(row, 6)?, lossy_text(row, 7)?);
    let (hash, global) = (lossy_text(row, 8)?, lossy_text(row, 9)?);
    let mut complain = |check: &'static str, message: String| {
        let place = format!("journal entry {seq}");
        findings.push(VerifyFinding::new(check, Some(&id), place, message));
    };
    let start = || ChainHead { seq: 0, hash: GENESIS_HASH.to_owned() };
    let own = walk.heads.get(&id).cloned().unwrap_or_else(start);
    if seq != own.seq.saturating_add(1) {
        complain("gap", format!("entry {seq} follows entry {}", own.seq));
    }
    if prev != own.hash {
        complain("chain", "does not follow the entry before it".to_owned());
    }
    if let Some(message) = check_payload(row.get_ref(5)?, &payload_sha256) {
        complain("payload", message.to_owned());
    }
    if hash_entry(&prev, seq, &kind, &ts, &payload_sha256) != hash {
        complain("hash", "its hash does not match its content".to_owned());
    }
    if is_global {
        let all = walk.heads.get(GLOBAL_SCOPE).cloned().unwrap_or_else(start);
        if global_seq != all.seq.saturating_add(1) || hash_global(&all.hash, &hash) != global {
            complain(
                "global_chain",
                format!("entry {global_seq} of all does not follow {}", all.seq),
            );
        }
        walk.heads
            .insert(GLOBAL_SCOPE.to_owned(), ChainHead { seq: global_seq, hash: global.clone() });
    }
    walk.heads.insert(id, ChainHead { seq, hash: hash.clone() });
    walk.entries += 1;
    Ok((hash, global))
}

/// Checks a payload. None may be missing: if settings withhold the messages of a seat, the payload
/// says so and contains their digest (`AskPrepared`).
fn check_payload(payload: ValueRef<'_>, sha256: &str) -> Option<&'static str> {
    match payload {
        ValueRef::Text(bytes) if digest_bytes(bytes) == sha256 => None,
        ValueRef::Null => Some("its payload was erased"),
        ValueRef::Text(_) | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => {
            Some("its payload was changed")
        }
    }
}

/// Compares computed and stored chain heads. A truncated chain is shorter than its stored head.
fn compare_heads(
    connection: &Connection,
    dialogue: Option<&DialogueId>,
    walk: &ChainWalk,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    let noted = load_noted_heads(connection, dialogue.map(DialogueId::as_str))?;
    let scopes: std::collections::BTreeSet<&String> =
        noted.keys().chain(walk.heads.keys()).collect();
    for scope in scopes {
        if noted.get(scope) != walk.heads.get(scope) {
            let id = Some(scope.as_str()).filter(|scope| *scope != GLOBAL_SCOPE);
            let message = "its last entry is not the stored head";
            findings.push(VerifyFinding::new("cut", id, "journal", message));
        }
    }
    Ok(())
}

/// The stored heads of all chains, or of one.
fn load_noted_heads(
    connection: &Connection,
    scope: Option<&str>,
) -> StoreResult<BTreeMap<String, ChainHead>> {
    let mut statement = connection
        .prepare("SELECT scope, seq, hash FROM chain_heads WHERE scope = ?1 OR ?1 IS NULL")?;
    let mut rows = statement.query([scope])?;
    let mut noted = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let head = ChainHead { seq: lossy_number(row, 1)?, hash: lossy_text(row, 2)? };
        noted.insert(lossy_text(row, 0)?, head);
    }
    Ok(noted)
}

/// Checks that each entity has the status of its newest status event.
fn check_statuses(
    connection: &Connection,
    id: &str,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    for kind in EntityKind::ALL {
        let (table, events, round, seq) = table_names(*kind);
        let mut statement = connection.prepare_cached(&format!(
            "SELECT e.round, e.seq, e.status,
               (SELECT v.event_type FROM {events} v
                WHERE v.dialogue_id = e.dialogue_id AND v.{round} = e.round AND v.{seq} = e.seq
                  AND v.event_type <> 'commented' ORDER BY v.seq DESC LIMIT 1)
             FROM {table} e WHERE e.dialogue_id = ?1"
        ))?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let (status, event) = (lossy_text(row, 2)?, lossy_text(row, 3)?);
            let reached = event
                .parse::<EntityEventType>()
                .ok()
                .and_then(|event| event.resulting_status(*kind))
                .map(|status| status.name());
            if reached != Some(status.as_str()) {
                let (round, seq) = (lossy_number(row, 0)?, lossy_number(row, 1)?);
                let display = format!("{kind}{round:02}{seq:02}");
                let reached = reached.unwrap_or("nothing");
                let message = format!("is {status}, but its events lead to {reached}");
                findings.push(VerifyFinding::new("status", Some(id), display, message));
            }
        }
    }
    Ok(())
}

/// Runs SQLite's own integrity checks.
fn check_database(connection: &Connection, findings: &mut Vec<VerifyFinding>) -> StoreResult<()> {
    let mut complain = |check, place: String, message: String| {
        findings.push(VerifyFinding::new(check, None, place, message));
    };
    let mut statement =
        connection.prepare("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        complain("foreign_key", table, format!("a row points at no row of {parent}"));
    }
    let mut statement = connection.prepare("SELECT * FROM pragma_integrity_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        if message != "ok" {
            complain("integrity", "database".to_owned(), message);
        }
    }
    Ok(())
}

/// Queries to compare on both indexes, with the message for a difference.
const COMPARED_QUERIES: [(&str, &str); 3] = [
    ("SELECT k, v FROM search_text_config ORDER BY k", "its settings were changed"),
    ("SELECT id, sz FROM search_text_docsize ORDER BY id", "the lengths of its texts were changed"),
    (
        "SELECT term, doc, col, \"offset\" FROM temp.search_terms",
        "the index does not contain the words of its texts",
    ),
];

/// Temporary tables that list every occurrence of every word, and every word with its counts.
const VOCABULARY: &str = "
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms
      USING fts5vocab('main', 'search_text', 'instance');
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words
      USING fts5vocab('main', 'search_text', 'row');";

const DROP_VOCABULARY: &str =
    "DROP TABLE IF EXISTS temp.search_terms; DROP TABLE IF EXISTS temp.search_words;";

pub(crate) fn compare_search_index(
    connection: &Connection,
    findings: &mut Vec<VerifyFinding>,
) -> StoreResult<()> {
    let rebuilt = open_in_memory()?;
    copy_texts(connection, &rebuilt)?;
    for index in [connection, &rebuilt] {
        index.execute_batch(VOCABULARY)?;
    }
    let parts =
        COMPARED_QUERIES.map(|(sql, message)| (is_same_result(connection, &rebuilt, sql), message));
    let words = (
        finds_every_word(connection, &rebuilt),
        "a search does not find words that the index contains",
    );
    let mut compared = Ok(());
    for (is_same, message) in parts.into_iter().chain([words]) {
        match is_same {
            Ok(true) => {}
            Ok(false) => {
                findings.push(VerifyFinding::new("search_index", None, "search_text", message));
            }
            Err(error) => compared = Err(error),
        }
    }
    connection.execute_batch(DROP_VOCABULARY)?;
    compared
}

/// Whether a lookup finds each word. A lookup uses another index table than a scan.
fn finds_every_word(live: &Connection, rebuilt: &Connection) -> StoreResult<bool> {
    let mut words = rebuilt.prepare("SELECT doc, cnt, term FROM temp.search_words")?;
    let mut look_up = live.prepare("SELECT doc, cnt FROM temp.search_words WHERE term = ?1")?;
    let mut words = words.query([])?;
    while let Some(word) = words.next()? {
        let mut found = look_up.query([to_owned_value(word.get_ref(2)?)])?;
        let is_found = match found.next()? {
            Some(row) => is_same_row(row, word, 2)?,
            None => false,
        };
        if !is_found {
            return Ok(false);
        }
    }
    Ok(true)
}

fn copy_texts(connection: &Connection, rebuilt: &Connection) -> StoreResult<()> {
    let transaction = rebuilt.unchecked_transaction()?;
    let mut select = connection
        .prepare("SELECT rowid, dialogue_id, field, body FROM search_text ORDER BY rowid")?;
    let mut insert = transaction.prepare(
        "INSERT INTO search_text (rowid, dialogue_id, field, body) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        insert.execute(params![
            to_owned_value(row.get_ref(0)?),
            to_owned_value(row.get_ref(1)?),
            to_owned_value(row.get_ref(2)?),
            to_owned_value(row.get_ref(3)?)
        ])?;
    }
    drop(insert);
    transaction.commit()?;
    Ok(())
}

/// Whether both return the same rows in the same order.
fn is_same_result(live: &Connection, rebuilt: &Connection, sql: &str) -> StoreResult<bool> {
    let (mut live, mut rebuilt) = (live.prepare(sql)?, rebuilt.prepare(sql)?);
    let columns = live.column_count();
    let (mut live, mut rebuilt) = (live.query([])?, rebuilt.query([])?);
    loop {
        match (live.next()?, rebuilt.next()?) {
            (None, None) => return Ok(true),
            (Some(one), Some(other)) if is_same_row(one, other, columns)? => {}
            _ => return Ok(false),
        }
    }
}

fn is_same_row(one: &Row<'_>, other: &Row<'_>, columns: usize) -> StoreResult<bool> {
    for column in 0..columns {
        if one.get_ref(column)? != other.get_ref(column)? {
            return Ok(false);
        }
    }
    Ok(true)
}
