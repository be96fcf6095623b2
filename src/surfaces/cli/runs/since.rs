//! Whether a document still says what a review of it read.

use std::path::{Component, Path};

use crate::domain::digest::sha256_hex;
use crate::domain::gate::Artifact;
use crate::material::{MaterialError, Place};

/// What became of the document since, where it is not what it was. The review judges what was
/// read then; whoever takes it up again may think of what the file says now.
pub(super) fn since_then(artifact: &Artifact, folder: &Path) -> Option<String> {
    let path = Path::new(&artifact.path);
    // Elsewhere it was named from where somebody stood then.
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || artifact.path == "-" {
        return None;
    }
    let became = match digest(path, folder) {
        Ok(sha256) if sha256 == artifact.sha256 => return None,
        Ok(_) => "has changed since it was read",
        Err(_) => "cannot be read any more",
    };
    Some(format!("`{}` {became}; this review is about what it said then", artifact.path))
}

fn digest(path: &Path, folder: &Path) -> Result<String, MaterialError> {
    let text = Place::of(folder, folder, path)?.read_text()?;
    Ok(sha256_hex([text.as_bytes()]))
}
