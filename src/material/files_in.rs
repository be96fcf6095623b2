//! The files of a folder that is looked through: which there are, and when each was changed.

use std::path::{Path, PathBuf};

use super::gather::{MaterialError, shown};
use super::walk;
use crate::domain::plan::Exclusion;
use crate::domain::time::Moment;

/// A large repository; what is larger is somebody's whole disk.
const ENTRIES_MAX: usize = 100_000;

/// What a folder holds, ignored and hidden files apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FilesIn {
    pub files: Vec<FolderFile>,
    /// What was left out unread, with its reason.
    pub left_out: Vec<Exclusion>,
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
pub fn files_in(base: &Path, working: &Path, named: &Path) -> Result<FilesIn, MaterialError> {
    let unreadable = |error| MaterialError::unreadable(named, error);
    let real = working.join(named).canonicalize().map_err(unreadable)?;
    let base = base.canonicalize().map_err(unreadable)?;
    let listing = walk::folder(named, &real, &shown(&base, named, &real), ENTRIES_MAX)?;
    let files = listing.candidates.into_iter().map(|candidate| FolderFile {
        modified: modified(&candidate.real),
        path: candidate.real,
        shown: candidate.shown,
    });
    Ok(FilesIn { files: files.collect(), left_out: listing.excluded })
}

fn modified(path: &Path) -> Option<Moment> {
    let modified = path.symlink_metadata().and_then(|metadata| metadata.modified()).ok()?;
    jiff::Timestamp::try_from(modified).ok().map(Moment::new)
}
