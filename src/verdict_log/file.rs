//! The file, found, opened and locked. Whoever writes holds its lock, and a lock on a file that
//! was replaced meanwhile is none.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::LogFileError;

/// Another process appends a few lines; it takes longer only where the disk does.
pub(super) const WAIT: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_millis(5);

/// The log, ours alone until this is dropped.
#[derive(Debug)]
pub(super) struct LogFile {
    /// Where it really is, links followed.
    pub path: PathBuf,
    /// Open for reading and appending.
    pub file: File,
}

impl LogFile {
    /// The file as it is, to be looked at; nothing is made where there is none.
    pub(super) fn look(path: &Path) -> Result<Option<Self>, LogFileError> {
        if !path.is_symlink() && !path.exists() {
            return Ok(None);
        }
        let path = followed(path)?;
        refuse_others(&path)?;
        let unreadable = |source| LogFileError::Unreadable { path: path.clone(), source };
        let file = File::open(&path).map_err(unreadable)?;
        wait_for(&file, &path, Instant::now() + WAIT)?;
        Ok(Some(Self { path, file }))
    }

    /// Opens the file and makes it where there is none, with its folder.
    pub(super) fn open(path: &Path) -> Result<Self, LogFileError> {
        let path = real(path)?;
        let deadline = Instant::now() + WAIT;
        loop {
            let file = opened(&path)?;
            wait_for(&file, &path, deadline)?;
            // Whoever held it before may have put another file in its place.
            if is_at(&file, &path) {
                return Ok(Self { path, file });
            }
        }
    }

    pub(super) fn unreadable(&self, source: io::Error) -> LogFileError {
        LogFileError::Unreadable { path: self.path.clone(), source }
    }

    pub(super) fn unwritable(&self, source: io::Error) -> LogFileError {
        LogFileError::Unwritable { path: self.path.clone(), source }
    }

    pub(super) fn bytes(&self) -> Result<u64, LogFileError> {
        Ok(self.file.metadata().map_err(|error| self.unreadable(error))?.len())
    }

    /// What stands beside it under a name of its own.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Makes the name of a file durable, not only what is in it.
    pub(super) fn sync_folder(&self) -> Result<(), LogFileError> {
        let folder = folder_of(&self.path);
        sync_folder(folder).map_err(|error| self.unwritable(error))
    }
}

/// Where the file is, or is to be: the folder exists afterwards.
#[expect(clippy::disallowed_methods, reason = "the log's folder is made with its file")]
fn real(path: &Path) -> Result<PathBuf, LogFileError> {
    let path = followed(path)?;
    std::fs::create_dir_all(folder_of(&path))
        .map_err(|source| LogFileError::NoFolder { path: path.clone(), source })?;
    Ok(path)
}

fn followed(path: &Path) -> Result<PathBuf, LogFileError> {
    let broken = |_| LogFileError::BrokenLink { path: path.to_owned() };
    if path.is_symlink() { path.canonicalize().map_err(broken) } else { Ok(path.to_owned()) }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Looked at before it is opened: a pipe would wait for somebody at its other end.
fn refuse_others(path: &Path) -> Result<(), LogFileError> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => {
            Err(LogFileError::NotAFile { path: path.to_owned() })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn opened(path: &Path) -> Result<File, LogFileError> {
    refuse_others(path)?;
    let options = OpenOptions::new().read(true).append(true).create(true).open(path);
    options.map_err(|source| LogFileError::Unwritable { path: path.to_owned(), source })
}

fn wait_for(file: &File, path: &Path, deadline: Instant) -> Result<(), LogFileError> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(PAUSE);
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

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let (held, there) = (file.metadata().map(place), path.metadata().map(place));
    matches!((held, there), (Ok(held), Ok(there)) if held == there)
}

/// Where an open file cannot be replaced, it is still the one.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
