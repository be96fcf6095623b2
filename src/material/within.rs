//! A text that must lie in a folder, whatever links lead to it.

use std::path::Path;

use super::read::{self, Content};

/// Reads a text of the folder, whose path has no links in it; else says why it cannot be read.
pub fn text_within(folder: &Path, path: &Path) -> Result<String, String> {
    let is_link = path.is_symlink();
    let real = path.canonicalize().map_err(|error| match is_link {
        true => "a link that leads nowhere".to_owned(),
        false => format!("it cannot be read: {}", error.kind()),
    })?;
    if !real.starts_with(folder) {
        return Err("a link that leads out of the folder".to_owned());
    }
    match read::text(&real) {
        Content::Text(text) => Ok(text),
        Content::Left(reason) => Err(reason),
    }
}
