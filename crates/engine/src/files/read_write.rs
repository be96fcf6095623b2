//! Reads a request from a file or standard input, and locks files.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::io::{Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use plenary_core::model::limits::ARGUMENTS_BYTES_MAX;
use plenary_core::model::validation_error::ValidationError;
use rustix::fs::Stat;

use crate::files::open_folder::{FileIdentity, OpenFolder, split_name};
use crate::files::temporary_file::TemporaryFile;

/// Reads a request from a file, or from standard input for `-`.
pub fn read_request_text(path: &Path) -> Result<String, FileError> {
    read_limited_text(path, open_source(path)?, ARGUMENTS_BYTES_MAX)
}

/// The name of the text that a caller pipes in.
pub const STANDARD_INPUT: &str = "standard input";

/// Whether a path stands for standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    [Path::new("-"), Path::new(STANDARD_INPUT)].contains(&path)
}

/// A file in backquotes, or `standard input`.
pub(crate) fn name_source(path: &Path) -> String {
    match is_standard_input(path) {
        true => STANDARD_INPUT.to_owned(),
        false => format!("`{}`", path.display()),
    }
}

/// Opens a file for streaming, or standard input for `-`.
pub fn open_source(path: &Path) -> Result<Box<dyn Read>, FileError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(open_named_file(path)?))
}

/// Opens a file that the operator named. Shells pass `<(…)` as a named pipe. A folder, device or
/// socket is a mistake; it is not opened, because opening a device may have side effects.
pub(crate) fn open_named_file(path: &Path) -> Result<File, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let kind = path.metadata().map_err(unreadable)?.file_type();
    if !kind.is_file() && !kind.is_fifo() {
        return Err(FileError::NotAFile { path: path.to_owned() });
    }
    File::open(path).map_err(unreadable)
}

/// Reads UTF-8 text up to a limit.
pub(crate) fn read_limited_text(
    path: &Path,
    source: impl Read,
    bytes_max: usize,
) -> Result<String, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    // Read one byte beyond the limit to detect that a file is too large.
    source.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > bytes_max {
        return Err(FileError::TooLarge { path: path.to_owned(), bytes_max });
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path.to_owned() })
}

/// Locks an existing file until the result is dropped. Returns `None` while another process has the
/// lock.
pub fn lock_file(path: &Path) -> Result<Option<File>, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(unreadable(error)),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot read {}", name_source(path))]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is not a file", name_source(path))]
    NotAFile { path: PathBuf },
    #[error("{} is over the limit of {bytes_max} bytes", name_source(path))]
    TooLarge { path: PathBuf, bytes_max: usize },
    #[error("{} is not UTF-8 text", name_source(path))]
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

/// Number of retries while other processes create and remove the same file.
const ATTEMPTS_MAX: usize = 16;

/// The user's `umask` limits this mode.
const MODE: u32 = 0o666;

/// Creates or replaces a file at a path that the operator chose.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_at(path, bytes, |_| Ok(()))
}

/// Creates a file at a path that the operator chose; fails if it exists.
pub fn create_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_at(path, bytes, |_| Err(io::ErrorKind::AlreadyExists.into()))
}

fn write_at(
    path: &Path,
    bytes: &[u8],
    judge: impl FnMut(&Stat) -> io::Result<()>,
) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
    let (folder, name) = split_name(path).map_err(unwritable)?;
    make_folders(folder).map_err(unwritable)?;
    let folder = OpenFolder::open_at(folder).map_err(unwritable)?;
    place_file(&folder, name, bytes, judge).map_err(unwritable)
}

#[expect(clippy::disallowed_methods, reason = "the operator named the folder")]
fn make_folders(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Writes a file in a folder. `judge` decides whether the existing file may be replaced.
pub(crate) fn place_file<E: From<io::Error>>(
    folder: &OpenFolder,
    name: &OsStr,
    bytes: &[u8],
    mut judge: impl FnMut(&Stat) -> Result<(), E>,
) -> Result<(), E> {
    let mut temporary = TemporaryFile::new(folder, MODE)?;
    temporary.file.write_all(bytes)?;
    temporary.file.sync_all()?;
    for _ in 0..ATTEMPTS_MAX {
        match folder.stat_name(name)? {
            None => match temporary.persist_new(name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                placed => return Ok(placed?),
            },
            Some(found) => {
                judge(&found)?;
                // Replace only the file that `judge` approved.
                if folder.is_same_file(name, FileIdentity::from_stat(&found)) {
                    return Ok(temporary.persist(name)?);
                }
            }
        }
    }
    Err(io::Error::from(io::ErrorKind::ResourceBusy).into())
}
