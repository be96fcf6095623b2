//! Reads one file safely while other processes may change or replace it.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use super::guard::SecretGuard;
use crate::files::open_without_links;

/// Twice the size limit of a pack. A larger file is data and not worth reading.
pub(super) const FILE_BYTES_MAX: u64 = 1_000_000;

/// Content of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    Text(String),
    /// Not taken, with the reason.
    Excluded(String),
}

/// Reads a text that may be sent.
pub(super) fn read_sendable(path: &Path, guard: &SecretGuard) -> FileContent {
    match read_text_file(path) {
        FileContent::Text(text) => match guard.text_refusal(path, &text) {
            Some(reason) => FileContent::Excluded(reason),
            None => FileContent::Text(text),
        },
        left @ FileContent::Excluded(_) => left,
    }
}

/// Reads a text without a scan for secrets.
pub(super) fn read_text_file(path: &Path) -> FileContent {
    match read_unchanged(|| ReadAttempt::read_path(path)) {
        Ok(bytes) => classify_bytes(bytes),
        Err(reason) => FileContent::Excluded(reason),
    }
}

/// Opens a file without blocking and without following links: a pipe must not block, and a link
/// that replaces a folder must not lead out of it.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    open_without_links(path)
}

/// One read of a file, with its size and time before and after.
struct ReadAttempt {
    before: FileStamp,
    bytes: Vec<u8>,
    after: FileStamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl ReadAttempt {
    fn read_path(path: &Path) -> Result<Self, String> {
        let unreadable = |error: io::Error| format!("it cannot be read: {}", error.kind());
        let file = open_file(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        if metadata.len() > FILE_BYTES_MAX {
            return Err(too_large_reason());
        }
        let mut bytes = Vec::new();
        // Reads one byte beyond the limit to detect that a file is too large.
        (&file).take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let after = FileStamp::from_metadata(&file.metadata().map_err(unreadable)?);
        Ok(Self { before: FileStamp::from_metadata(&metadata), bytes, after })
    }

    fn is_unchanged(&self) -> bool {
        self.before == self.after && self.bytes.len() as u64 == self.after.bytes
    }
}

fn too_large_reason() -> String {
    format!("it is over {} KB", FILE_BYTES_MAX / 1_000)
}

/// Reads a file that changed during the read once more, then gives up.
fn read_unchanged(
    mut attempt: impl FnMut() -> Result<ReadAttempt, String>,
) -> Result<Vec<u8>, String> {
    const ATTEMPTS_MAX: usize = 2;
    for _ in 0..ATTEMPTS_MAX {
        let attempt = attempt()?;
        if attempt.is_unchanged() {
            return Ok(attempt.bytes);
        }
    }
    Err("it changed while it was read".to_owned())
}

/// Classifies bytes as text or as excluded.
pub(super) fn classify_bytes(bytes: Vec<u8>) -> FileContent {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return FileContent::Excluded(too_large_reason());
    }
    if bytes.contains(&0) {
        return FileContent::Excluded("it is binary".to_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => FileContent::Text(text),
        Err(_) => FileContent::Excluded("it is not UTF-8 text".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(before: u64, bytes: &str, after: u64) -> ReadAttempt {
        let stamp = |bytes| FileStamp { bytes, modified: Some(SystemTime::UNIX_EPOCH) };
        ReadAttempt { before: stamp(before), bytes: bytes.into(), after: stamp(after) }
    }

    #[track_caller]
    fn check(attempts: Vec<ReadAttempt>, expected: Result<&str, &str>) {
        let mut attempts = attempts.into_iter();
        let result = read_unchanged(|| Ok(attempts.next().expect("no further attempt")));
        assert_eq!(result, expected.map(Vec::from).map_err(str::to_owned));
        assert!(attempts.next().is_none(), "not all attempts were needed");
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_read_once_more() {
        let changed = Err("it changed while it was read");
        check(vec![attempt(3, "abc", 3)], Ok("abc"));
        check(vec![attempt(0, "", 0)], Ok(""));
        check(vec![attempt(3, "abc", 4), attempt(4, "abcd", 4)], Ok("abcd"));
        check(vec![attempt(3, "abcd", 3), attempt(4, "abcd", 4)], Ok("abcd"));
        check(vec![attempt(3, "abc", 4), attempt(4, "abcd", 5)], changed);
        check(vec![attempt(3, "ab", 3), attempt(3, "ab", 3)], changed);
    }

    #[test]
    fn a_file_touched_while_it_is_read_has_changed() {
        let mut touched = attempt(3, "abc", 3);
        touched.after.modified = Some(SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(1));
        check(vec![touched, attempt(3, "abc", 3)], Ok("abc"));
    }

    #[test]
    fn what_is_gone_or_no_file_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let left = |text: &str| FileContent::Excluded(text.to_owned());
        assert_eq!(
            read_sendable(&folder.path().join("gone"), &SecretGuard::default()),
            left("it cannot be read: entity not found")
        );
        assert_eq!(
            read_sendable(folder.path(), &SecretGuard::default()),
            left("it is not a regular file")
        );
    }
}
