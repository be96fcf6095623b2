//! Kills descendants of a program whose supervisor was killed.
//!
//! They are recognized by the `TMPDIR` they inherited. Processes that changed this variable are
//! missed; a running supervisor finds those too.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Each scan finds processes started during the scan before.
#[cfg(target_os = "linux")]
const SCANS_MAX: usize = 50;

#[cfg(target_os = "linux")]
const SCAN_PAUSE: Duration = Duration::from_millis(1);

/// Kills every process started with this `TMPDIR`. The path is random and in a private folder, so
/// only descendants of one program have it.
#[cfg(target_os = "linux")]
pub(super) fn kill_marked(temporary: &Path) {
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
pub(super) fn list_processes() -> impl Iterator<Item = Pid> {
    let entries = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Other systems do not expose the environment of a process.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_marked(_: &Path) {}
