//! Errors of the verdict log file. The store already contains the verdicts when they occur.

use std::io;
use std::path::PathBuf;

use super::file::LOCK_TIMEOUT;
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    #[error("the verdict log `{path}` is not a file")]
    NotAFile { path: PathBuf },
    #[error("the verdict log `{path}` is a link, and Plenary follows no links to its own files")]
    Link { path: PathBuf },
    #[error("cannot make the folder of the verdict log `{path}`")]
    NoFolder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot read the verdict log `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write the verdict log `{path}`")]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the verdict log `{path}` was held by another process for over {} s", LOCK_TIMEOUT.as_secs())]
    Busy { path: PathBuf },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LogFileError {
    /// How to fix the error. No verdict is lost meanwhile.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotAFile { .. } => {
                Some("name a file with `review.log_path`; `plenary log repair` then writes it")
            }
            Self::Link { .. } => Some(
                "remove the link, or name the file it leads to with `review.log_path`; `plenary log repair` then writes it",
            ),
            Self::NoFolder { .. } | Self::Unwritable { .. } => Some(
                "check its permissions and free space; the verdicts are in the store, and `plenary log repair` writes them",
            ),
            Self::Unreadable { .. } => Some(
                "check its permissions; the verdicts are in the store, and `plenary log repair` writes them",
            ),
            Self::Busy { .. } => {
                Some("the verdicts are in the store; the next review writes them to the file too")
            }
            Self::Store(_) => None,
        }
    }
}
