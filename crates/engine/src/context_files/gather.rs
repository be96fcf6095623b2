//! Collects the files of `--context` paths into the pack that is sent with a question.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use plenary_core::model::plan::{ContextPack, ExcludedFile, IndexedFile};
use plenary_core::report::phrases::format_bytes;

use crate::context_files::read::{SecretGuard, read_sendable};
use crate::context_files::selection::{PackSize, ReadableFile, WHOLE_BYTES_MAX, select_files};
use crate::context_files::walk::{
    ExcludedEntry, FileCandidate, FolderEntryKind, FolderListing, WalkScope, summarize_excluded,
    walk_folder,
};
use crate::files::allowed_folders::SourcePath;
use crate::files::open_folder::open_without_links;
use crate::files::read_write::name_source;

#[derive(Debug, thiserror::Error)]
pub enum ContextFileError {
    #[error("cannot read `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{path}` is neither a file nor a folder")]
    NotAFile { path: PathBuf },
    #[error("`{path}` is a folder")]
    Folder { path: PathBuf },
    #[error("cannot review {}: {reason}", name_source(path))]
    Unfit { path: PathBuf, reason: String },
    #[error("{} cannot be sent: {reason}", name_source(Path::new(path)))]
    Unsent { path: String, reason: String },
    #[error("`{path}` contains more than {most} files and folders")]
    TooMany { path: PathBuf, most: usize },
}

impl ContextFileError {
    pub(crate) fn unreadable_error(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }
}

/// Collects files and folders, relative to `base`, into a context pack.
///
/// A named path that cannot be read is an error. An entry found in a folder that cannot or must not
/// be sent is excluded with a reason.
pub fn gather_files(
    base: &Path,
    paths: &[PathBuf],
    guard: &SecretGuard,
) -> Result<ContextPack, ContextFileError> {
    let real = |base: &Path, named: &Path| {
        // Joined to the base, an empty path would mean the whole base.
        if named.as_os_str().is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        base.join(named).canonicalize()
    };
    gather_resolved(base, paths.iter().map(PathBuf::as_path), real, guard)
}

/// Rejects a pack without a file that a person named: the answer would be about something else. In a
/// named folder, files may be left out, but not all of them.
pub fn require_named_files(
    base: &Path,
    paths: &[PathBuf],
    pack: &ContextPack,
) -> Result<(), ContextFileError> {
    let Ok(base) = base.canonicalize() else { return Ok(()) };
    for named in paths {
        let Ok(real) = base.join(named).canonicalize() else { continue };
        let path = display_path(&base, named, &real);
        if real.is_dir() {
            if pack.files.iter().any(|file| is_file_in(&real, &base.join(&file.path))) {
                continue;
            }
            let reason = "it has no file that can be sent".to_owned();
            return Err(ContextFileError::Unsent { path, reason });
        }
        let left_out = pack.excluded.iter().find(|excluded| excluded.path == path);
        let empty = pack.files.iter().find(|file| file.path == path && file.text.trim().is_empty());
        // Alone it is over the limit; several files that are too large together are only named.
        let is_large = |file: &&IndexedFile| file.path == path && file.bytes > WHOLE_BYTES_MAX;
        let large = pack.indexed.iter().find(is_large);
        let reason = match (left_out, empty, large) {
            (Some(left_out), ..) => left_out.reason.clone(),
            (None, Some(_), _) => "it is empty".to_owned(),
            (None, None, Some(file)) => too_large_reason(file.bytes),
            (None, None, None) => continue,
        };
        return Err(ContextFileError::Unsent { path, reason });
    }
    Ok(())
}

/// Why a text is too large to be sent whole.
pub fn too_large_reason(bytes: u64) -> String {
    let [size, most] = [bytes, WHOLE_BYTES_MAX]
        .map(|bytes| format_bytes(usize::try_from(bytes).unwrap_or(usize::MAX)));
    format!("it has {size}, and at most {most} are sent whole; send a part of it")
}

/// Whether a file is in a folder, which a path may reach by `..` or by a link.
fn is_file_in(folder: &Path, file: &Path) -> bool {
    file.canonicalize().is_ok_and(|file| file.starts_with(folder))
}

/// Same for checked paths, used unchanged: if a link has replaced a folder since, reading fails.
pub fn gather_sources(
    base: &Path,
    paths: &[SourcePath],
    guard: &SecretGuard,
) -> Result<ContextPack, ContextFileError> {
    gather_resolved(
        base,
        paths.iter().map(SourcePath::path),
        |_, named| Ok(named.to_owned()),
        guard,
    )
}

fn gather_resolved<'a>(
    base: &Path,
    paths: impl Iterator<Item = &'a Path>,
    real: impl Fn(&Path, &Path) -> io::Result<PathBuf>,
    guard: &SecretGuard,
) -> Result<ContextPack, ContextFileError> {
    let base =
        base.canonicalize().map_err(|error| ContextFileError::unreadable_error(base, error))?;
    let mut found = GatheredFiles::default();
    for named in paths {
        let real =
            real(&base, named).map_err(|error| ContextFileError::unreadable_error(named, error))?;
        found.add_listing(list_path(&base, named, real, guard)?);
    }
    Ok(found.into_pack(guard))
}

fn list_path(
    base: &Path,
    named: &Path,
    real: PathBuf,
    guard: &SecretGuard,
) -> Result<FolderListing, ContextFileError> {
    let unreadable = |error| ContextFileError::unreadable_error(named, error);
    // Not the target of a link: files are later opened without following links.
    let metadata = real.symlink_metadata().map_err(unreadable)?;
    let shown = display_path(base, named, &real);
    if metadata.is_dir() {
        walk_folder(named, &real, &shown, WalkScope::for_context())
    } else if metadata.is_file() {
        list_named_file(named, real, shown, guard)
    } else {
        Err(ContextFileError::NotAFile { path: named.to_owned() })
    }
}

/// A named file is taken from any folder, unless it or a link to it has the name of a credential.
fn list_named_file(
    named: &Path,
    real: PathBuf,
    shown: String,
    guard: &SecretGuard,
) -> Result<FolderListing, ContextFileError> {
    if let Some(reason) = guard.file_refusal(&real).or_else(|| guard.file_refusal(named)) {
        let left_out =
            vec![ExcludedEntry { path: real, shown, kind: FolderEntryKind::File, reason }];
        return Ok(FolderListing { candidates: Vec::new(), left_out });
    }
    open_without_links(&real).map_err(|error| ContextFileError::unreadable_error(named, error))?;
    let candidate = FileCandidate { real, shown, named: true };
    Ok(FolderListing { candidates: vec![candidate], left_out: Vec::new() })
}

/// The path as shown: relative to the base if inside it, else as named.
pub(crate) fn display_path(base: &Path, named: &Path, real: &Path) -> String {
    let path = real.strip_prefix(base).unwrap_or(named);
    let parts = path.iter().filter(|part| *part != ".").map(|part| part.to_string_lossy());
    // The root of an absolute path is a separate component.
    parts.collect::<Vec<_>>().join("/").replacen("//", "/", 1)
}

/// Files of all named paths. A file reached twice is listed once.
#[derive(Default)]
struct GatheredFiles {
    candidates: BTreeMap<PathBuf, FileCandidate>,
    excluded: Vec<ExcludedFile>,
}

impl GatheredFiles {
    fn add_listing(&mut self, listing: FolderListing) {
        for candidate in listing.candidates {
            let known = self.candidates.entry(candidate.real.clone());
            known.and_modify(|known| known.named |= candidate.named).or_insert(candidate);
        }
        self.excluded.extend(summarize_excluded(listing.left_out));
    }

    fn into_pack(mut self, guard: &SecretGuard) -> ContextPack {
        // An entry excluded from a folder may also be named directly.
        let taken: HashSet<&str> =
            self.candidates.values().map(|file| file.shown.as_str()).collect();
        self.excluded.retain(|exclusion| !taken.contains(exclusion.path.as_str()));
        let mut readable = Vec::new();
        let mut room = PackSize::default();
        for candidate in self.candidates.into_values() {
            // The walk judged names only; own files may have any name.
            let content = match guard.file_refusal(&candidate.real) {
                Some(reason) => Err(reason),
                None => read_sendable(&candidate.real, guard),
            };
            match content {
                Err(reason) => {
                    self.excluded.push(ExcludedFile { path: candidate.shown, reason });
                }
                Ok(text) => {
                    let bytes = text.len() as u64;
                    // Once the limits are exceeded, texts are no longer kept in memory.
                    let text = room.add_file(bytes).then_some(text);
                    readable.push(ReadableFile { candidate, bytes, text });
                }
            }
        }
        let mut pack = select_files(readable, room, guard);
        pack.excluded.append(&mut self.excluded);
        sort_pack(pack)
    }
}

/// Sorts the pack, so that the same files always give the same pack.
fn sort_pack(mut pack: ContextPack) -> ContextPack {
    pack.files.sort_by(|a, b| a.path.cmp(&b.path));
    pack.indexed.sort_by(|a, b| a.path.cmp(&b.path));
    pack.excluded.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
    pack.excluded.dedup();
    pack
}
