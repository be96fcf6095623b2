//! The supervisor process of one agent program: this executable, started between the program and
//! the process that wants its reply. See docs/adr/0021-agent-programs-have-a-supervisor.md.
//!
//! It kills the program and all its descendants when the program ends, when its parent process ends
//! in any way, or when a signal stops it. Then it removes the scratch folder. It detects the end of
//! the parent by the lock of the scratch folder: it gets the lock when the parent releases it or
//! dies. As a subreaper it becomes the parent of every orphaned descendant, and kills its children
//! until none is left.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::future::poll_fn;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process,
    kill_process_group, set_child_subreaper, set_parent_process_death_signal, setsid, wait, waitid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::providers::process::cleanup::list_processes;
use crate::providers::process::scratch_folder::ScratchFolder;
use crate::providers::process::supervisor::{LAUNCH, ProgramOutcome, SUPERVISE, this_executable};

/// Exit code for a program that could not be started, as in shells.
const NOT_STARTED_CODE: u8 = 127;

const THREAD_STACK_BYTES: usize = 128 * 1024;

/// Name in process lists. `pkill plenary` should reach the working process, not this one.
const PROCESS_NAME: &std::ffi::CStr = c"supervisor";

/// Runs as supervisor or launcher if the first argument says so. Called first in `main`.
pub fn run_supervisor(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let first = arguments.next()?;
    if first == SUPERVISE {
        return Some(run_as_supervisor(arguments));
    }
    (first == LAUNCH).then(|| run_as_launcher(arguments))
}

/// `SUPERVISE FOLDER PROGRAM ARGUMENT…`
fn run_as_supervisor(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(folder), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let Ok(mut scratch) = ScratchFolder::open_existing(Path::new(&folder)) else {
        return ExitCode::FAILURE;
    };
    let arguments: Vec<OsString> = arguments.collect();
    let outcome = run_program(&scratch, &program, &arguments);
    let noted = scratch.write_outcome(&outcome);
    // The program and its descendants are dead, and nothing else uses the folder.
    scratch.take_ownership();
    drop(scratch);
    if noted.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the program until it ends or must end; returns when no descendant is left.
fn run_program(scratch: &ScratchFolder, program: &OsStr, arguments: &[OsString]) -> ProgramOutcome {
    let (pid, ending) = match start_program(scratch, program, arguments) {
        Ok(started) => started,
        Err(error) => return ProgramOutcome::NotStarted(error.raw_os_error().unwrap_or_default()),
    };
    // Wait for the first of the three watchers.
    let _ = ending.recv();
    let status =
        kill_descendants(pid).unwrap_or_else(|| ExitStatus::from_raw(Signal::KILL.as_raw()));
    let launcher_failed = status.code() == Some(i32::from(NOT_STARTED_CODE));
    match scratch.read_outcome() {
        Some(noted) if launcher_failed => noted,
        _ => ProgramOutcome::Ended(status),
    }
}

/// Starts the program in its own process group; the channel signals that it must end.
fn start_program(
    scratch: &ScratchFolder,
    program: &OsStr,
    arguments: &[OsString],
) -> io::Result<(Pid, Receiver<()>)> {
    // A new session: neither Ctrl-C nor a closed terminal reaches this process. The call fails only
    // for a group leader, which is not in its parent's group anyway.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let _ = rustix::thread::set_name(PROCESS_NAME);
    let (tell, ending) = channel();
    watch_signals(tell.clone())?;
    watch_owner(scratch.lock_handle()?, tell.clone())?;
    let child = Command::new(this_executable())
        .arg0("plenary")
        .arg(LAUNCH)
        .arg(getpid().as_raw_pid().to_string())
        .arg(scratch.as_path())
        .arg(program)
        .args(arguments)
        .env("TMPDIR", scratch.temp_folder())
        .process_group(0)
        .spawn()?;
    let pid = Pid::from_child(&child);
    // Close our ends of the pipes, so that the reader sees when the program closes its own.
    if let Err(error) = close_pipes().and_then(|()| watch_program(pid, tell)) {
        kill_descendants(pid);
        return Err(error);
    }
    Ok((pid, ending))
}

/// `LAUNCH SUPERVISOR FOLDER PROGRAM ARGUMENT…`: sets the parent-death signal, which a process can
/// only set for itself, and becomes the program. The program then dies with its supervisor.
fn run_as_launcher(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let supervisor = arguments.next().and_then(|pid| Pid::from_raw(pid.to_str()?.parse().ok()?));
    let (Some(folder), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let is_set = set_parent_process_death_signal(Some(Signal::KILL));
    // If the supervisor died before the line above, no signal arrives.
    if is_set.is_err() || supervisor.is_none() || getppid() != supervisor {
        return ExitCode::FAILURE;
    }
    let error = Command::new(program).args(arguments).exec();
    let outcome = ProgramOutcome::NotStarted(error.raw_os_error().unwrap_or_default());
    let _ = ScratchFolder::open_existing(Path::new(&folder))
        .and_then(|scratch| scratch.write_outcome(&outcome));
    ExitCode::from(NOT_STARTED_CODE)
}

/// Signals when the lock is free: its owner released it or is dead.
fn watch_owner(lock: File, tell: Sender<()>) -> io::Result<()> {
    start_thread(move || {
        // If waiting for the lock fails, end too: a program stopped early is retried, but one that
        // never stops costs money.
        let _ = lock.lock();
        let _ = tell.send(());
    })
}

/// Signals when the program has ended, without reaping it, so that its pid stays valid.
fn watch_program(pid: Pid, tell: Sender<()>) -> io::Result<()> {
    start_thread(move || {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), ended), Err(Errno::INTR)) {}
        let _ = tell.send(());
    })
}

/// Signals when this process receives a stop signal.
fn watch_signals(tell: Sender<()>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::quit())?,
        ]
    };
    start_thread(move || {
        runtime.block_on(poll_fn(|context| {
            let is_told = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_told { Poll::Ready(()) } else { Poll::Pending }
        }));
        let _ = tell.send(());
    })
}

/// Starts a watcher thread; it needs only a small stack.
fn start_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().stack_size(THREAD_STACK_BYTES).spawn(work).map(drop)
}

/// Replaces this process's ends of the program's pipes by `/dev/null`.
fn close_pipes() -> io::Result<()> {
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    Ok(())
}

/// A process that survives this long waits for a device; give up on it.
const KILLING_TIME_MAX: Duration = Duration::from_secs(20);

/// Pause between two scans; it doubles while no process dies.
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Kills the group leader `leader`, its group and every other descendant, and returns the leader's
/// status. The caller must not have reaped the leader, so that its pid is still valid.
pub(crate) fn kill_descendants(leader: Pid) -> Option<ExitStatus> {
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
