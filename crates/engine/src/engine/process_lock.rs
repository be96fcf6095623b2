//! The lock of a process that works on runs, and the folder beside a store that holds the locks.
//!
//! Each process locks a file of its own in the lock folder, and the journals of its runs name that
//! file. The operating system releases the lock when the process ends, so a run whose lock can be
//! taken has no process. The folder's name follows from the store's file, so two stores in one
//! folder do not share it, and a marker says that it is ours. Files in it are opened relative to
//! one open handle and never through a link. Older versions kept their locks in `runs/`, a name
//! that users choose too: there we look for a lock and change nothing.
//!
//! **Invariant:** [`LockFolder`] removes only regular files with the name of a lock, and only here.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plenary_core::model::ids::DialogueId;
use plenary_core::model::run_state::RunState;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::engine::live_text::{WritingEvent, append_event};
use crate::engine::run::lock_mutex;
use crate::files::reserved_names::lock_folder_path;
use crate::store::error::StoreError;

/// The lock of this process. Dropping it releases the process's runs.
#[derive(Debug)]
pub struct ProcessLock {
    pub(crate) token: String,
    store_file: PathBuf,
    folder: LockFolder,
    /// Runs of this process that are in progress.
    claimed: Arc<Mutex<BTreeSet<DialogueId>>>,
    /// The operating system releases the lock when this file is closed. It also carries the
    /// transient events of the process's runs.
    lock: Mutex<File>,
}

impl ProcessLock {
    /// Creates and locks this process's file in the lock folder of the store.
    pub fn new(store_file: &Path, chance: u64) -> Result<Self, StoreError> {
        let folder = LockFolder::open_or_create(store_file)?;
        folder.remove_stale_locks();
        let token = new_lock_name(std::process::id(), chance);
        let lock = folder
            .lock_file(&token)
            .map_err(|source| StoreError::NoFolder { path: folder.path().to_owned(), source })?;
        let store_file = store_file.to_owned();
        Ok(Self { token, store_file, folder, claimed: Arc::default(), lock: Mutex::new(lock) })
    }

    /// Whether another process works on the run now. A run that this process gave up, as after a
    /// full disk, counts as free although this process still runs.
    pub(crate) fn is_running_elsewhere(&self, state: &RunState) -> bool {
        state.owners.last() != Some(&self.token) && is_running(&self.store_file, state)
    }

    /// Shows watchers what a seat is writing.
    pub(crate) fn publish_event(&self, event: &WritingEvent) {
        // The reply itself is journalled, so nothing is lost when this fails.
        let _ = append_event(&mut lock_mutex(&self.lock), event);
    }

    /// Claims a run for this process; `None` while the process works on it already.
    pub(crate) fn claim_run(&self, id: &DialogueId) -> Option<RunClaim> {
        let is_free = lock_mutex(&self.claimed).insert(id.clone());
        is_free.then(|| RunClaim { id: id.clone(), claimed: Arc::clone(&self.claimed) })
    }
}

/// A claim on a run, released on drop.
#[derive(Debug)]
pub(crate) struct RunClaim {
    id: DialogueId,
    claimed: Arc<Mutex<BTreeSet<DialogueId>>>,
}

impl Drop for RunClaim {
    fn drop(&mut self) {
        lock_mutex(&self.claimed).remove(&self.id);
    }
}

/// Whether any process works on the run now.
pub fn is_running(store_file: &Path, state: &RunState) -> bool {
    let last = state.owners.last().filter(|_| state.stopped.is_none());
    last.is_some_and(|token| is_held(store_file, token))
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        self.folder.remove_lock(&self.token);
    }
}

/// File that marks the folder as Plenary's.
const MARKER: &str = "PLENARY-LOCKS";
const MARKER_TEXT: &str = "Plenary keeps lock files here while it works on runs of the store beside \
this folder.\nIt removes lock files of processes that ended. Keep no other files here.\n";

/// Folder beside the store where older versions kept their locks.
const OLDER_FOLDER: &str = "runs";

/// A process locks its file in the moment after it creates it, so an older file without a lock
/// belongs to a process that ended.
const STALE_AGE: Duration = Duration::from_secs(3_600);

/// Hex digits after the process number in the name of a lock.
const CHANCE_DIGITS: usize = 16;

/// Digits of the largest process number.
const PID_DIGITS_MAX: usize = 10;

/// An open lock folder that is ours.
#[derive(Debug)]
pub(crate) struct LockFolder {
    handle: OwnedFd,
    path: PathBuf,
    access: StoreAccess,
}

/// Who may use the store's file: the lock folder and the locks are for the same users.
#[derive(Debug, Clone, Copy)]
struct StoreAccess {
    mode: u32,
    user: u32,
    group: u32,
}

impl LockFolder {
    /// Opens the folder of the store, creates it if there is none, and refuses one that is not ours.
    pub(crate) fn open_or_create(store_file: &Path) -> Result<Self, StoreError> {
        let store_file = real_path(store_file);
        let path = lock_folder_path(&store_file);
        let unusable = |error: Errno| StoreError::NoFolder {
            path: path.clone(),
            source: io::Error::from(error),
        };
        let foreign = |found| StoreError::ForeignLocks { path: path.clone(), found };
        let access = StoreAccess::of(&store_file);
        let is_new = match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(unusable(error)),
        };
        let handle = match open_folder(&path) {
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(foreign("it is a link or a file")),
            opened => opened.map_err(unusable)?,
        };
        if is_new {
            access.apply_to(&handle, access.folder_mode());
        } else if !access.is_owned_by_us(&handle).map_err(unusable)? {
            return Err(foreign("it belongs to another user"));
        }
        let folder = Self { handle, path: path.clone(), access };
        if !folder.is_marked().map_err(unusable)? {
            if !folder.is_empty().map_err(unusable)? && !folder.is_marked().map_err(unusable)? {
                return Err(foreign("it contains other files"));
            }
            folder.write_marker().map_err(unusable)?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the lock file of this process and locks it. The lock ends with the process.
    pub(crate) fn lock_file(&self, token: &str) -> io::Result<File> {
        let file = self.create_file(token)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::Error(error)) => Err(error),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Removes a lock file; a missing file is not an error.
    pub(crate) fn remove_lock(&self, token: &str) {
        let _ = rustix::fs::unlinkat(&self.handle, token, AtFlags::empty());
    }

    /// Removes the lock files of processes that were killed.
    pub(crate) fn remove_stale_locks(&self) {
        let Ok(entries) = Dir::read_from(&self.handle) else { return };
        for entry in entries.flatten() {
            let Some(token) = lock_name(entry.file_name()) else { continue };
            if self.is_stale(token) {
                self.remove_lock(token);
            }
        }
    }

    fn is_stale(&self, token: &str) -> bool {
        let Ok(file) = open_lock(&self.handle, token) else { return false };
        let age = file.metadata().and_then(|metadata| metadata.modified()).map(|at| at.elapsed());
        let is_old = matches!(age, Ok(Ok(age)) if age > STALE_AGE);
        is_old && file.try_lock_shared().is_ok()
    }

    fn is_marked(&self) -> Result<bool, Errno> {
        match rustix::fs::statat(&self.handle, MARKER, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(FileType::from_raw_mode(found.st_mode) == FileType::RegularFile),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn is_empty(&self) -> Result<bool, Errno> {
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            if ![c".", c".."].contains(&entry.file_name()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Marks an empty folder as ours. Another process may do the same at this moment.
    fn write_marker(&self) -> Result<(), Errno> {
        match self.create_file(MARKER) {
            Ok(mut file) => {
                // The name marks the folder; the text explains it to people.
                let _ = file.write_all(MARKER_TEXT.as_bytes());
                // Keep the locks of a store inside a repository out of git.
                let _ = self.create_file(".gitignore").and_then(|mut file| file.write_all(b"*\n"));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    /// Creates a file that was not there before.
    fn create_file(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR)?;
        self.access.apply_to(&file, self.access.mode);
        Ok(File::from(file))
    }
}

impl StoreAccess {
    fn of(store_file: &Path) -> Self {
        // Without a store to copy the mode from, only this user may read.
        let private = Self { mode: 0o600, user: geteuid().as_raw(), group: 0 };
        let read = |metadata: Metadata| Self {
            mode: metadata.mode() & 0o666 | 0o600,
            user: metadata.uid(),
            group: metadata.gid(),
        };
        store_file.metadata().map_or(private, read)
    }

    /// A class of users that may read files may enter their folder.
    fn folder_mode(self) -> u32 {
        self.mode | ((self.mode & 0o444) >> 2)
    }

    /// Gives a fresh file the store's mode, and, as SQLite does for its own files, the store's
    /// owner when root creates it. A file that stays private is no reason to fail.
    fn apply_to(self, file: &OwnedFd, mode: u32) {
        let _ = rustix::fs::fchmod(file, Mode::from_raw_mode(mode));
        if geteuid().is_root() && self.user != 0 {
            let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
            let _ = rustix::fs::fchown(file, Some(user), Some(group));
        }
    }

    /// Whether a folder belongs to this user or to the owner of the store, who may change the
    /// store anyway.
    fn is_owned_by_us(self, folder: &OwnedFd) -> Result<bool, Errno> {
        let owner = rustix::fs::fstat(folder)?.st_uid;
        Ok(owner == geteuid().as_raw() || owner == self.user)
    }
}

/// Whether the process of that name holds its lock, here or where older versions keep it.
pub(crate) fn is_held(store_file: &Path, token: &str) -> bool {
    // The name comes from a file that others may have written to.
    if !is_lock_name(token) {
        return false;
    }
    let real = real_path(store_file);
    let older = [store_file, &real].map(|file| file.with_file_name(OLDER_FOLDER));
    [lock_folder_path(&real)].iter().chain(&older).any(|folder| is_held_in(folder, token))
}

/// The lock file of that process, which also carries its transient events.
pub(crate) fn open_lock_of(store_file: &Path, token: &str) -> Option<File> {
    let folder = open_folder(&lock_folder_path(&real_path(store_file))).ok()?;
    open_lock(&folder, token).ok().filter(|_| is_lock_name(token))
}

pub(crate) fn is_held_in(folder: &Path, token: &str) -> bool {
    match open_folder(folder).and_then(|folder| open_lock(&folder, token)) {
        // A shared lock: two processes that look at once do not take each other for the owner.
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        // Another user's lock. Taking over a live run would pay for its calls twice.
        Err(Errno::ACCESS) => true,
        Err(_) => false,
    }
}

fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty())
}

/// Opens a lock file to look at it: a regular file, not through a link, without waiting.
fn open_lock(folder: &OwnedFd, token: &str) -> Result<File, Errno> {
    let is_regular = |mode| FileType::from_raw_mode(mode) == FileType::RegularFile;
    // Check before opening: opening a device may have side effects.
    if !is_regular(rustix::fs::statat(folder, token, AtFlags::SYMLINK_NOFOLLOW)?.st_mode) {
        return Err(Errno::INVAL);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, token, flags, Mode::empty())?;
    // Check again: the file may have been replaced in between.
    if is_regular(rustix::fs::fstat(&file)?.st_mode) { Ok(file.into()) } else { Err(Errno::INVAL) }
}

fn lock_name(name: &CStr) -> Option<&str> {
    name.to_str().ok().filter(|name| is_lock_name(name))
}

/// Whether a name has the form that a process gives its lock: process number and random bits.
fn is_lock_name(name: &str) -> bool {
    let Some((pid, chance)) = name.split_once('-') else { return false };
    let is_pid = (1..=PID_DIGITS_MAX).contains(&pid.len())
        && pid.bytes().all(|byte| byte.is_ascii_digit())
        && !pid.starts_with('0');
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    is_pid && chance.len() == CHANCE_DIGITS && chance.bytes().all(is_hex)
}

/// The name of a new lock.
pub(crate) fn new_lock_name(pid: u32, chance: u64) -> String {
    format!("{pid}-{chance:016x}")
}

/// The store's file behind links, as SQLite finds it.
fn real_path(store_file: &Path) -> PathBuf {
    store_file.canonicalize().unwrap_or_else(|_| store_file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_form_are_locks() {
        for (pid, chance) in [(1, 0), (4_194_304, u64::MAX), (u32::MAX, 7)] {
            let name = new_lock_name(pid, chance);
            assert!(is_lock_name(&name), "{name}");
        }
        let others = [
            "",
            "-",
            "results.csv",
            MARKER,
            "12",
            "12-",
            "-0123456789abcdef",
            "0-0123456789abcdef",
            "012-0123456789abcdef",
            "12-0123456789abcde",
            "12-0123456789abcdef0",
            "12-0123456789ABCDEF",
            "12-0123456789abcdeg",
            "12-0123456789abcdef.txt",
            "12345678901-0123456789abcdef",
            "+12-0123456789abcdef",
            "../12-0123456789abcdef",
            "12-2024-01-01.log.gz0",
        ];
        for name in others {
            assert!(!is_lock_name(name), "{name}");
        }
    }

    #[test]
    fn a_lock_folder_is_for_those_who_may_use_the_store() {
        for (store, folder) in [(0o600, 0o700), (0o644, 0o755), (0o660, 0o770), (0o640, 0o750)] {
            let access = StoreAccess { mode: store, user: 0, group: 0 };
            assert_eq!(access.folder_mode(), folder, "{store:o}");
        }
    }
}
