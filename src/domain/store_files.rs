//! What a store is on the disk: more than the file it is named by.
//!
//! Whoever writes elsewhere must not hit any of them, so all who ask are told by one function.

use std::path::{Path, PathBuf};

/// The file of a store and those that SQLite keeps beside it, whether they exist or not.
pub fn store_files(store: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|suffix| {
        let mut name = store.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    })
}
