//! Kills all descendants of an agent program. Called by the supervisor process.
//!
//! The supervisor is a subreaper: it becomes the parent of every orphaned descendant, even one in
//! another process group or session. It kills its children until none is left.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, wait};

use super::marked::list_processes;

/// A process that survives this long waits for a device; give up on it.
const KILLING_TIME_MAX: Duration = Duration::from_secs(20);

/// Pause between two scans; it doubles while no process dies.
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Kills the group leader `leader`, its group and every other descendant, and returns the leader's
/// status. The caller must not have reaped the leader, so that its pid is still valid.
pub(super) fn kill_descendants(leader: Pid) -> Option<ExitStatus> {
    let _ = kill_process_group(leader, Signal::KILL);
    let deadline = Instant::now() + KILLING_TIME_MAX;
    let mut pause = PAUSE_MIN;
    let mut status = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) => {
                if pid == leader {
                    status = Some(ExitStatus::from_raw(ended.as_raw()));
                }
                pause = PAUSE_MIN;
                continue;
            }
            Ok(None) | Err(Errno::INTR) => {}
            // No child is left.
            Err(_) => return status,
        }
        // Children of another user (`sudo`) cannot be killed; do not wait for them.
        if kill_children() == 0 || Instant::now() >= deadline {
            return status;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Kills all children of this process and returns their number. A pid stays valid until this
/// process reaps the child, so no unrelated process is hit.
fn kill_children() -> usize {
    let own = getpid();
    let children = list_processes().filter_map(|pid| Some((pid, read_parent_and_group(pid)?)));
    let children = children.filter(|(_, (parent, _))| *parent == own.as_raw_pid());
    let kill = |(pid, (_, group)): (Pid, (i32, i32))| {
        // Killing the whole group at once keeps it from forking meanwhile.
        let of_group = group == pid.as_raw_pid() && kill_process_group(pid, Signal::KILL).is_ok();
        of_group || kill_process(pid, Signal::KILL).is_ok()
    };
    children.map(kill).filter(|is_killed| *is_killed).count()
}

#[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
fn read_parent_and_group(pid: Pid) -> Option<(i32, i32)> {
    let text = std::fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The program's name is in parentheses and may itself contain parentheses.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut rest = str::from_utf8(text.get(end + 1..)?).ok()?.split_ascii_whitespace().skip(1);
    Some((rest.next()?.parse().ok()?, rest.next()?.parse().ok()?))
}
