//! Opens and locks the log file. Every writer locks it first; a lock on a file that was replaced
//! meanwhile does not count.
//!
//! **Invariant:** the log is a regular file in its folder, with no other name. A symbolic or hard
//! link is an error, because a cloned or copied project may contain one that leads to a file of the
//! user.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::files::open_folder::{OpenFolder, file_identity};
use crate::files::temporary_file::TemporaryFile;
use crate::store::error::StoreError;

/// Lock timeout. Another process only appends a few lines, so it takes longer only on a slow disk.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

const LOCK_RETRY_PAUSE: Duration = Duration::from_millis(5);

/// The user's `umask` limits this mode.
const MODE: u32 = 0o666;

/// The locked log file. Dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub path: PathBuf,
    /// Open for reading and appending.
    pub file: File,
    folder: OpenFolder,
    name: OsString,
}

impl LogFile {
    /// Opens an existing file for reading; returns `None` if it is missing.
    pub(crate) fn open_existing(path: &Path) -> Result<Option<Self>, LogFileError> {
        if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        reject_non_file(path)?;
        let unreadable = |source| LogFileError::Unreadable { path: path.to_owned(), source };
        let folder = OpenFolder::open_at(folder_of(path)).map_err(unreadable)?;
        let name = name_of(path)?;
        let file = folder.open_file(&name, OFlags::RDONLY, 0).map_err(unreadable)?;
        must_be_file(&file, path)?;
        lock_with_timeout(&file, path, Instant::now() + LOCK_TIMEOUT)?;
        Ok(Some(Self { path: path.to_owned(), file, folder, name }))
    }

    /// Opens the file for appending and creates it, with its folder, if it is missing.
    pub(crate) fn open_or_create(path: &Path) -> Result<Self, LogFileError> {
        let name = name_of(path)?;
        reject_non_file(path)?;
        let folder = create_folder(path)?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            reject_non_file(path)?;
            let file = open_checked(&folder, &name, path)?;
            lock_with_timeout(&file, path, deadline)?;
            // The previous lock owner may have replaced the file.
            let is_at = file_identity(&file).is_ok_and(|file| folder.is_same_file(&name, file));
            if is_at {
                return Ok(Self { path: path.to_owned(), file, folder, name });
            }
        }
    }

    pub(crate) fn unreadable_error(&self, source: io::Error) -> LogFileError {
        LogFileError::Unreadable { path: self.path.clone(), source }
    }

    pub(crate) fn unwritable_error(&self, source: io::Error) -> LogFileError {
        LogFileError::Unwritable { path: self.path.clone(), source }
    }

    pub(crate) fn file_size(&self) -> Result<u64, LogFileError> {
        Ok(self.file.metadata().map_err(|error| self.unreadable_error(error))?.len())
    }

    /// Opens a file beside the log for appending. A link is an error.
    pub(crate) fn open_beside(&self, suffix: &str) -> (PathBuf, io::Result<File>) {
        let with_suffix = |name: &OsStr| {
            let mut name = name.to_owned();
            name.push(suffix);
            name
        };
        let path = PathBuf::from(with_suffix(self.path.as_os_str()));
        let file = open_append(&self.folder, &with_suffix(&self.name));
        let is_linked = |file: &File| file.metadata().is_ok_and(|found| found.nlink() > 1);
        let file = file.and_then(|file| match is_linked(&file) {
            true => Err(io::Error::other("it is a hard link")),
            false => Ok(file),
        });
        (path, file)
    }

    /// Creates a temporary file that will replace the log.
    pub(crate) fn new_replacement(&self) -> io::Result<TemporaryFile<'_>> {
        let fresh = TemporaryFile::new(&self.folder, MODE)?;
        fresh.file.set_permissions(self.file.metadata()?.permissions())?;
        Ok(fresh)
    }

    pub(crate) fn file_name(&self) -> &OsStr {
        &self.name
    }

    /// Makes the file name durable, not only the file content.
    pub(crate) fn sync_folder(&self) -> Result<(), LogFileError> {
        self.folder.sync_names().map_err(|error| self.unwritable_error(error))
    }
}

/// Opens the folder of the log and creates it if missing.
#[expect(clippy::disallowed_methods, reason = "the log's folder is made with its file")]
fn create_folder(path: &Path) -> Result<OpenFolder, LogFileError> {
    let folder = folder_of(path);
    let opened = std::fs::create_dir_all(folder).and_then(|()| OpenFolder::open_at(folder));
    opened.map_err(|source| LogFileError::NoFolder { path: path.to_owned(), source })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn name_of(path: &Path) -> Result<OsString, LogFileError> {
    let name = path.file_name().map(OsStr::to_owned);
    name.ok_or_else(|| LogFileError::NotAFile { path: path.to_owned() })
}

/// Rejects links and other non-files with a precise error. Opening them fails too.
fn reject_non_file(path: &Path) -> Result<(), LogFileError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => Err(LogFileError::Link { path: path.to_owned() }),
        Ok(metadata) => check_metadata(&metadata, path),
        Err(_) => Ok(()),
    }
}

/// The opened file may be another one than the file at the path before.
fn must_be_file(file: &File, path: &Path) -> Result<(), LogFileError> {
    match file.metadata() {
        Ok(metadata) => check_metadata(&metadata, path),
        Err(_) => Err(LogFileError::NotAFile { path: path.to_owned() }),
    }
}

/// A replaced file that is still open has no name left; `open_or_create` opens the new one.
fn check_metadata(metadata: &Metadata, path: &Path) -> Result<(), LogFileError> {
    if !metadata.is_file() {
        return Err(LogFileError::NotAFile { path: path.to_owned() });
    }
    if metadata.nlink() > 1 {
        return Err(LogFileError::Link { path: path.to_owned() });
    }
    Ok(())
}

fn open_checked(folder: &OpenFolder, name: &OsStr, path: &Path) -> Result<File, LogFileError> {
    let file = open_append(folder, name);
    let file = file.map_err(|source| LogFileError::Unwritable { path: path.to_owned(), source })?;
    must_be_file(&file, path)?;
    Ok(file)
}

fn open_append(folder: &OpenFolder, name: &OsStr) -> io::Result<File> {
    folder.open_file(name, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, MODE)
}

fn lock_with_timeout(file: &File, path: &Path, deadline: Instant) -> Result<(), LogFileError> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(LOCK_RETRY_PAUSE);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(LogFileError::Busy { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => {
                return Err(LogFileError::Unwritable { path: path.to_owned(), source });
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    #[error("the verdict log `{path}` is not a file")]
    NotAFile { path: PathBuf },
    #[error(
        "the verdict log `{path}` is a link (symbolic or hard), and Plenary follows no links to its own files"
    )]
    Link { path: PathBuf },
    #[error("cannot create the folder of the verdict log `{path}`")]
    NoFolder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot read the verdict log `{path}`")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write the verdict log `{path}`")]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the verdict log `{path}` was locked by another process for over {} s", LOCK_TIMEOUT.as_secs())]
    Busy { path: PathBuf },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LogFileError {
    /// How to fix the error. No verdict is lost meanwhile.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotAFile { .. } => {
                Some("name a file with `review.log_path`; `plenary log repair` then writes it")
            }
            Self::Link { .. } => Some(
                "remove the link, or name another file with `review.log_path`; `plenary log repair` then writes it",
            ),
            Self::NoFolder { .. } | Self::Unwritable { .. } => Some(
                "check its permissions and free space; the verdicts are in the store, and `plenary log repair` writes them",
            ),
            Self::Unreadable { .. } => Some(
                "check its permissions; the verdicts are in the store, and `plenary log repair` writes them",
            ),
            Self::Busy { .. } => {
                Some("the verdicts are in the store; the next review writes them to the file too")
            }
            Self::Store(_) => None,
        }
    }
}
