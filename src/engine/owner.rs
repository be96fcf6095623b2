//! Whether the process that works on a run still lives.
//!
//! Each process that runs anything holds a lock on a file of its own beside the
//! store, and its name is in the journal of the runs it works on. The lock ends
//! with the process, however it ends, so a run whose owner's lock can be taken is
//! nobody's.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Beside the store.
const FOLDER: &str = "runs";

/// A process that works on runs. Dropping it gives them up.
#[derive(Debug)]
pub struct Owner {
    pub(super) token: String,
    folder: PathBuf,
    /// Holds the lock for as long as it is open.
    _lock: File,
}

impl Owner {
    /// Makes this process known under a name nobody else has.
    #[expect(clippy::disallowed_methods, reason = "the lock lies beside the store")]
    pub fn new(store_folder: &Path, chance: u64) -> io::Result<Self> {
        let folder = store_folder.join(FOLDER);
        std::fs::create_dir_all(&folder)?;
        let token = format!("{}-{chance:016x}", std::process::id());
        let lock = File::create(folder.join(&token))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::ErrorKind::AlreadyExists.into(),
        })?;
        Ok(Self { token, folder, _lock: lock })
    }

    /// Whether the process of that name still holds its lock.
    pub(super) fn is_alive(&self, token: &str) -> bool {
        // The name comes from a file that anybody may have written to.
        if token.contains(['/', '\\', '\0']) || token.starts_with('.') {
            return false;
        }
        let Ok(file) = File::open(self.folder.join(token)) else { return false };
        matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    }
}

impl Drop for Owner {
    #[expect(clippy::disallowed_methods, reason = "the lock lies beside the store")]
    fn drop(&mut self) {
        // A file that stays behind is nobody's lock, only litter.
        let _ = std::fs::remove_file(self.folder.join(&self.token));
    }
}
