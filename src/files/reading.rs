//! How a request is read from a file or from standard input.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;

use super::error::FileError;
use crate::domain::limits::ARGUMENTS_BYTES_MAX;

/// Reads a request from a file, or from standard input when it is called `-`.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let bytes = read_limited(source(path)?).map_err(unreadable)?;
    if bytes.len() > ARGUMENTS_BYTES_MAX {
        let bytes_max = ARGUMENTS_BYTES_MAX;
        return Err(FileError::TooLarge { path: path.to_owned(), bytes_max });
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path.to_owned() })
}

/// A file to be read piece by piece, or standard input when it is called `-`.
pub fn source(path: &Path) -> Result<Box<dyn Read>, FileError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    // A named pipe is how shells pass `<(…)`; a folder or a device is a mistake.
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

/// One byte over the limit is enough to know that it is over.
fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(ARGUMENTS_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Locks a file that exists for as long as the answer lives; nothing, while another process has it.
pub fn hold(path: &Path) -> Result<Option<File>, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(unreadable(error)),
    }
}
