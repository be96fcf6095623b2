//! Opens connections, all with the same promises: foreign keys on, write-ahead
//! log, and a commit that returns only when it is on disk.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::migrate;
use crate::store::error::{BUSY_WAIT_S, StoreError, error_code};

/// `PLNY`: marks the file as ours.
const APPLICATION_ID: i32 = 0x504c_4e59;

/// More than all the statements there are, so that none is prepared twice.
const CACHED_STATEMENTS: usize = 128;

/// Pages a connection keeps, in KiB: the longest dialogue there can be, or the indexes of ten
/// thousand. It is taken as it is needed.
const CACHE_KIB: i32 = 16 * 1024;

/// Bytes of a page in a store that is made now. What a seat is sent fills several of the usual
/// 4,096, each of which is written on its own.
const PAGE_BYTES: i32 = 8 * 1024;

/// Pages in the log before they are carried into the file, 32 MiB: a burst of councils writes the
/// same pages over and over, and each is carried but once.
const LOG_PAGES_MAX: i32 = 4 * 1024;

/// Opens a store. One that may not be written can still be read: an auditor needs no more.
pub(super) fn file(path: &Path) -> Result<Connection, StoreError> {
    match writable(path) {
        Err(error) if is_denied(&error) => read_only(path).ok_or(error),
        opened => opened,
    }
}

fn writable(path: &Path) -> Result<Connection, StoreError> {
    let unopenable = |source: rusqlite::Error| StoreError::Unopenable {
        path: path.to_owned(),
        source: Arc::new(source),
    };
    refuse_stub(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(unopenable)?;
    claim(&connection, path)?;
    // Before anything is changed: a newer program may keep its journal in another way.
    migrate::refuse_newer(&connection, path)?;
    prepare(&connection)?;
    migrate::forward(&connection, path)?;
    Ok(connection)
}

/// Refuses a file that is not empty and too short for a database. SQLite takes it for a new one
/// and writes over it: a store that was cut would pass for an empty one.
fn refuse_stub(path: &Path) -> Result<(), StoreError> {
    /// The smallest page there is, and a database has at least one.
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

/// The store as it lies there, if that is whole: what a writer still has in its log
/// cannot be read without a place to keep the log's index.
fn read_only(path: &Path) -> Option<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return None;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let address = format!("file:{}?immutable=1", percent_encoded(path.to_str()?));
    let connection = Connection::open_with_flags(address, flags).ok()?;
    claim(&connection, path).ok()?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    migrate::is_newest(&connection).ok()?.then_some(connection)
}

fn percent_encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect()
}

pub(super) fn memory() -> Result<Connection, StoreError> {
    let connection = Connection::open_in_memory()?;
    prepare(&connection)?;
    migrate::forward(&connection, Path::new(":memory:"))?;
    Ok(connection)
}

/// Refuses a file that is somebody else's, before anything is changed in it.
fn claim(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::from_secs(BUSY_WAIT_S))?;
    let foreign = || StoreError::Foreign { path: path.to_owned() };
    let read = patiently(|| {
        // One snapshot: between two of them another process may have made the store.
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
        Err(error) => Err(unopenable(path, error.into())),
    }
}

/// Names the file, where the system keeps it from us.
fn unopenable(path: &Path, error: StoreError) -> StoreError {
    let StoreError::Io(source) = error else { return error };
    StoreError::Unopenable { path: path.to_owned(), source }
}

fn prepare(connection: &Connection) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Otherwise a statement that sorts is prepared anew for every value that is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(Duration::from_secs(BUSY_WAIT_S))?;
    // An existing file keeps the size it has.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    // Changing the journal mode ignores the busy timeout, so two first starts could collide.
    patiently(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // A negative size is in KiB, a positive one in pages.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)?;
    Ok(())
}

/// Marks the file as ours, within a migration's transaction.
pub(super) fn mark(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)
}

/// Tries again while another process holds the file.
pub(super) fn patiently<T>(
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
