//! Temporary files that are renamed when complete, and the cleanup of those that killed processes
//! left.
//!
//! **Invariant:** the cleanup removes only regular files of this user whose names have our exact
//! form and whose process is gone. It never follows a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::time::Duration;

use rustix::fs::{AtFlags, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::Pid;

use crate::files::open_folder::{FileIdentity, OpenFolder, file_identity, is_regular};

/// Retries for a free name; more failures have another cause.
const ATTEMPTS_MAX: u32 = 1_000;

/// The cleanup reads at most this many entries, so that writing a file stays fast.
const SWEPT_ENTRIES_MAX: usize = 10_000;

/// Process ids are reused, so after this time the id alone does not protect a file.
const STALE_AGE: Duration = Duration::from_secs(3_600);

/// A file without its final name until `persist` or `persist_new`. Its process keeps a lock on it.
/// Dropping it deletes it.
#[derive(Debug)]
pub struct TemporaryFile<'a> {
    folder: &'a OpenFolder,
    name: String,
    pub file: File,
    is_placed: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Removes stale files from the folder and creates a new one.
    pub fn new(folder: &'a OpenFolder, mode: u32) -> io::Result<Self> {
        sweep_stale(folder);
        for attempt in 0..ATTEMPTS_MAX {
            let name = format!(".plenary-{}-{attempt}.tmp", std::process::id());
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
            let file = match folder.open_file(OsStr::new(&name), flags, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            // Some file systems have no locks; then the age of the file decides.
            let _ = file.try_lock();
            // Another process may have removed it before it was locked.
            if folder.is_same_file(OsStr::new(&name), file_identity(&file)?) {
                return Ok(Self { folder, name, file, is_placed: false });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Renames it atomically and replaces an existing file.
    pub fn persist(mut self, name: &OsStr) -> io::Result<()> {
        let handle = self.folder.raw_handle();
        rustix::fs::renameat(handle, self.name.as_str(), handle, name)?;
        self.is_placed = true;
        Ok(())
    }

    /// Renames it; fails with `AlreadyExists` if the name is taken, and keeps the temporary file.
    pub fn persist_new(&mut self, name: &OsStr) -> io::Result<()> {
        match self.rename_new(name) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => self.link_new(name)?,
            renamed => {
                renamed?;
                self.is_placed = true;
            }
        }
        Ok(())
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn rename_new(&self, name: &OsStr) -> rustix::io::Result<()> {
        let (handle, flags) = (self.folder.raw_handle(), rustix::fs::RenameFlags::NOREPLACE);
        rustix::fs::renameat_with(handle, self.name.as_str(), handle, name, flags)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn rename_new(&self, _: &OsStr) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }

    /// Adds a second name that must be new. Dropping the value removes the first one.
    fn link_new(&self, name: &OsStr) -> io::Result<()> {
        let handle = self.folder.raw_handle();
        let linked = rustix::fs::linkat(handle, self.name.as_str(), handle, name, AtFlags::empty());
        match linked {
            // Some file systems support neither call; a race between check and rename remains
            // there.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                if self.folder.stat_name(name)?.is_some() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Ok(rustix::fs::renameat(handle, self.name.as_str(), handle, name)?)
            }
            linked => Ok(linked?),
        }
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.is_placed {
            // The caller already gets the error that led here.
            let _ = rustix::fs::unlinkat(
                self.folder.raw_handle(),
                self.name.as_str(),
                AtFlags::empty(),
            );
        }
    }
}

/// Removes temporary files of killed processes. Failures are ignored.
fn sweep_stale(folder: &OpenFolder) {
    let Ok(names) = folder.list_names() else { return };
    for name in names.take(SWEPT_ENTRIES_MAX).flatten() {
        if let Some(process) = name.to_str().and_then(process_of) {
            remove_stale(folder, &name, process);
        }
    }
}

/// The process id in a name of our form: `.plenary-PROCESS-ATTEMPT.tmp`.
fn process_of(name: &str) -> Option<Pid> {
    let numbers = name.strip_prefix(".plenary-")?.strip_suffix(".tmp")?;
    let (process, attempt) = numbers.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(process) || !is_number(attempt) {
        return None;
    }
    Pid::from_raw(process.parse().ok()?)
}

fn remove_stale(folder: &OpenFolder, name: &OsStr, process: Pid) {
    let Ok(file) = folder.open_file(name, OFlags::RDONLY, 0) else { return };
    let Ok(stat) = rustix::fs::fstat(&file) else { return };
    if !is_own_file(&stat) || !is_stale(&file, process) {
        return;
    }
    // The name may refer to another file by now.
    if folder.is_same_file(name, FileIdentity::from_stat(&stat)) {
        let _ = rustix::fs::unlinkat(folder.raw_handle(), name, AtFlags::empty());
    }
}

fn is_own_file(stat: &Stat) -> bool {
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
    is_regular(stat) && is_own && stat.st_nlink == 1
}

/// Whether the process that wrote the file is gone. A running process has the lock. The lock is
/// checked first, because a process id of another container means nothing here.
fn is_stale(file: &File, process: Pid) -> bool {
    if file.try_lock().is_err() {
        return false;
    }
    let is_gone = rustix::process::test_kill_process(process) == Err(Errno::SRCH);
    let age = file.metadata().and_then(|metadata| metadata.modified()).map(|at| at.elapsed());
    is_gone || matches!(age, Ok(Ok(age)) if age > STALE_AGE)
}
