//! One document that somebody wants judged: where it lies, and then its text, whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

use super::gather::MaterialError;
use super::guard::SecretGuard;
use super::read::{self, Content};
use crate::files::SourcePath;

/// Where a document lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    named: PathBuf,
    path: PathBuf,
    base: PathBuf,
    links: LinkRule,
    /// Relative to the base, with `/` everywhere: the path by which rules know it. Nothing,
    /// where it lies elsewhere.
    pub relative: Option<String>,
}

/// What happens to links in the path of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkRule {
    Follow,
    /// The path was checked and had none; one that is there now was put there since.
    Refuse,
}

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub text: String,
    /// What in it looks like a key of some service.
    pub key: Option<String>,
}

impl Place {
    /// A path that is relative lies in `working`. It need not be there any more: what is not
    /// looked at need not be readable.
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

    /// A path that was checked; it is read as it is.
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

    /// The path without links in it.
    fn real(&self) -> io::Result<PathBuf> {
        match self.links {
            LinkRule::Follow => self.path.canonicalize(),
            LinkRule::Refuse => Ok(self.path.clone()),
        }
    }

    /// That it is there, whatever it holds.
    pub fn must_exist(&self) -> Result<(), MaterialError> {
        let looked = self.path.symlink_metadata();
        looked.map(drop).map_err(|error| MaterialError::unreadable(&self.named, error))
    }

    /// That it is no folder: whatever is in one, nobody looked at it.
    pub fn must_be_no_folder(&self) -> Result<(), MaterialError> {
        match self.path.is_dir() {
            true => Err(MaterialError::Folder { path: self.named.clone() }),
            false => Ok(()),
        }
    }

    /// Reads it. What cannot be read as text is an error: a gate that skipped it would let it
    /// through.
    pub fn read(&self, guard: &SecretGuard) -> Result<Document, MaterialError> {
        let text = self.read_text()?;
        let key = guard.refuses_text(&self.path, &text);
        Ok(Document { text, key })
    }

    /// The same, without a look for secrets.
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
    /// A text that came without a file, within the limits of one.
    pub fn of_text(named: &Path, text: String, guard: &SecretGuard) -> Result<Self, MaterialError> {
        match read::judged(text.into_bytes()) {
            Content::Text(text) => Ok(Self { key: guard.refuses_text(Path::new(""), &text), text }),
            Content::Left(reason) => Err(MaterialError::Unfit { path: named.to_owned(), reason }),
        }
    }
}

/// The name it has in its folder, links to it included.
fn inside(base: &Path, path: &Path) -> Option<PathBuf> {
    let folder = resolved(path.parent()?)?;
    Some(folder.strip_prefix(base).ok()?.join(path.file_name()?))
}

/// A folder as the system would find it; of one that is gone, as much as is still there.
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
