//! Walks a folder: lists the files that may be read and the entries left out.

use std::collections::{BTreeMap, HashSet};
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use crate::domain::plan::Exclusion;

use super::credential_names;
use super::gather::MaterialError;
use super::names;

/// A larger folder is too large for a question, and its index would not fit into a prompt.
pub(super) const ENTRIES_MAX: usize = 10_000;
/// Of entries excluded for the same reason, only the first are listed.
const NAMED_PER_REASON_MAX: usize = 20;

/// Type of a folder entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
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
pub type AskedFor = Arc<dyn Fn(&str, EntryKind) -> bool + Send + Sync>;

/// A file that may be sent after it is read.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The path without links.
    pub(super) real: PathBuf,
    pub(super) shown: String,
    /// The user named this file directly.
    pub(super) named: bool,
}

/// An entry left out without reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The path without links, except for the entry itself.
    pub path: PathBuf,
    pub shown: String,
    pub kind: EntryKind,
    pub reason: String,
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) candidates: Vec<Candidate>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Limits of a walk.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) entries_max: usize,
    pub(super) asked_for: AskedFor,
}

impl Scope {
    /// For `--context`: no entry is requested by name.
    pub(super) fn of_material() -> Self {
        Self { entries_max: ENTRIES_MAX, asked_for: Arc::new(|_, _| false) }
    }
}

pub(super) fn folder(
    named: &Path,
    root: &Path,
    shown: &str,
    scope: Scope,
) -> Result<Listing, MaterialError> {
    // The walk itself does not report an unreadable root.
    root.read_dir().map_err(|error| MaterialError::unreadable(named, error))?;
    if let Some(reason) = credential_names::credential_folder(root) {
        let (path, shown) = (root.to_owned(), shown.to_owned());
        let left_out = vec![LeftOut { path, shown, kind: EntryKind::Folder, reason }];
        return Ok(Listing { candidates: Vec::new(), left_out });
    }
    let entries_max = scope.entries_max;
    let folder = Folder { root: root.to_owned(), shown: shown.to_owned(), scope };
    let entries = entries(named, &folder, entries_max)?;
    let mut listing = Listing::default();
    for entry in &entries {
        folder.judge(entry, &mut listing);
    }
    folder.add_passed_over(&entries, &mut listing);
    Ok(listing)
}

/// The entries that pass the ignore files and the name rules. The root itself is not judged.
fn entries(
    named: &Path,
    folder: &Folder,
    entries_max: usize,
) -> Result<Vec<DirEntry>, MaterialError> {
    let judge = folder.clone();
    let walk = WalkBuilder::new(&folder.root)
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .add_custom_ignore_filename(".councilignore")
        .filter_entry(move |entry| {
            let kind = if is_folder(entry) { EntryKind::Folder } else { EntryKind::File };
            entry.depth() == 0 || judge.reason(entry.path(), kind).is_none()
        })
        .build();
    // A folder that cannot be entered is missing here; `add_excluded` adds it.
    let entries: Vec<DirEntry> = walk.filter_map(Result::ok).take(entries_max + 1).collect();
    if entries.len() > entries_max {
        return Err(MaterialError::TooMany { path: named.to_owned(), most: entries_max });
    }
    Ok(entries)
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

#[derive(Clone)]
struct Folder {
    root: PathBuf,
    shown: String,
    scope: Scope,
}

impl Folder {
    fn judge(&self, entry: &DirEntry, listing: &mut Listing) {
        let (path, Some(kind)) = (entry.path(), entry.file_type()) else { return };
        let shown = self.shown(path);
        if kind.is_file() {
            let real = path.to_owned();
            listing.candidates.push(Candidate { real, shown, named: false });
        } else if let Some((kind, reason)) = self.objection(path, kind) {
            let (path, reason) = (path.to_owned(), reason.to_owned());
            listing.left_out.push(LeftOut { path, shown, kind, reason });
        }
    }

    /// The reason for excluding an entry by its name, if any.
    fn reason(&self, path: &Path, kind: EntryKind) -> Option<String> {
        let reason = names::reason(path, kind == EntryKind::Folder)?;
        (!(self.scope.asked_for)(&self.shown(path), kind)).then_some(reason)
    }

    /// The reason for excluding links, closed folders and special files.
    fn objection(&self, path: &Path, kind: FileType) -> Option<(EntryKind, &'static str)> {
        if kind.is_symlink() {
            let Ok(target) = path.canonicalize() else {
                return Some((EntryKind::Link, "a link that leads nowhere"));
            };
            let kind = if target.is_dir() { EntryKind::Folder } else { EntryKind::Link };
            let reason = match target.starts_with(&self.root) {
                // Following it would bypass the rules for its target.
                true => "a link; what it leads to stands under its own name",
                false => "a link that leads out of the folder",
            };
            return Some((kind, reason));
        }
        if kind.is_dir() {
            let closed = (EntryKind::ClosedFolder, "it cannot be entered");
            return path.read_dir().err().map(|_| closed);
        }
        Some((EntryKind::Other, "a device, pipe or socket"))
    }

    /// Adds the entries of walked folders that did not pass, with the reason.
    fn add_passed_over(&self, entries: &[DirEntry], listing: &mut Listing) {
        let admitted: HashSet<&Path> = entries.iter().map(DirEntry::path).collect();
        for folder in entries.iter().filter(|entry| is_folder(entry)) {
            let Ok(children) = folder.path().read_dir() else { continue };
            for child in children.filter_map(Result::ok) {
                let path = child.path();
                if admitted.contains(path.as_path()) {
                    continue;
                }
                let is_folder = child.file_type().is_ok_and(|kind| kind.is_dir());
                let kind = if is_folder { EntryKind::Folder } else { EntryKind::File };
                let reason = self.reason(&path, kind).unwrap_or_else(ignored);
                listing.left_out.push(LeftOut { shown: self.shown(&path), path, kind, reason });
            }
        }
    }

    fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let first = Some(self.shown.clone()).filter(|shown| !shown.is_empty());
        let parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
        let shown = first.into_iter().chain(parts).collect::<Vec<_>>().join("/");
        if shown.is_empty() { ".".to_owned() } else { shown }
    }
}

fn ignored() -> String {
    "ignored by `.gitignore` or `.councilignore`".to_owned()
}

/// Summarises exclusions for the user: lists the first entries per folder and reason and counts the
/// others.
pub(super) fn summed_up(left_out: Vec<LeftOut>) -> Vec<Exclusion> {
    let mut alike: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for LeftOut { shown, reason, .. } in left_out {
        let folder = shown.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
        alike.entry((folder, reason)).or_default().push(shown);
    }
    let mut excluded = Vec::new();
    for ((folder, reason), mut paths) in alike {
        paths.sort();
        let more = paths.len().saturating_sub(NAMED_PER_REASON_MAX);
        let named = paths.into_iter().take(NAMED_PER_REASON_MAX);
        excluded.extend(named.map(|path| Exclusion { path, reason: reason.clone() }));
        if more > 0 {
            excluded
                .push(Exclusion { path: folder, reason: format!("{more} more in it: {reason}") });
        }
    }
    excluded
}
