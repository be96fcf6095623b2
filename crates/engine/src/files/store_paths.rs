//! Paths that belong to a store on disk.
//!
//! Code that writes elsewhere must avoid all of them, so these functions are the only list.

use std::path::{Path, PathBuf};

/// The store file, the files that SQLite keeps beside it, and the lock folder, whether they exist
/// or not.
pub fn list_store_files(store: &Path) -> [PathBuf; 5] {
    ["", "-wal", "-shm", "-journal", LOCKS_SUFFIX].map(|suffix| append_suffix(store, suffix))
}

/// The folder beside a store with the locks of running processes.
pub fn lock_folder_path(store: &Path) -> PathBuf {
    append_suffix(store, LOCKS_SUFFIX)
}

/// Follows the names of SQLite's own files, and is unlikely to be a name chosen by a user.
const LOCKS_SUFFIX: &str = "-locks";

fn append_suffix(store: &Path, suffix: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// File beside the store with the secret for clients of the HTTP server.
pub const TOKEN_FILE: &str = "token";

/// Default folder of a store. All files in it belong to the program.
const DEFAULT_FOLDER: &str = ".plenary";

/// Lock folder of earlier versions, inside the default folder.
const OLD_LOCKS_FOLDER: &str = "runs";

/// All paths that belong to a store, whether they exist or not: its files, the token beside it, and
/// the locks of an earlier version. No request reads or writes there. Outside the default folder,
/// `runs` may be a folder of the user, so it is not included.
pub fn list_owned_paths(store: &Path) -> Vec<PathBuf> {
    let is_ours =
        store.parent().and_then(Path::file_name).is_some_and(|name| name == DEFAULT_FOLDER);
    let older = is_ours.then(|| store.with_file_name(OLD_LOCKS_FOLDER));
    let token = store.with_file_name(TOKEN_FILE);
    list_store_files(store).into_iter().chain([token]).chain(older).collect()
}
