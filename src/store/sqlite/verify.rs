//! Recomputes the record: the hash chains, the tables from the journal, the
//! statuses from the events.
//!
//! The journal is the truth and everything else follows from it, so the check
//! that matters is the plainest: replay it into an empty database and compare
//! row by row.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::apply::Applier;
use super::journal::Head;
use super::{connect, journal};
use crate::domain::change::Change;
use crate::domain::ids::DialogueId;
use crate::domain::lifecycle::EventType;
use crate::domain::words::Word;
use crate::store::chain;
use crate::store::error::StoreError;
use crate::store::verification::{Finding, Verification};

/// Every table that follows from the journal, parents before children.
const PROJECTED: [&str; 21] = [
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
];

/// Verdicts follow from the journal too, but may not be updated, so they are compared apart.
const VERDICTS: &str = "verdicts";

pub(super) fn verify(
    connection: &Connection,
    dialogue: Option<&DialogueId>,
    head: Option<&str>,
) -> Result<Verification, StoreError> {
    let mut findings = Vec::new();
    let entries = chains(connection, dialogue, head, &mut findings)?;
    let ids: Vec<String> = match dialogue {
        Some(id) => vec![id.to_string()],
        None => every_dialogue(connection)?,
    };
    let replica = connect::memory()?;
    for id in &ids {
        compare(connection, &replica, id, &mut findings)?;
        statuses(connection, id, &mut findings)?;
    }
    if dialogue.is_none() {
        database(connection, &mut findings)?;
    }
    let scope = dialogue.map_or(chain::GLOBAL, DialogueId::as_str);
    Ok(Verification {
        dialogues: ids.len() as u64,
        entries,
        head: journal::head(connection, scope)?.hash,
        findings,
    })
}

fn every_dialogue(connection: &Connection) -> Result<Vec<String>, StoreError> {
    // A dialogue that lost its rows still has its entries, and the other way round.
    let mut statement = connection.prepare(
        "SELECT dialogue_id FROM dialogues UNION SELECT dialogue_id FROM journal ORDER BY 1",
    )?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Where a chain stands while it is walked.
#[derive(Debug)]
struct Walk {
    heads: BTreeMap<String, Head>,
    head_seen: bool,
    entries: u64,
}

/// Walks the journal from its first entry and recomputes every hash.
fn chains(
    connection: &Connection,
    dialogue: Option<&DialogueId>,
    head: Option<&str>,
    findings: &mut Vec<Finding>,
) -> Result<u64, StoreError> {
    let mut walk = Walk { heads: BTreeMap::new(), head_seen: false, entries: 0 };
    let sql = match dialogue {
        Some(_) => "SELECT global_seq, dialogue_id, seq, kind, ts, payload, payload_sha256, prev_hash, hash, global_hash
                    FROM journal WHERE dialogue_id = ?1 ORDER BY seq",
        None => "SELECT global_seq, dialogue_id, seq, kind, ts, payload, payload_sha256, prev_hash, hash, global_hash
                 FROM journal WHERE ?1 IS NULL ORDER BY global_seq",
    };
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([dialogue.map(DialogueId::as_str)])?;
    while let Some(row) = rows.next()? {
        let (own, global) = entry(row, &mut walk, dialogue.is_none(), findings)?;
        walk.head_seen |= head.is_some_and(|head| head == own || head == global);
    }
    noted_heads(connection, dialogue, &walk, findings)?;
    if let Some(head) = head.filter(|_| !walk.head_seen) {
        findings.push(Finding {
            check: "head",
            dialogue_id: dialogue.map(ToString::to_string),
            place: "journal".to_owned(),
            message: format!("the hash {head} is not part of the chain: the record was rewritten"),
        });
    }
    Ok(walk.entries)
}

fn entry(
    row: &Row<'_>,
    walk: &mut Walk,
    is_global: bool,
    findings: &mut Vec<Finding>,
) -> Result<(String, String), StoreError> {
    let (global_seq, id, seq): (u64, String, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (kind, ts): (String, String) = (row.get(3)?, row.get(4)?);
    let payload: Option<String> = row.get(5)?;
    let (payload_sha256, prev, hash, global): (String, String, String, String) =
        (row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?);
    let mut complain = |check: &'static str, message: String| {
        let place = format!("journal entry {seq}");
        findings.push(Finding { check, dialogue_id: Some(id.clone()), place, message });
    };
    let start = || Head { seq: 0, hash: chain::GENESIS.to_owned() };
    let own = walk.heads.get(&id).cloned().unwrap_or_else(start);
    if seq != own.seq + 1 {
        complain("gap", format!("entry {seq} follows entry {}", own.seq));
    }
    if prev != own.hash {
        complain("chain", "does not follow the entry before it".to_owned());
    }
    if payload.as_deref().is_some_and(|payload| chain::digest(payload) != payload_sha256) {
        complain("payload", "its payload was changed".to_owned());
    }
    if chain::entry(&prev, seq, &kind, &ts, &payload_sha256) != hash {
        complain("hash", "its hash does not seal it".to_owned());
    }
    if is_global {
        let all = walk.heads.get(chain::GLOBAL).cloned().unwrap_or_else(start);
        if global_seq != all.seq + 1 || chain::global(&all.hash, &hash) != global {
            complain(
                "global_chain",
                format!("entry {global_seq} of all does not follow {}", all.seq),
            );
        }
        walk.heads.insert(chain::GLOBAL.to_owned(), Head { seq: global_seq, hash: global.clone() });
    }
    walk.heads.insert(id, Head { seq, hash: hash.clone() });
    walk.entries += 1;
    Ok((hash, global))
}

/// A chain that was cut is shorter than its noted head says.
fn noted_heads(
    connection: &Connection,
    dialogue: Option<&DialogueId>,
    walk: &Walk,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare("SELECT scope, seq, hash FROM chain_heads WHERE scope = ?1 OR ?1 IS NULL")?;
    let mut rows = statement.query([dialogue.map(DialogueId::as_str)])?;
    let mut noted = BTreeMap::new();
    while let Some(row) = rows.next()? {
        noted.insert(row.get::<_, String>(0)?, Head { seq: row.get(1)?, hash: row.get(2)? });
    }
    let scopes: std::collections::BTreeSet<&String> =
        noted.keys().chain(walk.heads.keys()).collect();
    for scope in scopes {
        if noted.get(scope) != walk.heads.get(scope) {
            findings.push(Finding {
                check: "cut",
                dialogue_id: (scope != chain::GLOBAL).then(|| scope.clone()),
                place: "journal".to_owned(),
                message: "does not end where its noted head says".to_owned(),
            });
        }
    }
    Ok(())
}

/// Replays a dialogue's journal and compares every table with the result.
fn compare(
    connection: &Connection,
    replica: &Connection,
    id: &str,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let mut complain = |place: String, message: String| {
        findings.push(Finding {
            check: "replay",
            dialogue_id: Some(id.to_owned()),
            place,
            message,
        });
    };
    let transaction = replica.unchecked_transaction()?;
    if let Err(message) = replay(connection, &transaction, id) {
        complain("journal".to_owned(), message);
        return Ok(());
    }
    for table in PROJECTED.into_iter().chain([VERDICTS]) {
        let (live, replayed) = (rows(connection, table, id)?, rows(&transaction, table, id)?);
        for (key, row) in &live {
            match replayed.get(key) {
                None => complain(table.to_owned(), format!("row {key} is not in the journal")),
                Some(other) if other != row => {
                    complain(table.to_owned(), format!("row {key} was changed"));
                }
                Some(_) => {}
            }
        }
        for key in replayed.keys().filter(|key| !live.contains_key(*key)) {
            complain(table.to_owned(), format!("row {key} is missing"));
        }
    }
    // The replica is emptied by forgetting what was replayed.
    transaction.rollback()?;
    Ok(())
}

fn replay(connection: &Connection, replica: &Connection, id: &str) -> Result<(), String> {
    let describe = |error: rusqlite::Error| error.to_string();
    let dialogue_id: DialogueId =
        id.parse().map_err(|_| format!("`{id}` is not a dialogue's id"))?;
    let mut statement = connection
        .prepare_cached("SELECT ts, payload FROM journal WHERE dialogue_id = ?1 ORDER BY seq")
        .map_err(describe)?;
    let mut rows = statement.query([id]).map_err(describe)?;
    while let Some(row) = rows.next().map_err(describe)? {
        let (ts, payload): (String, Option<String>) =
            (row.get(0).map_err(describe)?, row.get(1).map_err(describe)?);
        let Some(payload) = payload else { continue };
        let at = ts.parse().map_err(|_| format!("`{ts}` is not a moment"))?;
        let changes: Vec<Change> = serde_json::from_str(&payload)
            .map_err(|error| format!("an entry cannot be read: {error}"))?;
        let applier = Applier::new(replica, &dialogue_id, at);
        for change in &changes {
            applier.apply(change).map_err(|error| format!("cannot be replayed: {error}"))?;
        }
    }
    Ok(())
}

/// A dialogue's rows of a table, as text, by their first columns.
fn rows(
    connection: &Connection,
    table: &str,
    id: &str,
) -> Result<BTreeMap<String, String>, StoreError> {
    let keys = key_columns(connection, table)?;
    let order: Vec<String> = keys.iter().map(|column| format!("\"{column}\"")).collect();
    let sql = format!("SELECT {}, * FROM {table} WHERE dialogue_id = ?1", order.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let columns = statement.column_count();
    let mut found = statement.query(params![id])?;
    let mut rows = BTreeMap::new();
    while let Some(row) = found.next()? {
        let key = match keys.len() {
            // The dialogue's own row has no further key.
            0 | 1 => "of the dialogue".to_owned(),
            count => values(row, 1..count)?,
        };
        rows.insert(key, values(row, keys.len()..columns)?);
    }
    Ok(rows)
}

fn key_columns(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn values(row: &Row<'_>, columns: std::ops::Range<usize>) -> Result<String, StoreError> {
    let mut text = String::new();
    for column in columns {
        if !text.is_empty() {
            text.push('/');
        }
        match row.get_ref(column)? {
            ValueRef::Null => text.push_str("null"),
            ValueRef::Integer(integer) => text.push_str(&integer.to_string()),
            ValueRef::Real(real) => text.push_str(&real.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                text.push_str(&String::from_utf8_lossy(bytes));
            }
        }
    }
    Ok(text)
}

/// Each entity's status must be the one its newest status-changing event reached.
fn statuses(
    connection: &Connection,
    id: &str,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    for kind in crate::domain::ids::EntityKind::ALL {
        let (table, events, round, seq) = super::statements::names(*kind);
        let mut statement = connection.prepare_cached(&format!(
            "SELECT e.round, e.seq, e.status,
               (SELECT v.event_type FROM {events} v
                WHERE v.dialogue_id = e.dialogue_id AND v.{round} = e.round AND v.{seq} = e.seq
                  AND v.event_type <> 'commented' ORDER BY v.seq DESC LIMIT 1)
             FROM {table} e WHERE e.dialogue_id = ?1"
        ))?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let (status, event): (String, Option<String>) = (row.get(2)?, row.get(3)?);
            let reached = event
                .as_deref()
                .and_then(EventType::find)
                .and_then(|event| event.status(*kind))
                .map(|status| status.name());
            if reached != Some(status.as_str()) {
                let (round, seq): (u8, u8) = (row.get(0)?, row.get(1)?);
                let display = format!("{kind}{round:02}{seq:02}");
                let reached = reached.unwrap_or("nothing");
                findings.push(Finding {
                    check: "status",
                    dialogue_id: Some(id.to_owned()),
                    place: display,
                    message: format!("is {status}, but its events lead to {reached}"),
                });
            }
        }
    }
    Ok(())
}

/// What SQLite itself can check.
fn database(connection: &Connection, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
    let mut complain = |check, place: String, message: String| {
        findings.push(Finding { check, dialogue_id: None, place, message });
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
