//! Writes files atomically: a reader sees the old file or the new one.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::Stat;

use super::error::FileError;
use super::opened::{FileIdentity, OpenFolder, split_name};
use super::temporary::TemporaryFile;

/// Number of retries while other processes create and remove the same file.
const ATTEMPTS_MAX: usize = 16;

/// The user's `umask` limits this mode.
const MODE: u32 = 0o666;

/// Creates or replaces a file at a path that the operator chose.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_at(path, bytes, |_| Ok(()))
}

/// Creates a file at a path that the operator chose; fails if it exists.
pub fn create_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_at(path, bytes, |_| Err(io::ErrorKind::AlreadyExists.into()))
}

fn write_at(
    path: &Path,
    bytes: &[u8],
    judge: impl FnMut(&Stat) -> io::Result<()>,
) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
    let (folder, name) = split_name(path).map_err(unwritable)?;
    make_folders(folder).map_err(unwritable)?;
    let folder = OpenFolder::open_at(folder).map_err(unwritable)?;
    place_file(&folder, name, bytes, judge).map_err(unwritable)
}

#[expect(clippy::disallowed_methods, reason = "the operator named the folder")]
fn make_folders(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Writes a file in a folder. `judge` decides whether the existing file may be replaced.
pub(super) fn place_file<E: From<io::Error>>(
    folder: &OpenFolder,
    name: &OsStr,
    bytes: &[u8],
    mut judge: impl FnMut(&Stat) -> Result<(), E>,
) -> Result<(), E> {
    let mut temporary = TemporaryFile::new(folder, MODE)?;
    temporary.file.write_all(bytes)?;
    temporary.file.sync_all()?;
    for _ in 0..ATTEMPTS_MAX {
        match folder.stat_name(name)? {
            None => match temporary.persist_new(name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                placed => return Ok(placed?),
            },
            Some(found) => {
                judge(&found)?;
                // Replace only the file that `judge` approved.
                if folder.is_same_file(name, FileIdentity::from_stat(&found)) {
                    return Ok(temporary.persist(name)?);
                }
            }
        }
    }
    Err(io::Error::from(io::ErrorKind::ResourceBusy).into())
}
