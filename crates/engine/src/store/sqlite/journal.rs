//! Reads and appends journal entries, in a hash chain: the hash of each entry covers the entry
//! before it.
//!
//! `hash = SHA-256(prev, seq, kind, ts, SHA-256(payload))` per dialogue, and `global = SHA-256(prev
//! global, hash)` over all dialogues. The parts are joined by newlines, which only the payload can
//! contain.

use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use plenary_core::model::time::Moment;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::store::error::StoreResult;
use crate::store::sqlite::statements::{
    malformed_error, parse_column, query_rows, read_json, to_json,
};
use crate::store::traits::{EntryPlace, GlobalEntry};

/// The newest entry of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainHead {
    pub seq: u64,
    pub hash: String,
}

/// Appends an entry and returns its number within the dialogue, or within the library.
pub(crate) fn append_entry(
    connection: &Connection,
    id: &str,
    kind: JournalEntryKind,
    at: Moment,
    changes: &[JournalEvent],
) -> StoreResult<u64> {
    let own = load_head(connection, id)?;
    let all = load_head(connection, GLOBAL_SCOPE)?;
    let (payload, ts) = (to_json(changes)?, at.to_string());
    let payload_sha256 = digest_text(&payload);
    let (seq, global_seq) = (own.seq + 1, all.seq + 1);
    let hash = hash_entry(&own.hash, seq, kind.name(), &ts, &payload_sha256);
    let global_hash = hash_global(&all.hash, &hash);
    connection
        .prepare_cached(
            "INSERT INTO journal (global_seq, dialogue_id, seq, kind, ts, payload, payload_sha256, prev_hash, hash, global_hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            global_seq,
            id,
            seq,
            kind.name(),
            ts,
            payload,
            payload_sha256,
            own.hash,
            hash,
            global_hash
        ])?;
    set_head(connection, id, seq, &hash)?;
    set_head(connection, GLOBAL_SCOPE, global_seq, &global_hash)?;
    Ok(seq)
}

/// Global number of the next entry.
pub(crate) fn next_entry_seq(connection: &Connection) -> StoreResult<u64> {
    Ok(load_head(connection, GLOBAL_SCOPE)?.seq + 1)
}

/// Global number of the newest intervention of any dialogue.
pub(crate) fn last_intervention_seq(connection: &Connection) -> StoreResult<u64> {
    let place: Option<u64> = connection
        .prepare_cached("SELECT max(global_seq) FROM journal WHERE kind = 'intervened'")?
        .query_row([], |row| row.get(0))?;
    Ok(place.unwrap_or(0))
}

/// Clock changes and waiting writers can make an entry this much older than the one before it.
const CLOCK_SKEW_HOURS: u32 = 1;

/// Entries of all dialogues that concern costs, after global number `after`.
pub(crate) fn load_cost_entries(
    connection: &Connection,
    after: u64,
    since: Moment,
) -> StoreResult<Vec<GlobalEntry>> {
    let before = last_entry_before(connection, after, since)?;
    query_rows(
        connection,
        "SELECT global_seq, dialogue_id, payload FROM journal
         WHERE global_seq > ?1 AND ts >= ?2 AND payload IS NOT NULL AND kind IN
           ('asks_prepared', 'call_sent', 'reply_kept', 'call_failed', 'intervened')
         ORDER BY global_seq",
        params![before.unwrap_or(after), since.to_string()],
        |row| {
            Ok(GlobalEntry {
                global_seq: row.get(0)?,
                dialogue_id: parse_column(row, 1, "dialogue id")?,
                changes: read_json(row, 2, "journal entry")?,
            })
        },
    )
}

/// Dialogues with a call that ended in a period.
pub(crate) fn list_paid_dialogues(
    connection: &Connection,
    since: Moment,
) -> StoreResult<Vec<DialogueId>> {
    let before = last_entry_before(connection, 0, since)?;
    query_rows(
        connection,
        "SELECT DISTINCT dialogue_id FROM journal WHERE global_seq > ?1 AND ts >= ?2 AND kind IN
           ('run_started', 'reply_kept', 'call_failed', 'intervened')",
        params![before.unwrap_or(0), since.to_string()],
        |row| parse_column(row, 0, "dialogue id"),
    )
}

/// The last entry before a period. The search goes backwards from the newest entry, so that only
/// the period itself is read.
fn last_entry_before(
    connection: &Connection,
    after: u64,
    since: Moment,
) -> StoreResult<Option<u64>> {
    let found = connection
        .prepare_cached(
            "SELECT global_seq FROM journal WHERE global_seq > ?1 AND ts < ?2
             ORDER BY global_seq DESC LIMIT 1",
        )?
        .query_row(params![after, since.minus_hours(CLOCK_SKEW_HOURS).to_string()], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(found)
}

/// The entries of a dialogue after the `after`-th. An entry without a payload is an error: a run
/// that skipped it would send and pay for calls again.
pub(crate) fn load_entries(
    connection: &Connection,
    id: &DialogueId,
    after: u64,
) -> StoreResult<Vec<JournalEntry>> {
    query_rows(
        connection,
        "SELECT seq, kind, ts, payload FROM journal
         WHERE dialogue_id = ?1 AND seq > ?2 ORDER BY seq",
        params![id.as_str(), after],
        |row| {
            if row.get_ref(3)? == ValueRef::Null {
                return Err(malformed_error("journal entry", &format!("{id}: no payload")));
            }
            Ok(JournalEntry {
                seq: row.get(0)?,
                kind: parse_column(row, 1, "entry kind")?,
                at: parse_column(row, 2, "moment")?,
                events: read_json(row, 3, "journal entry")?,
            })
        },
    )
}

/// Places of the entries of a dialogue after the `after`-th.
pub(crate) fn load_entry_places(
    connection: &Connection,
    id: &DialogueId,
    after: u64,
) -> StoreResult<Vec<EntryPlace>> {
    query_rows(
        connection,
        "SELECT seq, global_seq, hash FROM journal
         WHERE dialogue_id = ?1 AND seq > ?2 ORDER BY seq",
        params![id.as_str(), after],
        |row| Ok(EntryPlace { seq: row.get(0)?, global_seq: row.get(1)?, hash: row.get(2)? }),
    )
}

/// The stored head of a chain.
pub(crate) fn load_head(connection: &Connection, scope: &str) -> StoreResult<ChainHead> {
    let found = connection
        .prepare_cached("SELECT seq, hash FROM chain_heads WHERE scope = ?1")?
        .query_row([scope], |row| Ok(ChainHead { seq: row.get(0)?, hash: row.get(1)? }))
        .optional()?;
    Ok(found.unwrap_or_else(|| ChainHead { seq: 0, hash: GENESIS_HASH.to_owned() }))
}

fn set_head(connection: &Connection, scope: &str, seq: u64, hash: &str) -> StoreResult<()> {
    connection
        .prepare_cached(
            "INSERT INTO chain_heads (scope, seq, hash) VALUES (?1, ?2, ?3)
             ON CONFLICT (scope) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        )?
        .execute(params![scope, seq, hash])?;
    Ok(())
}

/// Previous hash of the first entry of a chain.
pub(crate) const GENESIS_HASH: &str =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// Scope name of the chain over all dialogues.
pub(crate) const GLOBAL_SCOPE: &str = "*";

/// Scope name of the chain of the library: principles, domains, tenets and lenses. No dialogue can
/// have this name.
pub(crate) const LIBRARY_SCOPE: &str = "*ethos";

pub(crate) fn digest_text(payload: &str) -> String {
    digest_bytes(payload.as_bytes())
}

/// Digest of bytes that may not be valid UTF-8.
pub(crate) fn digest_bytes(payload: &[u8]) -> String {
    to_hex(Sha256::digest(payload).as_slice())
}

pub(crate) fn hash_entry(
    prev: &str,
    seq: u64,
    kind: &str,
    ts: &str,
    payload_sha256: &str,
) -> String {
    digest_text(&format!("{prev}\n{seq}\n{kind}\n{ts}\n{payload_sha256}"))
}

pub(crate) fn hash_global(prev: &str, entry: &str) -> String {
    digest_text(&format!("{prev}\n{entry}"))
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_entry_is_sealed() {
        let sealed = hash_entry(
            GENESIS_HASH,
            1,
            "round_registered",
            "2026-02-02T00:00:00.000000Z",
            &digest_text("[]"),
        );
        let others = [
            hash_entry(
                &digest_text("x"),
                1,
                "round_registered",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                2,
                "round_registered",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                1,
                "round_registere",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                1,
                "round_registered",
                "2026-02-02T00:00:00.000001Z",
                &digest_text("[]"),
            ),
            hash_entry(
                GENESIS_HASH,
                1,
                "round_registered",
                "2026-02-02T00:00:00.000000Z",
                &digest_text("[ ]"),
            ),
        ];
        assert!(others.iter().all(|other| *other != sealed));
        assert_eq!(
            digest_text(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
