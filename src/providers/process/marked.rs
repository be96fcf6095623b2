//! Kills what a program left behind whose supervisor was killed: the second net.
//!
//! A supervisor finds every descendant. Without one, descendants are known by the `TMPDIR` that
//! they inherited. A process that changed the variable before it started others hides them.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Each look finds what was started during the one before.
#[cfg(target_os = "linux")]
const LOOKS_MAX: usize = 50;

#[cfg(target_os = "linux")]
const PAUSE: Duration = Duration::from_millis(1);

/// Kills every process that was started with this `TMPDIR`. The path is random and in a folder
/// of our own, so only the descendants of one program have it.
#[cfg(target_os = "linux")]
pub(super) fn kill_marked(temporary: &Path) {
    let mark = [b"TMPDIR=", temporary.as_os_str().as_encoded_bytes()].concat();
    for _ in 0..LOOKS_MAX {
        let killed = processes().filter(|pid| kill_if_marked(*pid, &mark)).count();
        if killed == 0 {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The handle is taken before the look, so that the process that was looked at is the one that
/// is killed.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
fn kill_if_marked(pid: Pid, mark: &[u8]) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_pid()));
    let is_marked = environment.is_ok_and(|text| text.split(|byte| *byte == 0).any(|v| v == mark));
    is_marked && pid != getpid() && pidfd_send_signal(handle, Signal::KILL).is_ok()
}

/// All processes of the system.
#[cfg(target_os = "linux")]
pub(super) fn processes() -> impl Iterator<Item = Pid> {
    let entries = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Other systems do not show the variables of a process.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_marked(_: &Path) {}
