//! Selects the files to send in full if there are too many.

use std::path::Path;

use plenary_core::model::hash::sha256_hex;
use plenary_core::model::plan::{ContextFile, ContextPack, ExcludedFile, IndexedFile};

use crate::context_files::credential_names::{
    FILE_NAMES, credential_folder_reason, credential_reason, has_end, has_name,
};
use crate::context_files::read::{SecretGuard, read_sendable};
use crate::context_files::walk::FileCandidate;

/// About 125,000 tokens, which most models accept beside the answers of their peers.
pub const WHOLE_BYTES_MAX: u64 = 500_000;
/// Beyond this number, an index is more useful than the texts.
pub const WHOLE_FILES_MAX: usize = 200;

/// A file that may be sent.
pub(crate) struct ReadableFile {
    pub(crate) candidate: FileCandidate,
    pub(crate) bytes: u64,
    /// `None` if the limits were exceeded before this file.
    pub(crate) text: Option<String>,
}

/// Total size of the selected files.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PackSize {
    bytes: u64,
    files: usize,
}

impl PackSize {
    /// Adds a file and returns whether the total is still within the limits.
    pub(crate) fn add_file(&mut self, bytes: u64) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.files += 1;
        self.is_within_limits()
    }

    fn is_within_limits(self) -> bool {
        self.bytes <= WHOLE_BYTES_MAX && self.files <= WHOLE_FILES_MAX
    }

    fn would_fit(self, bytes: u64) -> bool {
        let mut room = self;
        room.add_file(bytes)
    }
}

/// Sends all files in full if they fit, else key files in full and the others by name.
pub(crate) fn select_files(
    readable: Vec<ReadableFile>,
    taken: PackSize,
    guard: &SecretGuard,
) -> ContextPack {
    if taken.is_within_limits() {
        let files = readable
            .into_iter()
            .filter_map(|file| Some(to_context_file(file.candidate.shown, file.text?)));
        return ContextPack { files: files.collect(), ..ContextPack::default() };
    }
    select_key_files(readable, guard)
}

fn select_key_files(mut readable: Vec<ReadableFile>, guard: &SecretGuard) -> ContextPack {
    readable.sort_by(|a, b| selection_rank(a).cmp(&selection_rank(b)));
    let mut pack = ContextPack::default();
    let mut room = PackSize::default();
    for file in readable {
        let path = file.candidate.shown.clone();
        if !(is_key_candidate(&file) && room.would_fit(file.bytes)) {
            pack.indexed.push(IndexedFile { path, bytes: file.bytes });
            continue;
        }
        let read_again = || read_sendable(&file.candidate.real, guard);
        match file.text.map_or_else(read_again, Ok) {
            Ok(text) if room.would_fit(text.len() as u64) => {
                room.add_file(text.len() as u64);
                pack.files.push(to_context_file(path, text));
            }
            // The file grew since it was measured.
            Ok(text) => {
                pack.indexed.push(IndexedFile { path, bytes: text.len() as u64 });
            }
            Err(reason) => pack.excluded.push(ExcludedFile { path, reason }),
        }
    }
    pack
}

fn is_key_candidate(file: &ReadableFile) -> bool {
    file.candidate.named || is_key_file(&file.candidate.shown)
}

/// Named files first, then the shortest, so that as many as possible fit.
fn selection_rank(file: &ReadableFile) -> (bool, u64, &str) {
    (!file.candidate.named, file.bytes, &file.candidate.shown)
}

fn to_context_file(path: String, text: String) -> ContextFile {
    let sha256 = sha256_hex([text.as_bytes()]);
    ContextFile { path, sha256, text }
}

/// The reason for leaving an entry out by its name, if any.
pub(crate) fn exclusion_by_name(path: &Path, is_folder: bool) -> Option<String> {
    let Some(name) = path.file_name()?.to_str() else {
        return Some("its name is not UTF-8".to_owned());
    };
    let name_path = Path::new(name);
    let (credential, generated) = if is_folder {
        (credential_folder_reason(name_path), generated_folder(name))
    } else {
        (credential_reason(name_path), generated_file(name))
    };
    credential
        .or_else(|| generated.map(str::to_owned))
        .or_else(|| name.starts_with('.').then(|| "hidden; name it to include it".to_owned()))
}

fn generated_folder(name: &str) -> Option<&'static str> {
    FILE_NAMES.generated_folders.get(name).map(String::as_str)
}

fn generated_file(name: &str) -> Option<&'static str> {
    if has_name(&FILE_NAMES.lock_files, name) {
        return Some("a lock file");
    }
    has_end(&FILE_NAMES.generated_ends, name).then_some("generated")
}

/// Files that describe a folder best; they are sent first if not all fit.
pub(crate) fn is_key_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    name.starts_with("readme")
        || has_name(&FILE_NAMES.manifests, &name)
        || has_name(&FILE_NAMES.entry_points, stem)
}
