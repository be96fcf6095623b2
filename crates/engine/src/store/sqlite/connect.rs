//! Opens connections with the same settings: foreign keys, write-ahead log, durable commits.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::Access;
use rustix::io::Errno;

use crate::store::error::{BUSY_WAIT_S, StoreError, StoreResult, error_code};

/// `PLNY`: identifies a Plenary store.
const APPLICATION_ID: i32 = 0x504c_4e59;

/// More than the number of distinct statements, so that each is prepared once.
const CACHED_STATEMENTS: usize = 128;

/// Page cache of a connection in KiB: enough for the longest dialogue or the indexes of ten
/// thousand. SQLite allocates it on demand.
const CACHE_KIB: i32 = 16 * 1024;

/// Page size of a new store. A message to a seat would span several pages of the default size of
/// 4,096 bytes, and each page is written separately.
const PAGE_BYTES: i32 = 8 * 1024;

/// Pages in the write-ahead log before a checkpoint (32 MiB). Concurrent councils rewrite the same
/// pages, and each page is checkpointed once.
const LOG_PAGES_MAX: i32 = 4 * 1024;

/// Opens a store. Falls back to read-only access, which is enough for an audit.
pub(crate) fn open_file(path: &Path) -> StoreResult<Connection> {
    match open_writable(path) {
        Err(error) if is_denied(&error) => {
            open_read_only(path).ok_or_else(|| name_denied_file(path).unwrap_or(error))
        }
        opened => opened,
    }
}

/// The error for a file that this user may not read. SQLite does not say why it cannot open one.
pub(crate) fn name_denied_file(path: &Path) -> Option<StoreError> {
    let is_denied = rustix::fs::access(path, Access::READ_OK) == Err(Errno::ACCESS);
    is_denied.then(|| StoreError::Denied { path: path.to_owned() })
}

fn open_writable(path: &Path) -> StoreResult<Connection> {
    let unopenable = |source: rusqlite::Error| StoreError::Unopenable {
        path: path.to_owned(),
        source: Arc::new(source),
    };
    reject_stub(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(unopenable)?;
    check_application_id(&connection, path)?;
    // Before any change: a newer program may use another journal mode.
    reject_newer(&connection, path)?;
    set_pragmas(&connection)?;
    run_migrations(&connection, path)?;
    Ok(connection)
}

/// Rejects a file that is not empty but too short for a database. SQLite would treat a truncated
/// store as new and overwrite it.
fn reject_stub(path: &Path) -> StoreResult<()> {
    /// The minimum page size; a database has at least one page.
    const BYTES_MIN: u64 = 512;
    let is_stub = path
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && (1..BYTES_MIN).contains(&metadata.len()));
    if is_stub { Err(StoreError::Foreign { path: path.to_owned() }) } else { Ok(()) }
}

fn is_denied(error: &StoreError) -> bool {
    if matches!(error, StoreError::ReadOnly) {
        return true;
    }
    let (StoreError::Io(source) | StoreError::Unopenable { source, .. }) = error else {
        return false;
    };
    matches!(
        error_code(source),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
    )
}

/// Opens the file read-only, if its write-ahead log is empty. Reading the log would need a writable
/// index file.
fn open_read_only(path: &Path) -> Option<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return None;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let address = format!("file:{}?immutable=1", percent_encode(path.to_str()?));
    let connection = Connection::open_with_flags(address, flags).ok()?;
    check_application_id(&connection, path).ok()?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    is_current_schema(&connection).ok()?.then_some(connection)
}

fn percent_encode(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

pub(crate) fn open_in_memory() -> StoreResult<Connection> {
    let connection = Connection::open_in_memory()?;
    set_pragmas(&connection)?;
    run_migrations(&connection, Path::new(":memory:"))?;
    Ok(connection)
}

/// Rejects a file of another program before changing it.
fn check_application_id(connection: &Connection, path: &Path) -> StoreResult<()> {
    connection.busy_timeout(Duration::from_secs(BUSY_WAIT_S))?;
    let foreign = || StoreError::Foreign { path: path.to_owned() };
    let read = retry_while_busy(|| {
        // Read both values in one snapshot, because another process may be creating the store.
        let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
        let tables: u32 =
            snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let id: i32 = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
        snapshot.commit()?;
        Ok((id, tables))
    });
    match read {
        Ok((APPLICATION_ID, _)) => Ok(()),
        Ok((0, 0)) => Ok(()),
        Ok(_) => Err(foreign()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => Err(foreign()),
        Err(error) => Err(name_unopenable_file(path, error.into())),
    }
}

/// Adds the path to an I/O error.
fn name_unopenable_file(path: &Path, error: StoreError) -> StoreError {
    let StoreError::Io(source) = error else { return error };
    StoreError::Unopenable { path: path.to_owned(), source }
}

fn set_pragmas(connection: &Connection) -> StoreResult<()> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Otherwise SQLite prepares sorting statements again for each bound value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(Duration::from_secs(BUSY_WAIT_S))?;
    // An existing file keeps its page size.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    // Changing the journal mode ignores the busy timeout, so two first starts could conflict.
    retry_while_busy(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // A negative value is in KiB, a positive one in pages.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)?;
    Ok(())
}

/// Writes the application id, within the transaction of a migration.
pub(crate) fn set_application_id(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)
}

/// Retries while another process locks the file.
pub(crate) fn retry_while_busy<T>(
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    const PAUSE: Duration = Duration::from_millis(5);
    let deadline = Instant::now() + Duration::from_secs(BUSY_WAIT_S);
    loop {
        match attempt() {
            Err(error)
                if matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
                ) && Instant::now() < deadline =>
            {
                std::thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}

const MIGRATIONS: [&str; 11] = [
    include_str!("../../../../../migrations/0001_record.sql"),
    include_str!("../../../../../migrations/0002_search.sql"),
    include_str!("../../../../../migrations/0003_conclusions.sql"),
    include_str!("../../../../../migrations/0004_verdict_log.sql"),
    include_str!("../../../../../migrations/0005_protocols.sql"),
    include_str!("../../../../../migrations/0006_everyday.sql"),
    include_str!("../../../../../migrations/0007_ethos.sql"),
    include_str!("../../../../../migrations/0008_score_components.sql"),
    include_str!("../../../../../migrations/0009_calibration_scores.sql"),
    include_str!("../../../../../migrations/0010_panel_reasons.sql"),
    include_str!("../../../../../migrations/0011_override_entries.sql"),
];

/// The current schema version.
const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

pub(crate) fn run_migrations(connection: &Connection, path: &Path) -> StoreResult<()> {
    let found = reject_newer(connection, path)?;
    for target in found + 1..=SCHEMA_VERSION {
        run_migration(connection, target)?;
    }
    Ok(())
}

/// Returns the schema version, or an error if it is newer than this program.
pub(crate) fn reject_newer(connection: &Connection, path: &Path) -> StoreResult<u32> {
    let found = schema_version(connection)?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    Ok(found)
}

/// Whether no migration is pending.
pub(crate) fn is_current_schema(connection: &Connection) -> StoreResult<bool> {
    Ok(schema_version(connection)? == SCHEMA_VERSION)
}

fn run_migration(connection: &Connection, target: u32) -> StoreResult<()> {
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have run this migration while this one waited for the lock.
    if schema_version(&transaction)? < target {
        let sql = MIGRATIONS.get(target as usize - 1).copied().unwrap_or_default();
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", target)?;
        set_application_id(&transaction)?;
    }
    transaction.commit()?;
    Ok(())
}

fn schema_version(connection: &Connection) -> StoreResult<u32> {
    Ok(retry_while_busy(|| connection.pragma_query_value(None, "user_version", |row| row.get(0)))?)
}
