//! Reads one text file, or returns the reason why not.

use std::io;
use std::path::Path;

use super::guard::SecretGuard;
use super::read::{self, FileContent};

/// Reads a text that the operator wrote for Plenary.
pub fn read_plain_text(path: &Path) -> Result<String, String> {
    read_real(path, read::read_text_file)
}

/// Reads a text that is sent to models; rejects credentials.
pub fn read_sendable_text(path: &Path, guard: &SecretGuard) -> Result<String, String> {
    match guard.file_refusal(path) {
        Some(reason) => Err(reason),
        None => read_real(path, |real| match guard.file_refusal(real) {
            Some(reason) => FileContent::Excluded(reason),
            None => read::read_sendable(real, guard),
        }),
    }
}

fn read_real(path: &Path, read: impl Fn(&Path) -> FileContent) -> Result<String, String> {
    let real = path.canonicalize().map_err(|error| unreadable_reason(&error))?;
    match read(&real) {
        FileContent::Text(text) => Ok(text),
        FileContent::Excluded(reason) => Err(reason),
    }
}

fn unreadable_reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        return "there is no such file".to_owned();
    }
    format!("it cannot be read: {}", error.kind())
}

/// Reads a text inside `folder`, whose path has no links; a link that leads out is rejected.
pub fn read_text_within(folder: &Path, path: &Path) -> Result<String, String> {
    let is_link = path.is_symlink();
    let real = path.canonicalize().map_err(|error| match is_link {
        true => "a link that leads nowhere".to_owned(),
        false => unreadable_reason(&error),
    })?;
    if !real.starts_with(folder) {
        return Err("a link that leads out of the folder".to_owned());
    }
    match read::read_text_file(&real) {
        FileContent::Text(text) => Ok(text),
        FileContent::Excluded(reason) => Err(reason),
    }
}
