//! The files of a folder that is looked through: which there are, and when each was changed.

use std::path::{Path, PathBuf};

use super::gather::{MaterialError, shown};
use super::walk::{self, AskedFor, LeftOut, Scope};
use crate::domain::time::Moment;

/// A large repository; what is larger is somebody's whole disk.
const ENTRIES_MAX: usize = 100_000;

/// What a folder holds: ignored and hidden files apart, and what else nobody asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FilesIn {
    pub files: Vec<FolderFile>,
    /// What was left out unread, with its reason.
    pub left_out: Vec<LeftOut>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFile {
    /// Without links in it.
    pub path: PathBuf,
    /// As it is called from the base.
    pub shown: String,
    /// Nothing, where the system does not say.
    pub modified: Option<Moment>,
}

/// Lists a folder and what is below it; a path that is relative lies in `working`.
pub fn files_in(
    base: &Path,
    working: &Path,
    named: &Path,
    asked_for: AskedFor,
) -> Result<FilesIn, MaterialError> {
    let unreadable = |error| MaterialError::unreadable(named, error);
    let real = working.join(named).canonicalize().map_err(unreadable)?;
    let base = base.canonicalize().map_err(unreadable)?;
    let scope = Scope { entries_max: ENTRIES_MAX, asked_for };
    let listing = walk::folder(named, &real, &shown(&base, named, &real), scope)?;
    let files =
        listing.candidates.into_iter().map(|found| FolderFile::new(found.real, found.shown));
    Ok(FilesIn { files: files.collect(), left_out: listing.left_out })
}

impl FolderFile {
    pub fn new(path: PathBuf, shown: String) -> Self {
        Self { modified: modified(&path), path, shown }
    }
}

/// A link is as new as what it leads to, or as itself if that is newer.
fn modified(path: &Path) -> Option<Moment> {
    let own = path.symlink_metadata().and_then(|metadata| metadata.modified()).ok()?;
    let target = path.metadata().and_then(|metadata| metadata.modified()).unwrap_or(own);
    let modified = own.max(target);
    jiff::Timestamp::try_from(modified).ok().map(Moment::new)
}
