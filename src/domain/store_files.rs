//! What a store is on the disk: more than the file it is named by.
//!
//! Whoever writes elsewhere must not hit any of them, so all who ask are told by one function.

use std::path::{Path, PathBuf};

/// The file of a store, those that SQLite keeps beside it and the folder of its locks, whether
/// they exist or not.
pub fn store_files(store: &Path) -> [PathBuf; 5] {
    ["", "-wal", "-shm", "-journal", LOCKS].map(|suffix| with_suffix(store, suffix))
}

/// The folder beside a store that holds the locks of processes at work.
pub fn lock_folder_of(store: &Path) -> PathBuf {
    with_suffix(store, LOCKS)
}

/// Like the names that SQLite gives its own files, and no name that a user would choose.
const LOCKS: &str = "-locks";

fn with_suffix(store: &Path, suffix: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Beside the store: the secret that callers of the HTTP server must know.
pub const TOKEN: &str = "token";

/// The folder that a store has where the user names none; everything in it is ours.
const OWN_FOLDER: &str = ".plenary";

/// Where versions before this one kept their locks, in a folder of ours.
const OLDER_LOCKS: &str = "runs";

/// Everything that belongs to a store, whether it exists or not: its files, the token beside it,
/// and the locks of an older version. No request reads or writes there. Beside a store that the
/// user put elsewhere, `runs` is a name that the user may have chosen.
pub fn store_owned(store: &Path) -> Vec<PathBuf> {
    let is_ours = store.parent().and_then(Path::file_name).is_some_and(|name| name == OWN_FOLDER);
    let older = is_ours.then(|| store.with_file_name(OLDER_LOCKS));
    let token = store.with_file_name(TOKEN);
    store_files(store).into_iter().chain([token]).chain(older).collect()
}
