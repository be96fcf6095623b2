//! Selects the files to send in full if there are too many.

use crate::domain::digest::sha256_hex;
use crate::domain::plan::{ContextFile, ContextPack, ExcludedFile, IndexedFile};

use super::guard::SecretGuard;
use super::names;
use super::read::{self, FileContent};
use super::walk::FileCandidate;

/// About 125,000 tokens, which most models accept beside the answers of their peers.
pub(super) const WHOLE_BYTES_MAX: u64 = 500_000;
/// Beyond this number, an index is more useful than the texts.
pub(super) const WHOLE_FILES_MAX: usize = 200;

/// A file that may be sent.
pub(super) struct ReadableFile {
    pub(super) candidate: FileCandidate,
    pub(super) bytes: u64,
    /// `None` if the limits were exceeded before this file.
    pub(super) text: Option<String>,
}

/// Total size of the selected files.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PackSize {
    bytes: u64,
    files: usize,
}

impl PackSize {
    /// Adds a file and returns whether the total is still within the limits.
    pub(super) fn add_file(&mut self, bytes: u64) -> bool {
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
pub(super) fn select_files(
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
        let read_again = || read::read_sendable(&file.candidate.real, guard);
        match file.text.map_or_else(read_again, FileContent::Text) {
            FileContent::Text(text) if room.would_fit(text.len() as u64) => {
                room.add_file(text.len() as u64);
                pack.files.push(to_context_file(path, text));
            }
            // The file grew since it was measured.
            FileContent::Text(text) => {
                pack.indexed.push(IndexedFile { path, bytes: text.len() as u64 });
            }
            FileContent::Excluded(reason) => pack.excluded.push(ExcludedFile { path, reason }),
        }
    }
    pack
}

fn is_key_candidate(file: &ReadableFile) -> bool {
    file.candidate.named || names::is_key_file(&file.candidate.shown)
}

/// Named files first, then the shortest, so that as many as possible fit.
fn selection_rank(file: &ReadableFile) -> (bool, u64, &str) {
    (!file.candidate.named, file.bytes, &file.candidate.shown)
}

fn to_context_file(path: String, text: String) -> ContextFile {
    let sha256 = sha256_hex([text.as_bytes()]);
    ContextFile { path, sha256, text }
}
