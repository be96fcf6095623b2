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
pub(super) enum Content {
    Text(String),
    /// Not taken, with the reason.
    Left(String),
}

/// Reads a text that may be sent.
pub(super) fn content(path: &Path, guard: &SecretGuard) -> Content {
    match text(path) {
        Content::Text(text) => match guard.refuses_text(path, &text) {
            Some(reason) => Content::Left(reason),
            None => Content::Text(text),
        },
        left @ Content::Left(_) => left,
    }
}

/// Reads a text without a scan for secrets.
pub(super) fn text(path: &Path) -> Content {
    match settled(|| Attempt::at(path)) {
        Ok(bytes) => judged(bytes),
        Err(reason) => Content::Left(reason),
    }
}

/// Opens a file without blocking and without following links: a pipe must not block, and a link
/// that replaces a folder must not lead out of it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    open_without_links(path)
}

/// One read of a file, with its size and time before and after.
struct Attempt {
    before: Stamp,
    bytes: Vec<u8>,
    after: Stamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Attempt {
    fn at(path: &Path) -> Result<Self, String> {
        let unreadable = |error: io::Error| format!("it cannot be read: {}", error.kind());
        let file = open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        if metadata.len() > FILE_BYTES_MAX {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        // Reads one byte beyond the limit to detect that a file is too large.
        (&file).take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let after = Stamp::of(&file.metadata().map_err(unreadable)?);
        Ok(Self { before: Stamp::of(&metadata), bytes, after })
    }

    fn is_settled(&self) -> bool {
        self.before == self.after && self.bytes.len() as u64 == self.after.bytes
    }
}

fn too_large() -> String {
    format!("it is over {} KB", FILE_BYTES_MAX / 1_000)
}

/// Reads a file that changed during the read once more, then gives up.
fn settled(mut attempt: impl FnMut() -> Result<Attempt, String>) -> Result<Vec<u8>, String> {
    const ATTEMPTS_MAX: usize = 2;
    for _ in 0..ATTEMPTS_MAX {
        let attempt = attempt()?;
        if attempt.is_settled() {
            return Ok(attempt.bytes);
        }
    }
    Err("it changed while it was read".to_owned())
}

/// Classifies bytes as text or as excluded.
pub(super) fn judged(bytes: Vec<u8>) -> Content {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Content::Left(too_large());
    }
    if bytes.contains(&0) {
        return Content::Left("it is binary".to_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Content::Text(text),
        Err(_) => Content::Left("it is not UTF-8 text".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(before: u64, bytes: &str, after: u64) -> Attempt {
        let stamp = |bytes| Stamp { bytes, modified: Some(SystemTime::UNIX_EPOCH) };
        Attempt { before: stamp(before), bytes: bytes.into(), after: stamp(after) }
    }

    #[track_caller]
    fn check(attempts: Vec<Attempt>, expected: Result<&str, &str>) {
        let mut attempts = attempts.into_iter();
        let result = settled(|| Ok(attempts.next().expect("no further attempt")));
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
        let left = |text: &str| Content::Left(text.to_owned());
        assert_eq!(
            content(&folder.path().join("gone"), &SecretGuard::default()),
            left("it cannot be read: entity not found")
        );
        assert_eq!(
            content(folder.path(), &SecretGuard::default()),
            left("it is not a regular file")
        );
    }
}
