//! Errors of reading and writing files.

use std::io;
use std::path::PathBuf;

use crate::domain::refusal::ValidationError;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot read `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is not a file")]
    NotAFile { path: PathBuf },
    #[error("`{path}` is over the limit of {bytes_max} bytes")]
    TooLarge { path: PathBuf, bytes_max: usize },
    #[error("`{path}` is not UTF-8 text")]
    NotText { path: PathBuf },
    #[error("cannot write `{path}`")]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Why a requested file was not written.
#[derive(Debug)]
pub enum WriteError {
    /// The file must not be replaced.
    Refused(Box<ValidationError>),
    File(FileError),
}
