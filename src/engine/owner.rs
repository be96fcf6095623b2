//! Whether the process that works on a run still lives.
//!
//! Each process that runs anything holds a lock on a file of its own beside the
//! store, and its name is in the journal of the runs it works on. The lock ends
//! with the process, however it ends, so a run whose owner's lock can be taken is
//! nobody's.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::transcript::Transcript;

/// Beside the store.
const FOLDER: &str = "runs";

/// A process locks its file in the moment after it made it.
const LITTER_AGE: Duration = Duration::from_secs(3_600);

/// A process that works on runs. Dropping it gives them up.
#[derive(Debug)]
pub struct Owner {
    pub(super) token: String,
    store_folder: PathBuf,
    path: PathBuf,
    /// Holds the lock for as long as it is open.
    _lock: File,
}

impl Owner {
    /// Makes this process known under a name nobody else has.
    #[expect(clippy::disallowed_methods, reason = "the lock lies beside the store")]
    pub fn new(store_folder: &Path, chance: u64) -> io::Result<Self> {
        let folder = store_folder.join(FOLDER);
        std::fs::create_dir_all(&folder)?;
        sweep(&folder);
        let token = format!("{}-{chance:016x}", std::process::id());
        let path = folder.join(&token);
        let lock = File::create(&path)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::ErrorKind::AlreadyExists.into(),
        })?;
        Ok(Self { token, store_folder: store_folder.to_owned(), path, _lock: lock })
    }

    /// Whether another process works on the run just now; so does this one, while it does.
    pub(super) fn finds_at_work(&self, transcript: &Transcript) -> bool {
        is_at_work(&self.store_folder, transcript)
    }
}

/// Removes what processes left behind that were killed: files nobody holds, and old enough
/// that nobody is just about to.
#[expect(clippy::disallowed_methods, reason = "the locks lie beside the store")]
fn sweep(folder: &Path) {
    let Ok(entries) = folder.read_dir() else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok(file) = File::open(&path) else { continue };
        let age = file.metadata().and_then(|metadata| metadata.modified()).map(|at| at.elapsed());
        let is_old = matches!(age, Ok(Ok(age)) if age > LITTER_AGE);
        if is_old && file.try_lock_shared().is_ok() {
            // Somebody else may have swept it by now.
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Whether somebody works on the run just now.
pub fn is_at_work(store_folder: &Path, transcript: &Transcript) -> bool {
    let last = transcript.owners.last().filter(|_| transcript.stopped.is_none());
    last.is_some_and(|token| is_alive(&store_folder.join(FOLDER), token))
}

/// Whether the process of that name still holds its lock.
fn is_alive(folder: &Path, token: &str) -> bool {
    // The name comes from a file that anybody may have written to.
    if token.contains(['/', '\\', '\0']) || token.starts_with('.') {
        return false;
    }
    let Ok(file) = File::open(folder.join(token)) else { return false };
    // Shared, so that those who look at the same moment do not take each other for the owner.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

impl Drop for Owner {
    #[expect(clippy::disallowed_methods, reason = "the lock lies beside the store")]
    fn drop(&mut self) {
        // A file that stays behind is nobody's lock, only litter.
        let _ = std::fs::remove_file(&self.path);
    }
}
