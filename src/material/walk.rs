//! What a named folder holds: files that may be read, and what is left out unread.

use std::collections::{BTreeMap, HashSet};
use std::fs::FileType;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

use crate::domain::plan::Exclusion;

use super::gather::MaterialError;
use super::names;

/// A folder with more is not material for a question; and an index of it would not fit a prompt.
pub(super) const ENTRIES_MAX: usize = 10_000;
/// A folder may hold thousands of ignored files; the first few show which they are.
const NAMED_PER_REASON_MAX: usize = 20;

/// A file that may be sent once it was read.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Without links in it.
    pub(super) real: PathBuf,
    pub(super) shown: String,
    /// Somebody asked for this very file.
    pub(super) named: bool,
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) candidates: Vec<Candidate>,
    pub(super) excluded: Vec<Exclusion>,
}

pub(super) fn folder(
    named: &Path,
    root: &Path,
    shown: &str,
    entries_max: usize,
) -> Result<Listing, MaterialError> {
    // The walk would only note that it could not enter.
    root.read_dir().map_err(|error| MaterialError::unreadable(named, error))?;
    if let Some(reason) = names::credential_folder(root) {
        let excluded = vec![Exclusion { path: shown.to_owned(), reason }];
        return Ok(Listing { candidates: Vec::new(), excluded });
    }
    let entries = entries(named, root, entries_max)?;
    let folder = Folder { root, shown };
    let mut listing = Listing::default();
    for entry in &entries {
        folder.judge(entry, &mut listing);
    }
    folder.add_passed_over(&entries, &mut listing);
    Ok(listing)
}

/// What the walk admits; ignore files and names decide, the root itself is not judged.
fn entries(named: &Path, root: &Path, entries_max: usize) -> Result<Vec<DirEntry>, MaterialError> {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .add_custom_ignore_filename(".councilignore")
        .filter_entry(|entry| {
            entry.depth() == 0 || names::reason(entry.path(), is_folder(entry)).is_none()
        })
        .build();
    // What cannot be entered is missing here and found again by `add_passed_over`.
    let entries: Vec<DirEntry> = walk.filter_map(Result::ok).take(entries_max + 1).collect();
    if entries.len() > entries_max {
        return Err(MaterialError::TooMany { path: named.to_owned(), most: entries_max });
    }
    Ok(entries)
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

struct Folder<'a> {
    root: &'a Path,
    shown: &'a str,
}

impl Folder<'_> {
    fn judge(&self, entry: &DirEntry, listing: &mut Listing) {
        let (path, Some(kind)) = (entry.path(), entry.file_type()) else { return };
        let shown = self.shown(path);
        if kind.is_file() {
            let real = path.to_owned();
            listing.candidates.push(Candidate { real, shown, named: false });
        } else if let Some(reason) = self.objection(path, kind) {
            listing.excluded.push(Exclusion { path: shown, reason });
        }
    }

    /// What is neither a file nor a folder that could be entered.
    fn objection(&self, path: &Path, kind: FileType) -> Option<String> {
        let reason = if kind.is_symlink() {
            match path.canonicalize() {
                Err(_) => "a link that leads nowhere",
                Ok(target) if !target.starts_with(self.root) => {
                    "a link that leads out of the folder"
                }
                // Followed, it would get around what is said about its target.
                Ok(_) => "a link; what it leads to stands under its own name",
            }
        } else if kind.is_dir() {
            path.read_dir().err().map(|_| "it cannot be entered")?
        } else {
            "a device, pipe or socket"
        };
        Some(reason.to_owned())
    }

    /// What lies in the walked folders but was not admitted, with the reason.
    fn add_passed_over(&self, entries: &[DirEntry], listing: &mut Listing) {
        let admitted: HashSet<&Path> = entries.iter().map(DirEntry::path).collect();
        for folder in entries.iter().filter(|entry| is_folder(entry)) {
            let Ok(children) = folder.path().read_dir() else { continue };
            let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for child in children.filter_map(Result::ok) {
                let path = child.path();
                if !admitted.contains(path.as_path()) {
                    let is_folder = child.file_type().is_ok_and(|kind| kind.is_dir());
                    let reason = names::reason(&path, is_folder).unwrap_or_else(ignored);
                    by_reason.entry(reason).or_default().push(self.shown(&path));
                }
            }
            for (reason, paths) in by_reason {
                listing.excluded.extend(self.summed_up(folder.path(), &reason, paths));
            }
        }
    }

    fn summed_up(&self, folder: &Path, reason: &str, mut paths: Vec<String>) -> Vec<Exclusion> {
        paths.sort();
        let more = paths.len().saturating_sub(NAMED_PER_REASON_MAX);
        let named = paths.into_iter().take(NAMED_PER_REASON_MAX);
        let mut excluded: Vec<Exclusion> =
            named.map(|path| Exclusion { path, reason: reason.to_owned() }).collect();
        if more > 0 {
            let path = self.shown(folder);
            excluded.push(Exclusion { path, reason: format!("{more} more in it: {reason}") });
        }
        excluded
    }

    fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(self.root).unwrap_or(path);
        let first = Some(self.shown.to_owned()).filter(|shown| !shown.is_empty());
        let parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
        let shown = first.into_iter().chain(parts).collect::<Vec<_>>().join("/");
        if shown.is_empty() { ".".to_owned() } else { shown }
    }
}

fn ignored() -> String {
    "ignored by `.gitignore` or `.councilignore`".to_owned()
}
