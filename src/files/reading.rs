//! Reads a request from a file or standard input, and locks files.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;

use super::error::FileError;
use crate::domain::limits::ARGUMENTS_BYTES_MAX;

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
