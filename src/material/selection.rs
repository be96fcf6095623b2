//! Selects the files to send in full if there are too many.

use crate::domain::digest::sha256_hex;
use crate::domain::plan::{ContextFile, ContextPack, Exclusion, IndexedFile};

use super::guard::SecretGuard;
use super::names;
use super::read::{self, Content};
use super::walk::Candidate;

/// About 125,000 tokens, which most models accept beside the answers of their peers.
pub(super) const WHOLE_BYTES_MAX: u64 = 500_000;
/// Beyond this number, an index is more useful than the texts.
pub(super) const WHOLE_FILES_MAX: usize = 200;

/// A file that may be sent.
pub(super) struct Readable {
    pub(super) candidate: Candidate,
    pub(super) bytes: u64,
    /// `None` if the limits were exceeded before this file.
    pub(super) text: Option<String>,
}

/// Total size of the selected files.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Room {
    bytes: u64,
    files: usize,
}

impl Room {
    /// Adds a file and returns whether the total is still within the limits.
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.files += 1;
        self.holds()
    }

    fn holds(self) -> bool {
        self.bytes <= WHOLE_BYTES_MAX && self.files <= WHOLE_FILES_MAX
    }

    fn fits(self, bytes: u64) -> bool {
        let mut room = self;
        room.take(bytes)
    }
}

/// Sends all files in full if they fit, else key files in full and the others by name.
pub(super) fn select(readable: Vec<Readable>, taken: Room, guard: &SecretGuard) -> ContextPack {
    if taken.holds() {
        let files = readable
            .into_iter()
            .filter_map(|file| Some(context_file(file.candidate.shown, file.text?)));
        return ContextPack { files: files.collect(), ..ContextPack::default() };
    }
    key_files_of(readable, guard)
}

fn key_files_of(mut readable: Vec<Readable>, guard: &SecretGuard) -> ContextPack {
    readable.sort_by(|a, b| rank(a).cmp(&rank(b)));
    let mut pack = ContextPack::default();
    let mut room = Room::default();
    for file in readable {
        let path = file.candidate.shown.clone();
        if !(is_key(&file) && room.fits(file.bytes)) {
            pack.indexed.push(IndexedFile { path, bytes: file.bytes });
            continue;
        }
        let read_again = || read::content(&file.candidate.real, guard);
        match file.text.map_or_else(read_again, Content::Text) {
            Content::Text(text) if room.fits(text.len() as u64) => {
                room.take(text.len() as u64);
                pack.files.push(context_file(path, text));
            }
            // The file grew since it was measured.
            Content::Text(text) => {
                pack.indexed.push(IndexedFile { path, bytes: text.len() as u64 });
            }
            Content::Left(reason) => pack.excluded.push(Exclusion { path, reason }),
        }
    }
    pack
}

fn is_key(file: &Readable) -> bool {
    file.candidate.named || names::is_key_file(&file.candidate.shown)
}

/// Named files first, then the shortest, so that as many as possible fit.
fn rank(file: &Readable) -> (bool, u64, &str) {
    (!file.candidate.named, file.bytes, &file.candidate.shown)
}

fn context_file(path: String, text: String) -> ContextFile {
    let sha256 = sha256_hex([text.as_bytes()]);
    ContextFile { path, sha256, text }
}
