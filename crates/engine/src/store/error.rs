//! Errors of the store, and their mapping from SQLite errors.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ErrorCode;

/// Result of a store operation.
pub type StoreResult<T> = Result<T, StoreError>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the store `{path}` was written by a newer Plenary (schema {found}; this version supports {known})"
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("`{path}` is not a Plenary store")]
    Foreign { path: PathBuf },
    #[error("the store `{path}` does not exist")]
    Missing { path: PathBuf },
    #[error("permission denied: this user may not read the store `{path}`")]
    Denied { path: PathBuf },
    #[error("the store `{path}` is empty: it has 0 bytes")]
    Empty { path: PathBuf },
    #[error("cannot open the store `{path}`")]
    Unopenable {
        path: PathBuf,
        #[source]
        source: Arc<rusqlite::Error>,
    },
    #[error("cannot create the folder `{path}` of the store")]
    NoFolder {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("another process has locked the store for over {waited_s} s")]
    Busy { waited_s: u64 },
    #[error("the store is read-only")]
    ReadOnly,
    #[error("the disk is full")]
    DiskFull,
    #[error("`{path}`, the folder for lock files, was not created by Plenary: {found}")]
    ForeignLocks { path: PathBuf, found: &'static str },
    /// A broken page, a missing table or a row of the wrong type: this program never writes these.
    #[error("the store is damaged, or another program changed it: {message}")]
    Damaged { message: String },
    #[error("the operating system cannot read or write the store")]
    Io(#[source] Arc<rusqlite::Error>),
    #[error("SQLite cannot read or write the store")]
    Database(#[source] Arc<rusqlite::Error>),
    #[error("the store contains a malformed {what}: `{text}`")]
    Malformed { what: &'static str, text: String },
    #[error("the store reported success but did nothing")]
    NotRun,
    /// An error of another writer in the same transaction.
    #[error("cannot write the store: {message}")]
    Shared { message: String },
    #[error("the thread that writes the store has ended")]
    WriterGone,
    #[error("cannot serialise a change for the store")]
    Unwritable(#[source] serde_json::Error),
}

impl StoreError {
    /// A copy of the error for another waiting writer. Causes that cannot be cloned become text.
    pub(crate) fn to_shared(&self) -> Self {
        match self {
            Self::Busy { waited_s } => Self::Busy { waited_s: *waited_s },
            Self::ReadOnly => Self::ReadOnly,
            Self::DiskFull => Self::DiskFull,
            Self::NotRun => Self::NotRun,
            Self::WriterGone => Self::WriterGone,
            Self::Damaged { message } => Self::Damaged { message: message.clone() },
            Self::Io(error) => Self::Io(Arc::clone(error)),
            Self::Database(error) => Self::Database(Arc::clone(error)),
            Self::Malformed { what, text } => Self::Malformed { what, text: text.clone() },
            Self::Newer { .. }
            | Self::Foreign { .. }
            | Self::Missing { .. }
            | Self::Denied { .. }
            | Self::Empty { .. }
            | Self::Unopenable { .. }
            | Self::NoFolder { .. }
            | Self::ForeignLocks { .. }
            | Self::Shared { .. }
            | Self::Unwritable(_) => Self::Shared { message: self.to_string() },
        }
    }
}

/// Timeout while another process locks the store.
pub(crate) const BUSY_WAIT_S: u64 = 60;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error_code(&error) {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { waited_s: BUSY_WAIT_S }
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::NoLargeFileSupport,
            ) => Self::Io(Arc::new(error)),
            // Our statements and rows match our schema. If one does not, another program changed
            // the file.
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::SchemaChanged
                | ErrorCode::Unknown,
            ) => Self::Damaged { message: describe_error(&error) },
            None if is_row_error(&error) => Self::Damaged { message: describe_error(&error) },
            _ => Self::Database(Arc::new(error)),
        }
    }
}

/// The SQLite error code, also for a statement that does not match the schema.
pub(crate) fn error_code(error: &rusqlite::Error) -> Option<ErrorCode> {
    if let rusqlite::Error::SqlInputError { error, .. } = error {
        return Some(error.code);
    }
    error.sqlite_error_code()
}

/// The SQLite message without the statement.
fn describe_error(error: &rusqlite::Error) -> String {
    if let rusqlite::Error::SqlInputError { msg, .. } = error {
        return msg.clone();
    }
    error.to_string()
}

/// Whether a column contains a value of the wrong type.
fn is_row_error(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::InvalidColumnIndex(_)
            | rusqlite::Error::InvalidColumnName(_)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn what_does_not_fit_our_schema_is_damage() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE t (n INT UNIQUE); INSERT INTO t VALUES (-1)")
            .unwrap();
        let read = |sql: &str| -> StoreError {
            connection.query_row(sql, [], |row| row.get::<_, u8>(0)).unwrap_err().into()
        };
        for sql in [
            "SELECT n FROM gone",
            "SELECT gone FROM t",
            "SELECT n FROM t",
            "SELECT 'text'",
            "SELECT NULL",
            "SELECT n FROM t WHERE n = 7",
            "INSERT INTO t VALUES (-1) RETURNING n",
        ] {
            assert!(matches!(read(sql), StoreError::Damaged { .. }), "{sql}");
        }
    }

    #[test]
    fn a_second_reader_learns_what_kind_of_error_it_was() {
        let damaged = StoreError::from(rusqlite::Error::QueryReturnedNoRows);
        assert!(matches!(damaged.to_shared(), StoreError::Damaged { .. }));
        assert!(matches!(StoreError::DiskFull.to_shared(), StoreError::DiskFull));
    }
}
