//! [`ScratchFolder`]: the temporary folder of one agent program, its lock and its removal.
//!
//! All scratch folders are in one folder per user, `plenary-UID` in the system's temporary folder.
//! Each is a folder `run-PID-RANDOM` with a lock file `run-PID-RANDOM.lock` beside it.
//! **Invariant:** the process responsible for a scratch folder locks that file, so a folder whose
//! lock is free belongs to a dead process.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::providers::process::cleanup::{kill_marked, remove_folder};
use crate::providers::process::supervisor::ProgramOutcome;

const NAME_PREFIX: &str = "run-";
const LOCK_EXTENSION: &str = "lock";

/// Hexadecimal digits of the random part. Not longer, because programs create sockets below this
/// path, and a socket path has at most 107 characters.
const RANDOM_DIGITS: usize = 16;

/// Another process may remove a lock file between its creation and its locking.
const ATTEMPTS_MAX: usize = 8;

/// An outcome is one short line.
const OUTCOME_BYTES_MAX: usize = 64;

/// Folder of one program: an empty work folder, files for the program to read, and its `TMPDIR`.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    folder: PathBuf,
    lock: File,
    /// Whether this process is responsible for the folder and removes it on drop.
    is_held: bool,
}

impl ScratchFolder {
    pub(crate) fn new() -> io::Result<Self> {
        let home = ScratchRoot::create(&std::env::temp_dir())?;
        for _ in 0..ATTEMPTS_MAX {
            if let Some(scratch) = home.create_scratch()? {
                return Ok(scratch);
            }
        }
        let home = home.path.display();
        Err(io::Error::other(format!("cannot keep a lock in `{home}`: other processes remove it")))
    }

    /// Opens a folder that another process created and is responsible for.
    pub(crate) fn open_existing(folder: &Path) -> io::Result<Self> {
        let wrong = || io::Error::other(format!("`{}` is not a scratch folder", folder.display()));
        let name =
            folder.file_name().and_then(|name| name.to_str()).filter(|name| is_scratch_name(name));
        let (name, parent) = name.zip(folder.parent()).ok_or_else(wrong)?;
        if !parent.is_absolute() || parent.file_name() != Some(root_name().as_ref()) {
            return Err(wrong());
        }
        ScratchRoot::open(parent.to_owned())?.open_scratch(name)
    }

    pub(crate) fn as_path(&self) -> &Path {
        &self.folder
    }

    /// Working folder of the program.
    pub(crate) fn work_folder(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// `TMPDIR` of the program: crash reports contain prompts and must not go to a shared folder.
    /// The path also marks the program's descendants, which inherit the variable.
    pub(crate) fn temp_folder(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Writes a file for the program; `name` is relative to the scratch folder.
    #[expect(clippy::disallowed_methods, reason = "in a new folder of our own")]
    pub(crate) fn write_file(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Second handle of the lock, for a thread that waits for it.
    pub(crate) fn lock_handle(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    /// Makes this process responsible for the folder. It must own the lock.
    pub(crate) fn take_ownership(&mut self) {
        self.is_held = true;
    }

    /// Makes the supervisor responsible, which waits for the lock.
    pub(crate) fn release_lock(&mut self) {
        self.is_held = false;
        // If unlocking fails, the supervisor gets the lock when the file is closed.
        let _ = self.lock.unlock();
    }

    /// Makes this process responsible again after the supervisor died without removing the folder.
    pub(crate) fn reclaim_lock(&mut self) -> bool {
        self.is_held = self.folder.symlink_metadata().is_ok() && self.lock.try_lock().is_ok();
        self.is_held
    }

    /// Writes the program's outcome into the lock file, which the supervisor and its parent both
    /// have open.
    pub(crate) fn write_outcome(&self, outcome: &ProgramOutcome) -> io::Result<()> {
        self.lock.set_len(0)?;
        self.lock.write_all_at(outcome.to_string().as_bytes(), 0)
    }

    pub(crate) fn read_outcome(&self) -> Option<ProgramOutcome> {
        let mut bytes = [0; OUTCOME_BYTES_MAX];
        let count = self.lock.read_at(&mut bytes, 0).ok()?;
        str::from_utf8(bytes.get(..count)?).ok()?.parse().ok()
    }
}

impl Drop for ScratchFolder {
    #[expect(clippy::disallowed_methods, reason = "a lock file of our own")]
    fn drop(&mut self) {
        if !self.is_held {
            return;
        }
        // Remove the lock file last: a later sweep finds folders by their lock files.
        if remove_folder(&self.folder).is_ok() {
            let _ = std::fs::remove_file(self.folder.with_extension(LOCK_EXTENSION));
        }
    }
}

/// Folder that contains all scratch folders of the user.
#[derive(Debug)]
struct ScratchRoot {
    path: PathBuf,
}

impl ScratchRoot {
    /// Creates the folder in the temporary folder if it does not exist.
    fn create(temporary: &Path) -> io::Result<Self> {
        let path = temporary.canonicalize()?.join(root_name());
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Self::open(path),
        }
    }

    /// Opens the folder if it exists and belongs to this user.
    fn find(temporary: &Path) -> io::Result<Self> {
        Self::open(temporary.canonicalize()?.join(root_name()))
    }

    fn open(path: PathBuf) -> io::Result<Self> {
        let not_ours = |reason: &str| {
            let path = path.display();
            let hint = "set TMPDIR to a folder that only you can write to";
            io::Error::other(format!("`{path}` {reason}; {hint}"))
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let folder = open_without_links(&path, flags, OpenOptions::new().read(true));
        let folder = folder.map_err(|error| match error.raw_os_error() {
            Some(code) if is_link_or_file(code) => not_ours("is not a folder"),
            _ => error,
        })?;
        let metadata = folder.metadata()?;
        if !is_own_file(&metadata) {
            return Err(not_ours("belongs to another user"));
        }
        if metadata.mode() & 0o077 != 0 {
            folder.set_permissions(PermissionsExt::from_mode(0o700))?;
        }
        Ok(Self { path })
    }

    /// Creates and locks a scratch folder. Returns `None` if another process removed the lock file
    /// before it was locked.
    fn create_scratch(&self) -> io::Result<Option<ScratchFolder>> {
        let folder = self.path.join(new_name()?);
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(folder.with_extension(LOCK_EXTENSION))?;
        match lock.try_lock() {
            Ok(()) if lock.metadata()?.nlink() > 0 => {}
            Ok(()) | Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        let scratch = ScratchFolder { folder, lock, is_held: true };
        for path in [scratch.folder.clone(), scratch.work_folder(), scratch.temp_folder()] {
            DirBuilder::new().mode(0o700).create(path)?;
        }
        Ok(Some(scratch))
    }

    /// Opens a scratch folder by name, without locking it.
    fn open_scratch(&self, name: &str) -> io::Result<ScratchFolder> {
        let folder = self.path.join(name);
        let not_ours = || io::Error::other(format!("`{}` is not ours", folder.display()));
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let lock = open_without_links(&folder.with_extension(LOCK_EXTENSION), flags, &mut options)?;
        let metadata = lock.metadata()?;
        let is_lock = metadata.is_file() && is_own_file(&metadata) && metadata.nlink() == 1;
        // A process killed early leaves a lock file without a folder.
        let is_folder = match folder.symlink_metadata() {
            Ok(metadata) => metadata.is_dir() && is_own_file(&metadata),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_lock || !is_folder {
            return Err(not_ours());
        }
        Ok(ScratchFolder { folder, lock, is_held: false })
    }

    /// Locks and returns the scratch folders of dead processes.
    fn lock_abandoned(&self) -> impl Iterator<Item = ScratchFolder> {
        let entries = self.path.read_dir().into_iter().flatten();
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let locks = names.filter_map(|name| Some(name.strip_suffix(".lock")?.to_owned()));
        let take = move |name: String| {
            let mut scratch = self.open_scratch(&name).ok()?;
            scratch.lock.try_lock().ok()?;
            // The owner may have removed both between the two calls above.
            if scratch.lock.metadata().ok()?.nlink() == 0 {
                return None;
            }
            scratch.take_ownership();
            Some(scratch)
        };
        locks.filter(|name| is_scratch_name(name)).filter_map(take)
    }
}

/// Removes scratch folders whose process and supervisor were both killed, and kills programs that
/// still run in them.
pub fn sweep_scratch_folders() {
    sweep_temp_folder(&std::env::temp_dir());
}

fn sweep_temp_folder(temporary: &Path) {
    // No folder, or a folder of another user: nothing to sweep.
    let Ok(home) = ScratchRoot::find(temporary) else { return };
    for scratch in home.lock_abandoned() {
        kill_marked(&scratch.temp_folder());
    }
}

/// Opens a file or folder; fails if the path is a link.
fn open_without_links(path: &Path, flags: OFlags, options: &mut OpenOptions) -> io::Result<File> {
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}

/// Whether opening failed because the path is a link or a file.
fn is_link_or_file(code: i32) -> bool {
    [rustix::io::Errno::LOOP, rustix::io::Errno::NOTDIR].iter().any(|e| e.raw_os_error() == code)
}

fn is_own_file(metadata: &Metadata) -> bool {
    metadata.uid() == geteuid().as_raw()
}

fn root_name() -> String {
    format!("plenary-{}", geteuid().as_raw())
}

fn new_name() -> io::Result<String> {
    let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{NAME_PREFIX}{}-{random:016x}", std::process::id()))
}

/// Whether a name has exactly the form of [`new_name`].
fn is_scratch_name(name: &str) -> bool {
    let parts = name.strip_prefix(NAME_PREFIX).and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(process, random)| {
        let is_number = !process.is_empty() && process.len() <= 10;
        is_number
            && process.bytes().all(|byte| byte.is_ascii_digit())
            && random.len() == RANDOM_DIGITS
            && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
#[path = "scratch_folder_tests.rs"]
mod tests;
