//! One document to review: its location, and its complete text.

use std::io;
use std::path::{Path, PathBuf};

use super::gather::MaterialError;
use super::guard::SecretGuard;
use super::read::{self, Content};
use crate::files::SourcePath;

/// Location of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    named: PathBuf,
    path: PathBuf,
    base: PathBuf,
    links: LinkRule,
    /// Path relative to the base, with `/` separators, as rules match it. `None` if the document is
    /// outside the base.
    pub relative: Option<String>,
}

/// How to treat links in the path of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkRule {
    Follow,
    /// The checked path had no links; a link that appears later is an error.
    Refuse,
}

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub text: String,
    /// Why the text looks like it contains a secret.
    pub key: Option<String>,
}

impl Place {
    /// Locates a document; a relative path is below `working`. The file need not exist: a document
    /// that is not read need not be readable.
    pub fn of(base: &Path, working: &Path, named: &Path) -> Result<Self, MaterialError> {
        let unreadable = |error| MaterialError::unreadable(named, error);
        if named.as_os_str().is_empty() {
            return Err(unreadable(io::ErrorKind::NotFound.into()));
        }
        let base = base.canonicalize().map_err(unreadable)?;
        let path = working.join(named);
        let relative = match inside(&base, &path) {
            None => None,
            Some(inside) => Some(spelled(&inside).ok_or_else(|| MaterialError::Unfit {
                path: named.to_owned(),
                reason: "its name is not UTF-8".to_owned(),
            })?),
        };
        Ok(Self { named: named.to_owned(), path, base, links: LinkRule::Follow, relative })
    }

    /// Locates a checked path, used unchanged.
    pub fn of_source(base: &Path, source: &SourcePath) -> Result<Self, MaterialError> {
        let path = source.path();
        let base = base.canonicalize().map_err(|error| MaterialError::unreadable(path, error))?;
        let relative = match path.strip_prefix(&base) {
            Err(_) => None,
            Ok(inside) => Some(spelled(inside).ok_or_else(|| MaterialError::Unfit {
                path: path.to_owned(),
                reason: "its name is not UTF-8".to_owned(),
            })?),
        };
        let (named, path) = (path.to_owned(), path.to_owned());
        Ok(Self { named, path, base, links: LinkRule::Refuse, relative })
    }

    /// The path without links.
    fn real(&self) -> io::Result<PathBuf> {
        match self.links {
            LinkRule::Follow => self.path.canonicalize(),
            LinkRule::Refuse => Ok(self.path.clone()),
        }
    }

    /// Checks that the file exists, with any content.
    pub fn must_exist(&self) -> Result<(), MaterialError> {
        let looked = self.path.symlink_metadata();
        looked.map(drop).map_err(|error| MaterialError::unreadable(&self.named, error))
    }

    /// Checks that it is not a folder, because the content of a folder is not reviewed.
    pub fn must_be_no_folder(&self) -> Result<(), MaterialError> {
        match self.path.is_dir() {
            true => Err(MaterialError::Folder { path: self.named.clone() }),
            false => Ok(()),
        }
    }

    /// Reads the document. An unreadable document is an error: skipping it would let it pass the
    /// review.
    pub fn read(&self, guard: &SecretGuard) -> Result<Document, MaterialError> {
        let text = self.read_text()?;
        let key = guard.refuses_text(&self.path, &text);
        Ok(Document { text, key })
    }

    /// Reads the text without a scan for secrets.
    pub fn read_text(&self) -> Result<String, MaterialError> {
        let real = self.real().map_err(|error| MaterialError::unreadable(&self.named, error))?;
        if real.is_dir() {
            return Err(MaterialError::Folder { path: self.named.clone() });
        }
        if self.relative.is_some() && !real.starts_with(&self.base) {
            return Err(self.unfit("it is a link that leads out of the folder"));
        }
        match read::text(&real) {
            Content::Text(text) => Ok(text),
            Content::Left(reason) => Err(self.unfit(&reason)),
        }
    }

    fn unfit(&self, reason: &str) -> MaterialError {
        MaterialError::Unfit { path: self.named.clone(), reason: reason.to_owned() }
    }
}

impl Document {
    /// Wraps a text without a file, with the same limits.
    pub fn of_text(named: &Path, text: String, guard: &SecretGuard) -> Result<Self, MaterialError> {
        match read::judged(text.into_bytes()) {
            Content::Text(text) => Ok(Self { key: guard.refuses_text(Path::new(""), &text), text }),
            Content::Left(reason) => Err(MaterialError::Unfit { path: named.to_owned(), reason }),
        }
    }
}

/// The path of the file relative to the base; a link keeps its own name.
fn inside(base: &Path, path: &Path) -> Option<PathBuf> {
    let folder = resolved(path.parent()?)?;
    Some(folder.strip_prefix(base).ok()?.join(path.file_name()?))
}

/// Resolves a folder; for a missing one, resolves its existing part.
fn resolved(folder: &Path) -> Option<PathBuf> {
    if let Ok(real) = folder.canonicalize() {
        return Some(real);
    }
    Some(resolved(folder.parent()?)?.join(folder.file_name()?))
}

fn spelled(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}
