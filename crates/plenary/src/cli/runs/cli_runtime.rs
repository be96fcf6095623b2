//! [`CliRuntime`]: Tokio runtime, run engine and interrupt flag of one command that runs something;
//! and the stop signals of runs and servers: SIGINT, SIGTERM, SIGQUIT and SIGHUP.

use std::future::{Future, poll_fn};
use std::io::stderr;
use std::path::Path;
use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_engine::app::planning::panel_setup::TransportFactory;
use plenary_engine::app::project::Project;
use plenary_engine::app::run_engine::RunEngine;
use plenary_engine::app::start_run::{RunStart, start_run};
use plenary_engine::error::{Error, ErrorKind};
use plenary_engine::providers::process::scratch_folder::sweep_scratch_folders;
use plenary_engine::providers::rehearsal::script::list_script_notes;
use rustix::process::{Resource, Rlimit, getpgrp, getrlimit, setrlimit};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::cli::ethos::ask_person::resolve_open_conflicts;
use crate::cli::runs::output::{ProgressDisplay, print_result, run_exit, sync_log};
use crate::cli::runs::resume::ResumeArgs;
use crate::cli::session::{CliSession, ExitStatus};

/// Duration of a rehearsed reply on a terminal, so that a person can follow it.
const REHEARSAL_PACE: Duration = Duration::from_millis(900);

/// Whether a command drives one run at a time or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concurrency {
    One,
    Many,
}

#[derive(Debug)]
pub(crate) struct CliRuntime {
    engine: Arc<RunEngine>,
    /// Becomes true when the user presses Ctrl-C.
    interrupted: watch::Receiver<bool>,
    runtime: Runtime,
    _echo: EchoGuard,
}

impl CliRuntime {
    pub(crate) fn open(project: Project, concurrency: Concurrency) -> Result<Self, Error> {
        let runtime = match concurrency {
            // One run waits for the network; a second thread would only slow the start.
            Concurrency::One => Builder::new_current_thread().enable_all().build(),
            Concurrency::Many => {
                raise_open_file_limit();
                Builder::new_multi_thread().enable_all().build()
            }
        };
        let runtime = runtime.map_err(Error::Runtime)?;
        sweep_scratch_folders();
        let (interrupt, interrupted) = watch::channel(false);
        runtime.spawn(stop_or_exit(interrupt));
        let engine = RunEngine::open(Arc::new(project), runtime.handle())?;
        Ok(Self { engine, interrupted, runtime, _echo: EchoGuard::hide_interrupts() })
    }

    /// Starts one run, drives it until it stops and prints the result. A review names the file of
    /// the verdict log, which is synchronised afterwards.
    pub(crate) fn complete_run(
        self,
        session: &CliSession<'_>,
        progress: &Arc<ProgressDisplay>,
        start: RunStart,
        log: Option<&Path>,
    ) -> Result<ExitStatus, Error> {
        let project = Arc::clone(&self.engine.project);
        let store = Arc::clone(&project.store);
        let ended = self.block_on(async |engine, interrupted| {
            let started = start_run(engine.run_context(progress.clone(), None), start).await?;
            let ended = engine.finish_run(started, interrupted).await;
            if let Some(path) = log {
                sync_log(session.ui, engine.project.store.as_ref(), path);
            }
            ended
        });
        progress.clear_spinners();
        let (stop, state) = ended?;
        if let RunStopReason::Uncalibrated { ethos, .. } = &stop
            && session.ui.can_ask()
            && resolve_open_conflicts(&project, ethos)?
        {
            return ResumeArgs::of_run(&state.opening.dialogue_id).run(session);
        }
        let protocol = session.loader.protocols.of_run(&state)?;
        let done = run_exit(protocol, &stop, &state);
        if done == ExitStatus::Interrupted && !session.ui.json {
            // A page would scroll the command that continues the run off the screen.
            print_interrupted_run(session, &state);
            return Ok(done);
        }
        match print_result(session, store.as_ref(), &state) {
            // A closed terminal cannot show the result; the run stopped as it should.
            Err(Error::Output(_)) if done == ExitStatus::Interrupted => return Ok(done),
            printed => printed?,
        }
        list_script_notes(&state).iter().for_each(|note| session.ui.print_note(note));
        if stop != RunStopReason::Done {
            session.ui.print_resume_command(&state.opening.dialogue_id);
        }
        Ok(done)
    }

    /// Runs the work to its end, and returns once the journal is on disk.
    pub(crate) fn block_on<F: Future>(
        self,
        work: impl FnOnce(Arc<RunEngine>, watch::Receiver<bool>) -> F,
    ) -> F::Output {
        let Self { engine, interrupted, runtime, _echo } = self;
        let result = runtime.block_on(work(Arc::clone(&engine), interrupted));
        // Shutdown drops the tasks that are left, and with them their handles of the engine.
        runtime.shutdown_background();
        engine.close();
        result
    }
}

/// The two lines of an interrupted run.
pub(crate) fn print_interrupted_run(session: &CliSession<'_>, state: &RunState) {
    let kept = state.asks.iter().filter(|asked| asked.last_reply().is_some()).count();
    let replies = if kept == 1 { "1 reply".to_owned() } else { format!("{kept} replies") };
    let summary = format!("Interrupted; the record keeps {replies}");
    session.ui.print_interrupted(&summary, std::slice::from_ref(&state.opening.dialogue_id));
}

/// Makes the transports of a command: one HTTP client, and a slow rehearsal on a terminal.
pub(crate) fn transport_factory(session: &CliSession<'_>) -> TransportFactory {
    TransportFactory {
        pace: session.ui.is_watched().then_some(REHEARSAL_PACE),
        ..TransportFactory::default()
    }
}

/// Raises the limit of open files. Each call has a connection of its own, and the usual limit of
/// a thousand files is reached by three hundred councils. If the limit cannot be raised, a call
/// without a connection reports it.
pub(crate) fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// On the first signal, asks the run to stop so that it can be resumed. On the second, exits at
/// once; this is safe because the journal is always complete.
pub(crate) async fn stop_or_exit(heard: watch::Sender<bool>) {
    let mut signals = StopSignals::subscribe_all();
    loop {
        signals.next_signal().await;
        if heard.send_replace(true) {
            restore_echo();
            exit(i32::from(ErrorKind::Interrupted.exit_code()));
        }
    }
}

/// The modes of the terminal before [`EchoGuard`] changed them.
static SAVED_MODES: Mutex<Option<Termios>> = Mutex::new(None);

/// Keeps the `^C` of the terminal off the screen while rows are drawn: it moves the cursor to the
/// next line, and then one row of a spinner stays on the screen.
#[derive(Debug)]
struct EchoGuard;

impl EchoGuard {
    fn hide_interrupts() -> Self {
        if let Some(modes) = read_own_terminal() {
            let mut quiet = modes.clone();
            quiet.local_modes.remove(LocalModes::ECHOCTL);
            if tcsetattr(stderr(), OptionalActions::Now, &quiet).is_ok() {
                *SAVED_MODES.lock().unwrap_or_else(PoisonError::into_inner) = Some(modes);
            }
        }
        Self
    }
}

impl Drop for EchoGuard {
    fn drop(&mut self) {
        restore_echo();
    }
}

fn restore_echo() {
    let saved = SAVED_MODES.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(modes) = saved.filter(|_| read_own_terminal().is_some()) {
        let _ = tcsetattr(stderr(), OptionalActions::Now, &modes);
    }
}

/// The modes of the terminal, if this process may change them: the system stops a background
/// process that does.
fn read_own_terminal() -> Option<Termios> {
    let is_foreground = tcgetpgrp(stderr()).is_ok_and(|group| group == getpgrp());
    if is_foreground { tcgetattr(stderr()).ok() } else { None }
}

/// SIGINT, SIGTERM, SIGQUIT and SIGHUP; all mean the same: stop and stay resumable. A signal that
/// cannot be received keeps its default action.
pub(crate) struct StopSignals(Vec<Signal>);

impl StopSignals {
    pub(crate) fn subscribe_all() -> Self {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit()];
        // `nohup plenary …` must continue after its terminal closes.
        if !is_hangup_ignored() {
            kinds.push(SignalKind::hangup());
        }
        Self(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    /// Waits for the next signal.
    pub(crate) async fn next_signal(&mut self) {
        poll_fn(|context| {
            let is_told = self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_told { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Whether this process was started with SIGHUP ignored.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the system's word on this process")]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores_hangup(&status)
}

/// Other systems need unsafe code to query this. A process started by `nohup` has no terminal on
/// stderr, and without a terminal there is no SIGHUP.
#[cfg(not(target_os = "linux"))]
fn is_hangup_ignored() -> bool {
    use std::io::IsTerminal;
    !std::io::stderr().is_terminal()
}

/// `SigIgn` is a hexadecimal mask of the ignored signals; SIGHUP is its lowest bit.
#[cfg(any(target_os = "linux", test))]
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_tells_whether_a_hangup_is_ignored() {
        let check = |mask: &str, expected: bool| {
            let status = format!("Name:\tplenary\nSigBlk:\t1\nSigIgn:\t{mask}\nSigCgt:\t1\n");
            assert_eq!(ignores_hangup(&status), expected, "{mask}");
        };
        check("0000000000001000", false);
        check("0000000000001001", true);
        check("", false);
        check("no number", false);
        assert!(!ignores_hangup(""));
    }
}
