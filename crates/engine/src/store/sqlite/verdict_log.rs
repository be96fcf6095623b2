//! The verdict log tables: logged lines and human overrides.

use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::time::Moment;
use plenary_core::protocols::review::log_row::{
    ContentDecision, ContentQuery, LogLine, LogQuery, LogRange, LogRow, LoggedVerdict, OverrideRow,
    RecordedOverride,
};
use plenary_core::protocols::review::policy::VerdictOverride;
use plenary_core::protocols::review::types::ReviewTier;
use rusqlite::{Connection, Row, ToSql, params};

use crate::store::error::StoreError;
use crate::store::sqlite::apply::{ApplyResult, EventApplier};
use crate::store::sqlite::statements::{
    malformed_error, parse_column, parse_optional_column, query_rows, read_json, read_struct,
    to_json,
};

/// Maximum number of rows per journal entry in `seq`. Even an import stays far below it.
const ROWS_PER_ENTRY_MAX: u64 = 1_000_000;

impl EventApplier<'_> {
    pub(crate) fn insert_log_row(&self, row: &LogRow) -> ApplyResult {
        let line = to_json(row)?;
        let Some(verdict_id) = &row.verdict_id else {
            return Err(malformed_error("verdict without an id", &line));
        };
        let fingerprint = row.content_hash().map_err(StoreError::Unwritable)?;
        self.run_sql(
            "INSERT INTO verdict_log (dialogue_id, verdict_id, seq, ts, artifact, artifact_type,
               artifact_sha256, tier, producer, verdict, rehearsal, imported, row_sha256, line)
             VALUES (?1, ?2, coalesce((SELECT max(seq) + 1 FROM verdict_log WHERE seq >= ?3), ?3),
               ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            params![
                self.id,
                verdict_id,
                self.entry.saturating_mul(ROWS_PER_ENTRY_MAX),
                row.ts.to_string(),
                row.artifact,
                row.artifact_type,
                row.artifact_sha256,
                row.tier.map(ReviewTier::tier_number),
                row.producer,
                row.adjudicator.final_verdict.name(),
                row.rehearsal,
                row.imported,
                fingerprint,
                line,
            ],
        )
    }

    pub(crate) fn insert_override(&self, decision: &VerdictOverride) -> ApplyResult {
        self.run_sql(
            "INSERT INTO overrides (dialogue_id, verdict_id, seq, decision, why, created_at, by)
             VALUES (?1, ?2,
               (SELECT count(*) + 1 FROM overrides WHERE dialogue_id = ?1 AND verdict_id = ?2),
               ?3, ?4, ?5, ?6)",
            params![
                self.id,
                decision.verdict_id,
                decision.decision.name(),
                decision.why,
                decision.decided_at.map_or_else(|| self.at.clone(), |at| at.to_string()),
                decision.by
            ],
        )
    }
}

pub(crate) fn load_lines(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<LogLine>, StoreError> {
    let sql = "SELECT seq, line FROM verdict_log WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut lines = query_rows(connection, sql, params![after, limit], read_line)?;
    lines.extend(load_override_lines(connection, after, limit)?);
    lines.sort_by_key(|line| line.seq);
    lines.truncate(limit);
    Ok(lines)
}

/// The lines of overrides after row `after`. The place of an override in the log is that of its
/// entry in the journal.
pub(crate) fn load_override_lines(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<LogLine>, StoreError> {
    let sql = "SELECT global_seq, ts, payload FROM journal
         WHERE kind = 'overridden' AND global_seq > ?1 ORDER BY global_seq LIMIT ?2";
    let values = params![after / ROWS_PER_ENTRY_MAX, limit];
    let entries = query_rows(connection, sql, values, |row| {
        let (entry, at): (u64, Moment) = (row.get(0)?, parse_column(row, 1, "moment")?);
        let events: Vec<JournalEvent> = read_json(row, 2, "journal entry")?;
        Ok((entry.saturating_mul(ROWS_PER_ENTRY_MAX), at, events))
    })?;
    let mut lines = Vec::new();
    for (seq, at, events) in entries {
        for event in events {
            let JournalEvent::VerdictOverridden(word) = event else { continue };
            if let Some(found) = find_logged(connection, &word.verdict_id)? {
                let line = to_json(&OverrideRow::new(&found.row, &word, at))?;
                lines.push(LogLine { seq, line });
            }
        }
    }
    Ok(lines)
}

pub(crate) fn find_line(
    connection: &Connection,
    verdict_id: &str,
) -> Result<Option<LogLine>, StoreError> {
    let sql = "SELECT seq, line FROM verdict_log WHERE verdict_id = ?1";
    Ok(query_rows(connection, sql, [verdict_id], read_line)?.into_iter().next())
}

fn read_line(row: &Row<'_>) -> Result<LogLine, StoreError> {
    Ok(LogLine { seq: row.get(0)?, line: row.get(1)? })
}

/// A row and its newest override.
const LOGGED_SELECT: &str = "SELECT l.seq, l.verdict_id, l.dialogue_id, l.line,
       o.decision, o.why, o.created_at, o.by
     FROM verdict_log l LEFT JOIN overrides o
       ON o.dialogue_id = l.dialogue_id AND o.verdict_id = l.verdict_id
         AND o.seq = (SELECT max(seq) FROM overrides
           WHERE dialogue_id = l.dialogue_id AND verdict_id = l.verdict_id)";

/// Pagination is by row number, so every page costs the same.
pub(crate) fn load_page(
    connection: &Connection,
    asked: &LogQuery,
) -> Result<Vec<LoggedVerdict>, StoreError> {
    let (after, order) = match asked.range {
        LogRange::After(seq) => (seq, "ASC"),
        LogRange::Last => (0, "DESC"),
    };
    let since = asked.since.map(|since| since.to_string());
    let mut values: Vec<&dyn ToSql> = vec![&after, &asked.limit];
    let mut filters = String::new();
    for (column, wanted) in [("artifact_type =", &asked.artifact_type), ("ts >=", &since)] {
        if wanted.is_some() {
            values.push(wanted);
            filters.push_str(&format!(" AND l.{column} ?{}", values.len()));
        }
    }
    let sql = format!("{LOGGED_SELECT} WHERE l.seq > ?1{filters} ORDER BY l.seq {order} LIMIT ?2");
    let mut found = query_rows(connection, &sql, values.as_slice(), read_logged)?;
    if asked.range == LogRange::Last {
        found.reverse();
    }
    Ok(found)
}

pub(crate) fn find_logged(
    connection: &Connection,
    verdict_id: &str,
) -> Result<Option<LoggedVerdict>, StoreError> {
    let sql = format!("{LOGGED_SELECT} WHERE l.verdict_id = ?1");
    Ok(query_rows(connection, &sql, [verdict_id], read_logged)?.into_iter().next())
}

fn read_logged(row: &Row<'_>) -> Result<LoggedVerdict, StoreError> {
    let decision = parse_optional_column(row, 4, "decision")?;
    let overridden = match decision {
        Some(decision) => Some(RecordedOverride {
            decision,
            why: row.get(5)?,
            at: parse_column(row, 6, "moment")?,
            by: row.get(7)?,
        }),
        None => None,
    };
    Ok(LoggedVerdict {
        seq: row.get(0)?,
        verdict_id: row.get(1)?,
        dialogue_id: parse_column(row, 2, "dialogue id")?,
        row: read_json(row, 3, "verdict")?,
        line: row.get(3)?,
        overridden,
    })
}

pub(crate) fn load_priors(
    connection: &Connection,
    artifact_type: &str,
    limit: usize,
) -> Result<Vec<LogRow>, StoreError> {
    let sql = "SELECT line FROM verdict_log
               WHERE artifact_type = ?1 AND verdict <> 'INCOMPLETE' AND NOT rehearsal
               ORDER BY ts DESC, seq DESC LIMIT ?2";
    query_rows(connection, sql, params![artifact_type, limit], |row| read_json(row, 0, "verdict"))
}

pub(crate) fn find_same_row(
    connection: &Connection,
    fingerprint: &str,
) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT seq FROM verdict_log WHERE row_sha256 = ?1 LIMIT 1";
    let found = query_rows(connection, sql, [fingerprint], |row| Ok(row.get(0)?))?;
    Ok(found.into_iter().next())
}

pub(crate) fn list_verdict_ids(
    connection: &Connection,
    id: &DialogueId,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT verdict_id FROM verdict_log WHERE dialogue_id = ?1 ORDER BY seq LIMIT ?2";
    query_rows(connection, sql, params![id.as_str(), limit], |row| Ok(row.get(0)?))
}

pub(crate) fn find_decided(
    connection: &Connection,
    content: &ContentQuery,
) -> Result<Option<ContentDecision>, StoreError> {
    let sql = "SELECT verdict_id, verdict, ts FROM verdict_log
               WHERE artifact_sha256 = ?1 AND artifact_sha256 IS NOT NULL
                 AND verdict <> 'INCOMPLETE' AND rehearsal = ?2
               ORDER BY seq DESC LIMIT 1";
    let values = params![content.sha256, content.rehearsal];
    Ok(query_rows(connection, sql, values, read_struct)?.into_iter().next())
}

/// All verdicts on exactly this content, newest first, with INCOMPLETE ones.
pub(crate) fn list_content_verdicts(
    connection: &Connection,
    content: &ContentQuery,
    limit: usize,
) -> Result<Vec<LoggedVerdict>, StoreError> {
    let sql = format!(
        "{LOGGED_SELECT} WHERE l.artifact_sha256 = ?1 AND l.artifact_sha256 IS NOT NULL
           AND l.rehearsal = ?2
         ORDER BY l.seq DESC LIMIT ?3"
    );
    query_rows(connection, &sql, params![content.sha256, content.rehearsal, limit], read_logged)
}

pub(crate) fn load_overrides(
    connection: &Connection,
    verdict_id: &str,
) -> Result<Vec<RecordedOverride>, StoreError> {
    let sql = "SELECT o.decision, o.why, o.created_at AS at, o.by
               FROM verdict_log l JOIN overrides o
                 ON o.dialogue_id = l.dialogue_id AND o.verdict_id = l.verdict_id
               WHERE l.verdict_id = ?1 ORDER BY o.seq";
    query_rows(connection, sql, [verdict_id], read_struct)
}
