//! Cleanup after a program: removes its scratch folder, even if the program removed write
//! permissions, and kills descendants whose supervisor was killed.
//!
//! Those descendants are recognized by the `TMPDIR` they inherited; processes that changed it are
//! missed. **Invariant:** nothing here follows a link out of the folder.

use std::io;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
#[cfg(target_os = "linux")]
use rustix::fs::{CWD, Mode, OFlags, chmod, openat};
#[cfg(target_os = "linux")]
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Deeper folders keep their permissions, and then the folder is not removed.
#[cfg(target_os = "linux")]
const DEPTH_MAX: usize = 64;

/// Removes the folder with its content. A missing folder is not an error.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // For example, module caches are read-only folders.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            allow_writing(folder);
            std::fs::remove_dir_all(folder)
        }
        removed => removed,
    }
}

/// Gives the owner all permissions on the folder and its subfolders.
#[cfg(target_os = "linux")]
fn allow_writing(folder: &Path) {
    if let Ok(folder) = open_folder(CWD, folder) {
        allow_writing_below(folder.as_fd(), 0);
    }
}

#[cfg(not(target_os = "linux"))]
fn allow_writing(_: &Path) {}

/// Uses file handles: a path may be replaced by a link meanwhile.
#[cfg(target_os = "linux")]
fn allow_writing_below(folder: BorrowedFd<'_>, depth: usize) {
    let by_handle = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let _ = chmod(&by_handle, Mode::RWXU);
    let Ok(entries) = Path::new(&by_handle).read_dir() else { return };
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || depth >= DEPTH_MAX {
            continue;
        }
        if let Ok(inner) = open_folder(folder, Path::new(&entry.file_name())) {
            allow_writing_below(inner.as_fd(), depth + 1);
        }
    }
}

#[cfg(target_os = "linux")]
fn open_folder(parent: BorrowedFd<'_>, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Each scan finds processes started during the scan before.
#[cfg(target_os = "linux")]
const SCANS_MAX: usize = 50;

#[cfg(target_os = "linux")]
const SCAN_PAUSE: Duration = Duration::from_millis(1);

/// Kills every process started with this `TMPDIR`. The path is random and in a private folder, so
/// only descendants of one program have it.
#[cfg(target_os = "linux")]
pub(crate) fn kill_marked(temporary: &Path) {
    let mark = [b"TMPDIR=", temporary.as_os_str().as_encoded_bytes()].concat();
    for _ in 0..SCANS_MAX {
        let killed = list_processes().filter(|pid| kill_if_marked(*pid, &mark)).count();
        if killed == 0 {
            return;
        }
        std::thread::sleep(SCAN_PAUSE);
    }
}

/// Opens the pidfd before it reads the environment, so that the process it checked is the one it
/// kills.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
fn kill_if_marked(pid: Pid, mark: &[u8]) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_pid()));
    let is_marked = environment.is_ok_and(|text| text.split(|byte| *byte == 0).any(|v| v == mark));
    is_marked && pid != getpid() && pidfd_send_signal(handle, Signal::KILL).is_ok()
}

/// Lists all processes of the system.
#[cfg(target_os = "linux")]
pub(crate) fn list_processes() -> impl Iterator<Item = Pid> {
    let entries = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Other systems do not expose the environment of a process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_marked(_: &Path) {}
