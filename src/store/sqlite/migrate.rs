//! Schema migrations from the numbered files in `migrations/`.
//!
//! A shipped file is never edited. Each migration commits together with its version number, so a
//! crash leaves a complete version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::connect;
use crate::store::error::StoreError;

const MIGRATIONS: [&str; 5] = [
    include_str!("../../../migrations/0001_record.sql"),
    include_str!("../../../migrations/0002_search.sql"),
    include_str!("../../../migrations/0003_conclusions.sql"),
    include_str!("../../../migrations/0004_verdict_log.sql"),
    include_str!("../../../migrations/0005_protocols.sql"),
];

/// The current schema version.
const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

pub(super) fn run_migrations(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = reject_newer(connection, path)?;
    for target in found + 1..=SCHEMA_VERSION {
        run_migration(connection, target)?;
    }
    Ok(())
}

/// Returns the schema version, or an error if it is newer than this program.
pub(super) fn reject_newer(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let found = schema_version(connection)?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    Ok(found)
}

/// Whether no migration is pending.
pub(super) fn is_current_schema(connection: &Connection) -> Result<bool, StoreError> {
    Ok(schema_version(connection)? == SCHEMA_VERSION)
}

fn run_migration(connection: &Connection, target: u32) -> Result<(), StoreError> {
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have run this migration while this one waited for the lock.
    if schema_version(&transaction)? < target {
        let sql = MIGRATIONS.get(target as usize - 1).copied().unwrap_or_default();
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", target)?;
        connect::set_application_id(&transaction)?;
    }
    transaction.commit()?;
    Ok(())
}

fn schema_version(connection: &Connection) -> Result<u32, StoreError> {
    Ok(connect::retry_while_busy(|| {
        connection.pragma_query_value(None, "user_version", |row| row.get(0))
    })?)
}
