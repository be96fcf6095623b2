//! The verdict log tables: logged lines and human overrides.

use rusqlite::{Connection, Row, ToSql, params};

use super::apply::{Applier, Done};
use super::columns::{json, malformed, parsed, parsed_optional, query, to_json};
use crate::domain::gate::{
    ContentQuery, DecidedContent, LogLine, LogQuery, LogRow, LogStretch, LoggedVerdict, Override,
    RecordedOverride, Tier,
};
use crate::domain::ids::DialogueId;
use crate::store::error::StoreError;

/// Maximum number of rows per journal entry in `seq`. Even an import stays far below it.
const ROWS_PER_ENTRY_MAX: u64 = 1_000_000;

impl Applier<'_> {
    pub(super) fn log_verdict(&self, row: &LogRow) -> Done {
        let line = to_json(row)?;
        let Some(verdict_id) = &row.verdict_id else {
            return Err(malformed("verdict without an id", &line));
        };
        let fingerprint = row.fingerprint().map_err(StoreError::Unwritable)?;
        self.run(
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
                row.tier.map(Tier::number),
                row.producer,
                row.adjudicator.final_verdict.name(),
                row.rehearsal,
                row.imported,
                fingerprint,
                line,
            ],
        )
    }

    pub(super) fn override_verdict(&self, decision: &Override) -> Done {
        self.run(
            "INSERT INTO overrides (dialogue_id, verdict_id, seq, decision, why, created_at)
             VALUES (?1, ?2,
               (SELECT count(*) + 1 FROM overrides WHERE dialogue_id = ?1 AND verdict_id = ?2),
               ?3, ?4, ?5)",
            params![self.id, decision.verdict_id, decision.decision.name(), decision.why, self.at],
        )
    }
}

pub(super) fn lines(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<LogLine>, StoreError> {
    let sql = "SELECT seq, line FROM verdict_log WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    query(connection, sql, params![after, limit], read_line)
}

pub(super) fn line(
    connection: &Connection,
    verdict_id: &str,
) -> Result<Option<LogLine>, StoreError> {
    let sql = "SELECT seq, line FROM verdict_log WHERE verdict_id = ?1";
    Ok(query(connection, sql, [verdict_id], read_line)?.into_iter().next())
}

fn read_line(row: &Row<'_>) -> Result<LogLine, StoreError> {
    Ok(LogLine { seq: row.get(0)?, line: row.get(1)? })
}

/// A row and its newest override.
const LOGGED: &str = "SELECT l.seq, l.verdict_id, l.dialogue_id, l.line,
       o.decision, o.why, o.created_at
     FROM verdict_log l LEFT JOIN overrides o
       ON o.dialogue_id = l.dialogue_id AND o.verdict_id = l.verdict_id
         AND o.seq = (SELECT max(seq) FROM overrides
           WHERE dialogue_id = l.dialogue_id AND verdict_id = l.verdict_id)";

/// Pagination is by row number, so every page costs the same.
pub(super) fn page(
    connection: &Connection,
    asked: &LogQuery,
) -> Result<Vec<LoggedVerdict>, StoreError> {
    let (after, order) = match asked.stretch {
        LogStretch::After(seq) => (seq, "ASC"),
        LogStretch::Last => (0, "DESC"),
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
    let sql = format!("{LOGGED} WHERE l.seq > ?1{filters} ORDER BY l.seq {order} LIMIT ?2");
    let mut found = query(connection, &sql, values.as_slice(), read_logged)?;
    if asked.stretch == LogStretch::Last {
        found.reverse();
    }
    Ok(found)
}

pub(super) fn logged(
    connection: &Connection,
    verdict_id: &str,
) -> Result<Option<LoggedVerdict>, StoreError> {
    let sql = format!("{LOGGED} WHERE l.verdict_id = ?1");
    Ok(query(connection, &sql, [verdict_id], read_logged)?.into_iter().next())
}

fn read_logged(row: &Row<'_>) -> Result<LoggedVerdict, StoreError> {
    let decision = parsed_optional(row, 4, "decision")?;
    let overridden = match decision {
        Some(decision) => {
            Some(RecordedOverride { decision, why: row.get(5)?, at: parsed(row, 6, "moment")? })
        }
        None => None,
    };
    Ok(LoggedVerdict {
        seq: row.get(0)?,
        verdict_id: row.get(1)?,
        dialogue_id: parsed(row, 2, "dialogue id")?,
        row: json(row, 3, "verdict")?,
        line: row.get(3)?,
        overridden,
    })
}

pub(super) fn priors(
    connection: &Connection,
    artifact_type: &str,
    limit: usize,
) -> Result<Vec<LogRow>, StoreError> {
    let sql = "SELECT line FROM verdict_log
               WHERE artifact_type = ?1 AND verdict <> 'INCOMPLETE' AND NOT rehearsal
               ORDER BY ts DESC, seq DESC LIMIT ?2";
    query(connection, sql, params![artifact_type, limit], |row| json(row, 0, "verdict"))
}

pub(super) fn logged_alike(
    connection: &Connection,
    fingerprint: &str,
) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT seq FROM verdict_log WHERE row_sha256 = ?1 LIMIT 1";
    let found = query(connection, sql, [fingerprint], |row| Ok(row.get(0)?))?;
    Ok(found.into_iter().next())
}

pub(super) fn of_dialogue(
    connection: &Connection,
    id: &DialogueId,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT verdict_id FROM verdict_log WHERE dialogue_id = ?1 ORDER BY seq LIMIT ?2";
    query(connection, sql, params![id.as_str(), limit], |row| Ok(row.get(0)?))
}

pub(super) fn decided(
    connection: &Connection,
    content: &ContentQuery,
) -> Result<Option<DecidedContent>, StoreError> {
    let sql = "SELECT verdict_id, verdict, ts FROM verdict_log
               WHERE artifact_sha256 = ?1 AND artifact_sha256 IS NOT NULL
                 AND verdict <> 'INCOMPLETE' AND rehearsal = ?2
               ORDER BY seq DESC LIMIT 1";
    let found = query(connection, sql, params![content.sha256, content.rehearsal], |row| {
        Ok(DecidedContent {
            verdict_id: row.get(0)?,
            verdict: parsed(row, 1, "verdict")?,
            ts: parsed(row, 2, "moment")?,
        })
    });
    Ok(found?.into_iter().next())
}

pub(super) fn overrides(
    connection: &Connection,
    verdict_id: &str,
) -> Result<Vec<RecordedOverride>, StoreError> {
    let sql = "SELECT o.decision, o.why, o.created_at
               FROM verdict_log l JOIN overrides o
                 ON o.dialogue_id = l.dialogue_id AND o.verdict_id = l.verdict_id
               WHERE l.verdict_id = ?1 ORDER BY o.seq";
    query(connection, sql, [verdict_id], |row| {
        Ok(RecordedOverride {
            decision: parsed(row, 0, "decision")?,
            why: row.get(1)?,
            at: parsed(row, 2, "moment")?,
        })
    })
}
