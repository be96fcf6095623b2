//! Reads one file safely while other processes may change or replace it.

use std::fs::Metadata;
use std::io;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::context_files::credential_names::{
    OWN_CONFIGURATION, credential_reason, own_configuration_reason,
};
use crate::context_files::secrets::scan::{SecretValues, exclusion_reason};
use crate::files::open_folder::open_without_links;

/// Twice the size limit of a pack. A larger file is data and not worth reading.
pub(crate) const FILE_BYTES_MAX: u64 = 1_000_000;

/// Reads a text that may be sent. The error is the reason for leaving the file out.
pub(crate) fn read_sendable(path: &Path, guard: &SecretGuard) -> Result<String, String> {
    let text = read_text_file(path)?;
    guard.text_refusal(path, &text).map_or(Ok(text), Err)
}

/// Reads a text without a scan for secrets.
pub(crate) fn read_text_file(path: &Path) -> Result<String, String> {
    to_text(read_unchanged(|| ReadAttempt::read_path(path))?)
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
        let unreadable = |error: io::Error| {
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            if is_missing { "there is no such file".to_owned() } else { read_fault(&error) }
        };
        // Without blocking and without links: a pipe must not block, and a link that replaces a
        // folder must not lead out of it.
        let file = open_without_links(path).map_err(unreadable)?;
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

/// Converts bytes to text within the limit.
pub(crate) fn to_text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(too_large_reason());
    }
    if bytes.contains(&0) {
        return Err("it is binary".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Secret values and files of this run, in addition to the general rules on names and texts.
#[derive(Debug, Clone, Default)]
pub struct SecretGuard {
    values: SecretValues,
    /// Paths without links.
    own_files: Vec<PathBuf>,
}

impl SecretGuard {
    /// `own_files` are files of this program under any name: its configuration and the store.
    pub fn new(values: SecretValues, own_files: impl IntoIterator<Item = PathBuf>) -> Self {
        let own_files = own_files.into_iter().filter_map(|path| path.canonicalize().ok());
        Self { values, own_files: own_files.collect() }
    }

    /// The reason for not sending a file, by its name and path.
    pub(crate) fn file_refusal(&self, path: &Path) -> Option<String> {
        let by_name = own_configuration_reason(path).or_else(|| credential_reason(path));
        by_name.or_else(|| {
            let real = path.canonicalize().ok()?;
            let is_own = self.own_files.contains(&real);
            is_own.then(|| OWN_CONFIGURATION.to_owned())
        })
    }

    /// The reason for not sending a text, by its content. A text without a file has an empty path.
    pub(crate) fn text_refusal(&self, path: &Path, text: &str) -> Option<String> {
        exclusion_reason(&path.to_string_lossy(), text, &self.values)
    }
}

/// Reads a text that the operator wrote for Plenary.
pub fn read_plain_text(path: &Path) -> Result<String, String> {
    read_text_file(&resolve_links(path)?)
}

/// Reads a text that is sent to models; rejects credentials.
pub fn read_sendable_text(path: &Path, guard: &SecretGuard) -> Result<String, String> {
    guard.file_refusal(path).map_or(Ok(()), Err)?;
    let real = resolve_links(path)?;
    guard.file_refusal(&real).map_or(Ok(()), Err)?;
    read_sendable(&real, guard)
}

/// Reads a text inside `folder`, whose path has no links; a link that leads out is rejected.
pub fn read_text_within(folder: &Path, path: &Path) -> Result<String, String> {
    let real = resolve_links(path)?;
    if !real.starts_with(folder) {
        return Err("a link that leads out of the folder".to_owned());
    }
    read_text_file(&real)
}

fn resolve_links(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|error| {
        if path.is_symlink() {
            "a link that leads nowhere".to_owned()
        } else if error.kind() == io::ErrorKind::NotFound {
            "there is no such file".to_owned()
        } else {
            read_fault(&error)
        }
    })
}

fn read_fault(error: &io::Error) -> String {
    format!("it cannot be read: {}", error.kind())
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
        let left = |text: &str| Err(text.to_owned());
        assert_eq!(
            read_sendable(&folder.path().join("gone"), &SecretGuard::default()),
            left("there is no such file")
        );
        assert_eq!(
            read_sendable(folder.path(), &SecretGuard::default()),
            left("it is not a regular file")
        );
    }
}
