//! One document to review: its location, and its complete text.

use std::io;
use std::path::{Path, PathBuf};

use crate::context_files::gather::ContextFileError;
use crate::context_files::read::{SecretGuard, read_text_file, to_text};
use crate::files::allowed_folders::SourcePath;

/// Location of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentLocation {
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
pub struct SourceDocument {
    pub text: String,
    /// Why the text looks like it contains a secret.
    pub key: Option<String>,
}

impl DocumentLocation {
    /// Locates a document; a relative path is below `working`. The file need not exist: a document
    /// that is not read need not be readable.
    pub fn from_path(base: &Path, working: &Path, named: &Path) -> Result<Self, ContextFileError> {
        let unreadable = |error| ContextFileError::unreadable_error(named, error);
        if named.as_os_str().is_empty() {
            return Err(unreadable(io::ErrorKind::NotFound.into()));
        }
        let base = base.canonicalize().map_err(unreadable)?;
        let path = working.join(named);
        let relative = to_slash_path(named, path_inside(&base, &path).as_deref())?;
        Ok(Self { named: named.to_owned(), path, base, links: LinkRule::Follow, relative })
    }

    /// Locates a checked path, used unchanged.
    pub fn from_source(base: &Path, source: &SourcePath) -> Result<Self, ContextFileError> {
        let path = source.path();
        let base =
            base.canonicalize().map_err(|error| ContextFileError::unreadable_error(path, error))?;
        let relative = to_slash_path(path, path.strip_prefix(&base).ok())?;
        let (named, path) = (path.to_owned(), path.to_owned());
        Ok(Self { named, path, base, links: LinkRule::Refuse, relative })
    }

    /// The path without links.
    fn real_path(&self) -> io::Result<PathBuf> {
        match self.links {
            LinkRule::Follow => self.path.canonicalize(),
            LinkRule::Refuse => Ok(self.path.clone()),
        }
    }

    /// Checks that the file exists and is not empty.
    pub fn must_have_content(&self) -> Result<(), ContextFileError> {
        let looked = self.path.metadata();
        let looked =
            looked.map_err(|error| ContextFileError::unreadable_error(&self.named, error))?;
        if looked.len() == 0 { Err(self.unfit_error("it is empty")) } else { Ok(()) }
    }

    /// Checks that it is not a folder, because the content of a folder is not reviewed.
    pub fn must_not_be_folder(&self) -> Result<(), ContextFileError> {
        match self.path.is_dir() {
            true => Err(ContextFileError::Folder { path: self.named.clone() }),
            false => Ok(()),
        }
    }

    /// Reads the document. An unreadable document is an error: skipping it would let it pass the
    /// review.
    pub fn read_document(&self, guard: &SecretGuard) -> Result<SourceDocument, ContextFileError> {
        let text = self.read_text()?;
        let key = guard.text_refusal(&self.path, &text);
        Ok(SourceDocument { text, key })
    }

    /// Reads the text without a scan for secrets.
    pub fn read_text(&self) -> Result<String, ContextFileError> {
        let real = self
            .real_path()
            .map_err(|error| ContextFileError::unreadable_error(&self.named, error))?;
        if real.is_dir() {
            return Err(ContextFileError::Folder { path: self.named.clone() });
        }
        if self.relative.is_some() && !real.starts_with(&self.base) {
            return Err(self.unfit_error("it is a link that leads out of the folder"));
        }
        read_text_file(&real).map_err(|reason| self.unfit_error(&reason))
    }

    fn unfit_error(&self, reason: &str) -> ContextFileError {
        ContextFileError::Unfit { path: self.named.clone(), reason: reason.to_owned() }
    }
}

impl SourceDocument {
    /// Wraps a text without a file, with the same limits.
    pub fn from_text(
        named: &Path,
        text: String,
        guard: &SecretGuard,
    ) -> Result<Self, ContextFileError> {
        let unfit = |reason| ContextFileError::Unfit { path: named.to_owned(), reason };
        let text = to_text(text.into_bytes()).map_err(unfit)?;
        Ok(Self { key: guard.text_refusal(Path::new(""), &text), text })
    }
}

/// The path of the file relative to the base; a link keeps its own name.
fn path_inside(base: &Path, path: &Path) -> Option<PathBuf> {
    let folder = resolve_folder(path.parent()?)?;
    Some(folder.strip_prefix(base).ok()?.join(path.file_name()?))
}

/// Resolves a folder; for a missing one, resolves its existing part.
fn resolve_folder(folder: &Path) -> Option<PathBuf> {
    if let Ok(real) = folder.canonicalize() {
        return Some(real);
    }
    Some(resolve_folder(folder.parent()?)?.join(folder.file_name()?))
}

fn to_slash_path(named: &Path, inside: Option<&Path>) -> Result<Option<String>, ContextFileError> {
    let Some(inside) = inside else { return Ok(None) };
    let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
    let unfit = || ContextFileError::Unfit {
        path: named.to_owned(),
        reason: "its name is not UTF-8".to_owned(),
    };
    Ok(Some(parts.ok_or_else(unfit)?.join("/")))
}
