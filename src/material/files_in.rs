//! Lists the files of a folder with their modification times. `sweep` calls `list_folder_files`.

use std::path::{Path, PathBuf};

use super::gather::{ContextFileError, display_path};
use super::walk::{self, ExcludedEntry, IsRequested, WalkScope};
use crate::domain::time::Moment;

/// Enough for a large repository.
const FOLDER_ENTRIES_MAX: usize = 100_000;

/// Files of a folder without ignored and hidden ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FolderFiles {
    pub files: Vec<FolderFile>,
    /// Entries left out without reading, with the reason.
    pub left_out: Vec<ExcludedEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFile {
    /// The path without links.
    pub path: PathBuf,
    /// The path as shown, relative to the base.
    pub shown: String,
    /// `None` if the system reports no time.
    pub modified: Option<Moment>,
}

/// Lists a folder recursively; a relative path is below `working`.
pub fn list_folder_files(
    base: &Path,
    working: &Path,
    named: &Path,
    asked_for: IsRequested,
) -> Result<FolderFiles, ContextFileError> {
    let unreadable = |error| ContextFileError::unreadable_error(named, error);
    let real = working.join(named).canonicalize().map_err(unreadable)?;
    let base = base.canonicalize().map_err(unreadable)?;
    let scope = WalkScope { entries_max: FOLDER_ENTRIES_MAX, asked_for };
    let listing = walk::walk_folder(named, &real, &display_path(&base, named, &real), scope)?;
    let files =
        listing.candidates.into_iter().map(|found| FolderFile::new(found.real, found.shown));
    Ok(FolderFiles { files: files.collect(), left_out: listing.left_out })
}

impl FolderFile {
    pub fn new(path: PathBuf, shown: String) -> Self {
        Self { modified: modified_at(&path), path, shown }
    }
}

/// For a link, the newer of the link's and its target's times.
fn modified_at(path: &Path) -> Option<Moment> {
    let own = path.symlink_metadata().and_then(|metadata| metadata.modified()).ok()?;
    let target = path.metadata().and_then(|metadata| metadata.modified()).unwrap_or(own);
    let modified = own.max(target);
    jiff::Timestamp::try_from(modified).ok().map(Moment::new)
}
