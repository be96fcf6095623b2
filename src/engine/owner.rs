//! Whether the process that works on a run still lives.
//!
//! Each process that works on runs locks a file of its own in the store's lock folder
//! (`lock_folder.rs`), and the journals of its runs hold the file's name. The lock ends with the
//! process, however it ends, so a run whose owner's lock can be taken has no owner.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::deliberation::lock;
use super::lock_folder::{LockFolder, is_held, new_lock_name};
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Transcript;
use crate::store::StoreError;

/// A process that works on runs. Dropping it gives them up.
#[derive(Debug)]
pub struct Owner {
    pub(super) token: String,
    store_file: PathBuf,
    folder: LockFolder,
    /// The runs that this process works on.
    claimed: Arc<Mutex<BTreeSet<DialogueId>>>,
    /// Holds the lock for as long as it is open.
    _lock: File,
}

impl Owner {
    /// Makes this process known to all that use the store, under a name of its own.
    pub fn new(store_file: &Path, chance: u64) -> Result<Self, StoreError> {
        let folder = LockFolder::prepare(store_file)?;
        folder.sweep();
        let token = new_lock_name(std::process::id(), chance);
        let lock = folder
            .lock(&token)
            .map_err(|source| StoreError::NoFolder { path: folder.path().to_owned(), source })?;
        let store_file = store_file.to_owned();
        Ok(Self { token, store_file, folder, claimed: Arc::default(), _lock: lock })
    }

    /// Whether another process works on the run just now. A run that this process gave up, as
    /// after a disk was full, has no owner although the process lives.
    pub(super) fn finds_at_work(&self, transcript: &Transcript) -> bool {
        transcript.owners.last() != Some(&self.token) && is_at_work(&self.store_file, transcript)
    }

    /// Takes a run for this process; nothing, while the process works on it already.
    pub(super) fn claim(&self, id: &DialogueId) -> Option<RunClaim> {
        let is_free = lock(&self.claimed).insert(id.clone());
        is_free.then(|| RunClaim { id: id.clone(), claimed: Arc::clone(&self.claimed) })
    }
}

/// A run that this process works on, until this is dropped.
#[derive(Debug)]
pub(super) struct RunClaim {
    id: DialogueId,
    claimed: Arc<Mutex<BTreeSet<DialogueId>>>,
}

impl Drop for RunClaim {
    fn drop(&mut self) {
        lock(&self.claimed).remove(&self.id);
    }
}

/// Whether a process works on the run just now.
pub fn is_at_work(store_file: &Path, transcript: &Transcript) -> bool {
    let last = transcript.owners.last().filter(|_| transcript.stopped.is_none());
    last.is_some_and(|token| is_held(store_file, token))
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.folder.remove(&self.token);
    }
}
