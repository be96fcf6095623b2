//! The supervisor of one agent program: a process of this executable between the program and
//! the process that wants its reply. See docs/adr/0021-agent-programs-have-a-supervisor.md.
//!
//! It ends the program and all its descendants when the program ends, when the process that
//! started it ends, however that one ends, or when it is told to stop. Then it removes the
//! scratch folder. It knows the other process by the lock of the scratch folder: it gets the
//! lock when the other process gives it up or is dead.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;
use std::thread;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, set_child_subreaper,
    set_parent_process_death_signal, setsid, waitid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::descendants::kill_descendants;
use super::outcome::ProgramOutcome;
use super::scratch::Scratch;
use super::supervisor::{LAUNCH, SUPERVISE, this_executable};

/// What a process returns that could not start its program: so do shells.
const NOT_STARTED_CODE: u8 = 127;

const THREAD_STACK_BYTES: usize = 128 * 1024;

/// In lists of processes. A `pkill plenary` should reach the process that works, not this one.
const PROCESS_NAME: &std::ffi::CStr = c"supervisor";

/// Acts as a supervisor or launcher, if the first argument asks for it.
pub fn run_supervisor(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let first = arguments.next()?;
    if first == SUPERVISE {
        return Some(supervise(arguments));
    }
    (first == LAUNCH).then(|| launch(arguments))
}

/// `SUPERVISE FOLDER PROGRAM ARGUMENT…`
fn supervise(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(folder), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let Ok(mut scratch) = Scratch::adopt(Path::new(&folder)) else { return ExitCode::FAILURE };
    let arguments: Vec<OsString> = arguments.collect();
    let outcome = run_program(&scratch, &program, &arguments);
    let noted = scratch.write_outcome(&outcome);
    // The program and its descendants are dead, and nothing else uses the folder.
    scratch.hold();
    drop(scratch);
    if noted.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the program until it ends or must end, and returns when no descendant is left.
fn run_program(scratch: &Scratch, program: &OsStr, arguments: &[OsString]) -> ProgramOutcome {
    let (pid, ending) = match start_program(scratch, program, arguments) {
        Ok(started) => started,
        Err(error) => return ProgramOutcome::NotStarted(error.raw_os_error().unwrap_or_default()),
    };
    // The first of the three watchers tells.
    let _ = ending.recv();
    let status =
        kill_descendants(pid).unwrap_or_else(|| ExitStatus::from_raw(Signal::KILL.as_raw()));
    let launcher_failed = status.code() == Some(i32::from(NOT_STARTED_CODE));
    match scratch.read_outcome() {
        Some(noted) if launcher_failed => noted,
        _ => ProgramOutcome::Ended(status),
    }
}

/// Starts the program in a group of its own; the channel says when it must end.
fn start_program(
    scratch: &Scratch,
    program: &OsStr,
    arguments: &[OsString],
) -> io::Result<(Pid, Receiver<()>)> {
    // A session of its own: neither Ctrl-C nor the end of a terminal reaches this process.
    // It fails only for the leader of a group, which needs no protection from its own group.
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
        .arg(scratch.folder())
        .arg(program)
        .args(arguments)
        .env("TMPDIR", scratch.temporary())
        .process_group(0)
        .spawn()?;
    let pid = Pid::from_child(&child);
    // From here on the pipes are the program's alone, so that their ends are seen.
    if let Err(error) = close_pipes().and_then(|()| watch_program(pid, tell)) {
        kill_descendants(pid);
        return Err(error);
    }
    Ok((pid, ending))
}

/// `LAUNCH SUPERVISOR FOLDER PROGRAM ARGUMENT…`: becomes the program, which then dies with its
/// supervisor. A process can ask for that only for itself.
fn launch(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let supervisor = arguments.next().and_then(|pid| Pid::from_raw(pid.to_str()?.parse().ok()?));
    let (Some(folder), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let is_set = set_parent_process_death_signal(Some(Signal::KILL));
    // A supervisor that died before the line above did not kill this process.
    if is_set.is_err() || supervisor.is_none() || getppid() != supervisor {
        return ExitCode::FAILURE;
    }
    let error = Command::new(program).args(arguments).exec();
    let outcome = ProgramOutcome::NotStarted(error.raw_os_error().unwrap_or_default());
    let _ = Scratch::adopt(Path::new(&folder)).and_then(|scratch| scratch.write_outcome(&outcome));
    ExitCode::from(NOT_STARTED_CODE)
}

/// Tells when the lock is free: the process that held it gave it up or is dead.
fn watch_owner(lock: File, tell: Sender<()>) -> io::Result<()> {
    start_thread(move || {
        // A lock that cannot be waited for says nothing about its owner. Then end: a program
        // that ends early is repeated, one that nothing ends costs money.
        let _ = lock.lock();
        let _ = tell.send(());
    })
}

/// Tells when the program has ended, and leaves it to be reaped: its number stays its own.
fn watch_program(pid: Pid, tell: Sender<()>) -> io::Result<()> {
    start_thread(move || {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), ended), Err(Errno::INTR)) {}
        let _ = tell.send(());
    })
}

/// Tells when a signal stops this process.
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

/// A watcher waits and sends one word; it needs no more than a small stack.
fn start_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().stack_size(THREAD_STACK_BYTES).spawn(work).map(drop)
}

/// Replaces this process's ends of the program's pipes.
fn close_pipes() -> io::Result<()> {
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    Ok(())
}
