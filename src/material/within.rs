//! Reads one text file, or returns the reason why not.

use std::io;
use std::path::Path;

use super::guard::SecretGuard;
use super::read::{self, Content};

/// Reads a text that the operator wrote for Plenary.
pub fn plain_text(path: &Path) -> Result<String, String> {
    read_real(path, read::text)
}

/// Reads a text that is sent to models; rejects credentials.
pub fn text_to_send(path: &Path, guard: &SecretGuard) -> Result<String, String> {
    match guard.refuses_file(path) {
        Some(reason) => Err(reason),
        None => read_real(path, |real| match guard.refuses_file(real) {
            Some(reason) => Content::Left(reason),
            None => read::content(real, guard),
        }),
    }
}

fn read_real(path: &Path, read: impl Fn(&Path) -> Content) -> Result<String, String> {
    let real = path.canonicalize().map_err(|error| unreadable(&error))?;
    match read(&real) {
        Content::Text(text) => Ok(text),
        Content::Left(reason) => Err(reason),
    }
}

fn unreadable(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        return "there is no such file".to_owned();
    }
    format!("it cannot be read: {}", error.kind())
}

/// Reads a text inside `folder`, whose path has no links; a link that leads out is rejected.
pub fn text_within(folder: &Path, path: &Path) -> Result<String, String> {
    let is_link = path.is_symlink();
    let real = path.canonicalize().map_err(|error| match is_link {
        true => "a link that leads nowhere".to_owned(),
        false => unreadable(&error),
    })?;
    if !real.starts_with(folder) {
        return Err("a link that leads out of the folder".to_owned());
    }
    match read::text(&real) {
        Content::Text(text) => Ok(text),
        Content::Left(reason) => Err(reason),
    }
}
