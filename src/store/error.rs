//! What can go wrong between us and the database.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the store `{path}` was written by a newer plenary (schema {found}, this one knows {known})"
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("`{path}` is not a plenary store")]
    Foreign { path: PathBuf },
    #[error("there is no store at `{path}`")]
    Missing { path: PathBuf },
    #[error("cannot open the store `{path}`")]
    Unopenable {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("cannot make the folder `{path}` for the store")]
    NoFolder {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the store is busy: another process has held it for over {waited_s} s")]
    Busy { waited_s: u64 },
    #[error("the store may be read, but not written")]
    ReadOnly,
    #[error("the disk is full")]
    DiskFull,
    #[error("the store could not be read or written")]
    Database(#[source] rusqlite::Error),
    #[error("the store holds a malformed {what}: `{text}`")]
    Malformed { what: &'static str, text: String },
    #[error("the store reported success without having done anything")]
    NotRun,
    /// What somebody else's work in the same transaction ran into.
    #[error("the store could not be written: {message}")]
    Shared { message: String },
    #[error("the thread that writes to the store is gone")]
    WriterGone,
    #[error("a change could not be written down")]
    Unwritable(#[source] serde_json::Error),
}

impl StoreError {
    /// The same error for a second reader; causes become words.
    pub(crate) fn repeated(&self) -> Self {
        match self {
            Self::Busy { waited_s } => Self::Busy { waited_s: *waited_s },
            Self::ReadOnly => Self::ReadOnly,
            Self::DiskFull => Self::DiskFull,
            Self::NotRun => Self::NotRun,
            Self::WriterGone => Self::WriterGone,
            Self::Database(error) => Self::Shared { message: error.to_string() },
            Self::Newer { .. }
            | Self::Foreign { .. }
            | Self::Missing { .. }
            | Self::Unopenable { .. }
            | Self::NoFolder { .. }
            | Self::Malformed { .. }
            | Self::Shared { .. }
            | Self::Unwritable(_) => Self::Shared { message: self.to_string() },
        }
    }
}

/// How long a writer waits for another process before it gives up.
pub(super) const BUSY_WAIT_S: u64 = 60;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                Self::Busy { waited_s: BUSY_WAIT_S }
            }
            Some(rusqlite::ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ => Self::Database(error),
        }
    }
}
