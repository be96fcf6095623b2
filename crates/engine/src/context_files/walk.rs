//! Walks a folder: lists the files that may be read and the entries left out.

use std::collections::{BTreeMap, HashSet};
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};
use plenary_core::model::plan::ExcludedFile;
use plenary_core::model::time::Moment;

use crate::context_files::credential_names::credential_folder_reason;
use crate::context_files::gather::{ContextFileError, display_path};
use crate::context_files::selection::exclusion_by_name;

/// A larger folder is too large for a question, and its index would not fit into a prompt.
pub(crate) const CONTEXT_ENTRIES_MAX: usize = 10_000;
/// Of entries excluded for the same reason, only the first are listed.
const LISTED_PER_REASON_MAX: usize = 20;

/// Type of a folder entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderEntryKind {
    File,
    Folder,
    /// A folder that cannot be entered.
    ClosedFolder,
    /// A link to a file or to nothing.
    Link,
    /// A device, a pipe, a socket.
    Other,
}

/// Whether the caller requests an entry by its shown path. A requested entry is not excluded by its
/// name.
pub type IsRequested = Arc<dyn Fn(&str, FolderEntryKind) -> bool + Send + Sync>;

/// A file that may be sent after it is read.
#[derive(Debug)]
pub(crate) struct FileCandidate {
    /// The path without links.
    pub(crate) real: PathBuf,
    pub(crate) shown: String,
    /// The user named this file directly.
    pub(crate) named: bool,
}

/// An entry left out without reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedEntry {
    /// The path without links, except for the entry itself.
    pub path: PathBuf,
    pub shown: String,
    pub kind: FolderEntryKind,
    pub reason: String,
}

#[derive(Debug, Default)]
pub(crate) struct FolderListing {
    pub(crate) candidates: Vec<FileCandidate>,
    pub(crate) left_out: Vec<ExcludedEntry>,
}

/// Limits of a walk.
#[derive(Clone)]
pub(crate) struct WalkScope {
    pub(crate) entries_max: usize,
    pub(crate) asked_for: IsRequested,
}

impl WalkScope {
    /// For `--context`: no entry is requested by name.
    pub(crate) fn for_context() -> Self {
        Self { entries_max: CONTEXT_ENTRIES_MAX, asked_for: Arc::new(|_, _| false) }
    }
}

pub(crate) fn walk_folder(
    named: &Path,
    root: &Path,
    shown: &str,
    scope: WalkScope,
) -> Result<FolderListing, ContextFileError> {
    // The walk itself does not report an unreadable root.
    root.read_dir().map_err(|error| ContextFileError::unreadable_error(named, error))?;
    if let Some(reason) = credential_folder_reason(root) {
        let (path, shown) = (root.to_owned(), shown.to_owned());
        let left_out = vec![ExcludedEntry { path, shown, kind: FolderEntryKind::Folder, reason }];
        return Ok(FolderListing { candidates: Vec::new(), left_out });
    }
    let entries_max = scope.entries_max;
    let folder = WalkedFolder { root: root.to_owned(), shown: shown.to_owned(), scope };
    let entries = list_entries(named, &folder, entries_max)?;
    let mut listing = FolderListing::default();
    for entry in &entries {
        folder.classify_entry(entry, &mut listing);
    }
    folder.add_excluded(&entries, &mut listing);
    Ok(listing)
}

/// The entries that pass the ignore files and the name rules. The root itself is not judged.
fn list_entries(
    named: &Path,
    folder: &WalkedFolder,
    entries_max: usize,
) -> Result<Vec<DirEntry>, ContextFileError> {
    let judge = folder.clone();
    let walk = WalkBuilder::new(&folder.root)
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .add_custom_ignore_filename(".councilignore")
        .filter_entry(move |entry| {
            let kind =
                if is_folder(entry) { FolderEntryKind::Folder } else { FolderEntryKind::File };
            entry.depth() == 0 || judge.name_exclusion(entry.path(), kind).is_none()
        })
        .build();
    // A folder that cannot be entered is missing here; `add_excluded` adds it.
    let entries: Vec<DirEntry> = walk.filter_map(Result::ok).take(entries_max + 1).collect();
    if entries.len() > entries_max {
        return Err(ContextFileError::TooMany { path: named.to_owned(), most: entries_max });
    }
    Ok(entries)
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

#[derive(Clone)]
struct WalkedFolder {
    root: PathBuf,
    shown: String,
    scope: WalkScope,
}

impl WalkedFolder {
    fn classify_entry(&self, entry: &DirEntry, listing: &mut FolderListing) {
        let (path, Some(kind)) = (entry.path(), entry.file_type()) else { return };
        let shown = self.display_path(path);
        if kind.is_file() {
            let real = path.to_owned();
            listing.candidates.push(FileCandidate { real, shown, named: false });
        } else if let Some((kind, reason)) = self.type_exclusion(path, kind) {
            let (path, reason) = (path.to_owned(), reason.to_owned());
            listing.left_out.push(ExcludedEntry { path, shown, kind, reason });
        }
    }

    /// The reason for excluding an entry by its name, if any.
    fn name_exclusion(&self, path: &Path, kind: FolderEntryKind) -> Option<String> {
        let reason = exclusion_by_name(path, kind == FolderEntryKind::Folder)?;
        (!(self.scope.asked_for)(&self.display_path(path), kind)).then_some(reason)
    }

    /// The reason for excluding links, closed folders and special files.
    fn type_exclusion(
        &self,
        path: &Path,
        kind: FileType,
    ) -> Option<(FolderEntryKind, &'static str)> {
        if kind.is_symlink() {
            let Ok(target) = path.canonicalize() else {
                return Some((FolderEntryKind::Link, "a link that leads nowhere"));
            };
            let kind =
                if target.is_dir() { FolderEntryKind::Folder } else { FolderEntryKind::Link };
            let reason = match target.starts_with(&self.root) {
                // Following it would bypass the rules for its target.
                true => "a link; its target is listed under its own path",
                false => "a link that leads out of the folder",
            };
            return Some((kind, reason));
        }
        if kind.is_dir() {
            let closed = (FolderEntryKind::ClosedFolder, "it cannot be entered");
            return path.read_dir().err().map(|_| closed);
        }
        Some((FolderEntryKind::Other, "a device, pipe or socket"))
    }

    /// Adds the entries of walked folders that did not pass, with the reason.
    fn add_excluded(&self, entries: &[DirEntry], listing: &mut FolderListing) {
        let admitted: HashSet<&Path> = entries.iter().map(DirEntry::path).collect();
        for folder in entries.iter().filter(|entry| is_folder(entry)) {
            let Ok(children) = folder.path().read_dir() else { continue };
            for child in children.filter_map(Result::ok) {
                let path = child.path();
                if admitted.contains(path.as_path()) {
                    continue;
                }
                let is_folder = child.file_type().is_ok_and(|kind| kind.is_dir());
                let kind = if is_folder { FolderEntryKind::Folder } else { FolderEntryKind::File };
                let reason = self.name_exclusion(&path, kind).unwrap_or_else(ignored_reason);
                listing.left_out.push(ExcludedEntry {
                    shown: self.display_path(&path),
                    path,
                    kind,
                    reason,
                });
            }
        }
    }

    fn display_path(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let first = Some(self.shown.clone()).filter(|shown| !shown.is_empty());
        let parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
        let shown = first.into_iter().chain(parts).collect::<Vec<_>>().join("/");
        if shown.is_empty() { ".".to_owned() } else { shown }
    }
}

fn ignored_reason() -> String {
    "ignored by `.gitignore` or `.councilignore`".to_owned()
}

/// Summarises exclusions for the user: lists the first entries per folder and reason and counts the
/// others.
pub(crate) fn summarize_excluded(left_out: Vec<ExcludedEntry>) -> Vec<ExcludedFile> {
    let mut alike: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for ExcludedEntry { shown, reason, .. } in left_out {
        let folder = shown.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
        alike.entry((folder, reason)).or_default().push(shown);
    }
    let mut excluded = Vec::new();
    for ((folder, reason), mut paths) in alike {
        paths.sort();
        let more = paths.len().saturating_sub(LISTED_PER_REASON_MAX);
        let named = paths.into_iter().take(LISTED_PER_REASON_MAX);
        excluded.extend(named.map(|path| ExcludedFile { path, reason: reason.clone() }));
        if more > 0 {
            excluded.push(ExcludedFile {
                path: folder,
                reason: format!("{more} more in it: {reason}"),
            });
        }
    }
    excluded
}

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
    let listing = walk_folder(named, &real, &display_path(&base, named, &real), scope)?;
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
