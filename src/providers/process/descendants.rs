//! Finds and kills what a program started, wherever in the system it went.
//!
//! A supervisor becomes the parent of every descendant whose own parent died, also of those
//! that moved to another group or session. So it kills its children until it has none.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, wait};

use super::marked::processes;

/// A process that does not die within this time waits for a device, and waits on without us.
const KILLING_TIME_MAX: Duration = Duration::from_secs(20);

/// Between two looks at what is left; it doubles while nothing dies.
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Kills a child that leads a group, the group, and every other descendant of this process.
/// Returns the child's status. Its number must still be its own: nothing may have reaped it.
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
        // Children of another user (`sudo`) cannot be killed; waiting for them helps nothing.
        if kill_children() == 0 || Instant::now() >= deadline {
            return status;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Kills all children of this process and returns how many there were. The number of a child
/// is its own until this process reaps it, so no other process is hit.
fn kill_children() -> usize {
    let own = getpid();
    let children = processes().filter_map(|pid| Some((pid, parent_and_group(pid)?)));
    let children = children.filter(|(_, (parent, _))| *parent == own.as_raw_pid());
    let kill = |(pid, (_, group)): (Pid, (i32, i32))| {
        // A whole group dies at once, and cannot start more meanwhile.
        let of_group = group == pid.as_raw_pid() && kill_process_group(pid, Signal::KILL).is_ok();
        of_group || kill_process(pid, Signal::KILL).is_ok()
    };
    children.map(kill).filter(|is_killed| *is_killed).count()
}

#[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
fn parent_and_group(pid: Pid) -> Option<(i32, i32)> {
    let text = std::fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The program's name stands in parentheses and may hold anything, also parentheses.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut rest = str::from_utf8(text.get(end + 1..)?).ok()?.split_ascii_whitespace().skip(1);
    Some((rest.next()?.parse().ok()?, rest.next()?.parse().ok()?))
}
