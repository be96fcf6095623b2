//! The limit of `register`: a bare SQLite transaction that writes the same rows into a separate
//! file.

use std::path::Path;

use plenary_engine::store::sqlite::store::SqliteStore;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use crate::measure::BenchmarkResult;

/// Tables to which a round adds rows, with their selection; `?1` is the dialogue, `?2` the round.
const ROUND_TABLES: [(&str, &str); 8] = [
    ("rounds", "dialogue_id = ?1 AND round = ?2"),
    ("expert_scores", "dialogue_id = ?1 AND round = ?2"),
    ("perspectives", "dialogue_id = ?1 AND round = ?2"),
    ("perspective_events", "dialogue_id = ?1 AND event_round = ?2"),
    ("local_ids", "dialogue_id = ?1 AND round = ?2"),
    ("refs", "dialogue_id = ?1 AND source_id GLOB printf('P%02d*', ?2)"),
    ("registrations", "dialogue_id = ?1 AND round = ?2"),
    // The first entry of a dialogue opens it.
    ("journal", "dialogue_id = ?1 AND seq = ?2 + 2"),
];

/// Tables with rows of a dialogue before its first round.
const OPENING_TABLES: [(&str, &str); 3] = [
    ("dialogues", "dialogue_id = ?1 AND ?2 = 0"),
    ("expert_profiles", "dialogue_id = ?1 AND ?2 = 0"),
    ("journal", "dialogue_id = ?1 AND seq = 1 AND ?2 = 0"),
];

#[derive(Debug)]
pub(crate) struct BareStore {
    connection: Connection,
}

/// Rows written by one round.
#[derive(Debug)]
pub(crate) struct WrittenRows {
    id: String,
    rows: Vec<(String, Vec<Vec<Value>>)>,
    /// Seq of each previous-round perspective whose status changed.
    refined: Vec<(u8, i64)>,
}

impl BareStore {
    pub(crate) fn new(folder: &Path) -> BenchmarkResult<Self> {
        let path = folder.join("bare.db");
        // Opening a store creates the schema.
        drop(SqliteStore::open(&path)?);
        let connection = Connection::open(path)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cache_size", -16 * 1_024)?;
        Ok(Self { connection })
    }

    /// Copies the rows that a dialogue has before its first round.
    pub(crate) fn open_dialogue(&self, store: &Connection, id: &str) -> BenchmarkResult<()> {
        let rows = read_tables(store, &OPENING_TABLES, id, 0)?;
        self.insert_rows(&rows)?;
        Ok(())
    }

    /// Writes all rows in one transaction.
    pub(crate) fn write_rows(&self, written: &WrittenRows) -> rusqlite::Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        self.insert_rows(&written.rows)?;
        let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            self.connection.prepare_cached(sql).and_then(|mut found| found.execute(values))
        };
        for (round, seq) in &written.refined {
            let sql = "UPDATE perspectives SET status = 'refined' WHERE dialogue_id = ?1 AND round = ?2 AND seq = ?3";
            run(sql, params![written.id, round, seq])?;
        }
        for expert in crate::generated_data::EXPERTS {
            let sql = "UPDATE expert_profiles SET total_score = total_score + 10 WHERE dialogue_id = ?1 AND expert_slug = ?2";
            run(sql, params![written.id, expert])?;
        }
        let sql = "UPDATE dialogues SET total_rounds = total_rounds + 1, total_alignment = total_alignment + 10 WHERE dialogue_id = ?1";
        run(sql, params![written.id])?;
        for scope in [written.id.as_str(), "*"] {
            let sql = "INSERT INTO chain_heads (scope, seq, hash) VALUES (?1, 1, ?2)
                       ON CONFLICT (scope) DO UPDATE SET seq = seq + 1, hash = excluded.hash";
            run(sql, params![scope, "0".repeat(64)])?;
        }
        transaction.commit()
    }

    fn insert_rows(&self, tables: &[(String, Vec<Vec<Value>>)]) -> rusqlite::Result<()> {
        for (insert, rows) in tables {
            let mut statement = self.connection.prepare_cached(insert)?;
            for row in rows {
                statement.execute(params_from_iter(row))?;
            }
        }
        Ok(())
    }
}

/// Reads the rows that `register` has just written for a round.
pub(crate) fn read_written_rows(
    store: &Connection,
    id: &str,
    round: u8,
) -> BenchmarkResult<WrittenRows> {
    let mut statement = store.prepare_cached(
        "SELECT perspective_round, perspective_seq FROM perspective_events
         WHERE dialogue_id = ?1 AND event_round = ?2 AND event_type = 'refined'",
    )?;
    let refined = statement.query_map(params![id, round], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(WrittenRows {
        id: id.to_owned(),
        rows: read_tables(store, &ROUND_TABLES, id, round)?,
        refined: refined.collect::<Result<_, _>>()?,
    })
}

/// Returns, for each table, the insert statement and the rows.
fn read_tables(
    store: &Connection,
    tables: &[(&str, &str)],
    id: &str,
    round: u8,
) -> BenchmarkResult<Vec<(String, Vec<Vec<Value>>)>> {
    let mut all = Vec::with_capacity(tables.len());
    for (table, condition) in tables {
        let mut statement =
            store.prepare_cached(&format!("SELECT * FROM {table} WHERE {condition}"))?;
        let columns = statement.column_count();
        let rows = statement.query_map(params![id, round], |row| {
            (0..columns).map(|column| row.get(column)).collect::<Result<Vec<Value>, _>>()
        })?;
        let rows: Vec<Vec<Value>> = rows.collect::<Result<_, _>>()?;
        let places = vec!["?"; columns].join(", ");
        all.push((format!("INSERT INTO {table} VALUES ({places})"), rows));
    }
    Ok(all)
}
