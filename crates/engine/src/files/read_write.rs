//! Reads a request from a file or standard input, and locks files.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use plenary_core::model::limits::ARGUMENTS_BYTES_MAX;
use plenary_core::model::validation_error::ValidationError;
use rustix::fs::Stat;

use crate::files::open_folder::{FileIdentity, OpenFolder, split_name};
use crate::files::temporary_file::TemporaryFile;

/// Reads a request from a file, or from standard input for `-`.
pub fn read_request_text(path: &Path) -> Result<String, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let bytes = read_limited(open_source(path)?).map_err(unreadable)?;
    if bytes.len() > ARGUMENTS_BYTES_MAX {
        let bytes_max = ARGUMENTS_BYTES_MAX;
        return Err(FileError::TooLarge { path: path.to_owned(), bytes_max });
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path.to_owned() })
}

/// Opens a file for streaming, or standard input for `-`.
pub fn open_source(path: &Path) -> Result<Box<dyn Read>, FileError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    // Shells pass `<(…)` as a named pipe. A folder or device is a mistake.
    if metadata.is_dir() || is_device(&metadata) {
        return Err(FileError::NotAFile { path: path.to_owned() });
    }
    Ok(Box::new(file))
}

#[cfg(unix)]
fn is_device(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let file_type = metadata.file_type();
    file_type.is_char_device() || file_type.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

/// Reads one byte beyond the limit to detect that a file is too large.
fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(ARGUMENTS_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
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
