//! [`CliRuntime`]: Tokio runtime, run engine and interrupt flag of one command that runs something.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plenary_engine::app::planning::transports::TransportFactory;
use plenary_engine::app::project::Project;
use plenary_engine::app::run_engine::RunEngine;
use plenary_engine::app::start_run::{RunStart, start_run};
use plenary_engine::error::Error;
use plenary_engine::providers::process::scratch_folder::sweep_scratch_folders;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::cli::runs::output::{print_result, run_exit, sync_log};
use crate::cli::runs::progress::ProgressDisplay;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::signals::stop_or_exit;

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
        Ok(Self { engine, interrupted, runtime })
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
        let store = Arc::clone(&self.engine.project.store);
        let ended = self.block_on(async |engine, interrupted| {
            let started = start_run(engine.run_context(progress.clone(), None), start).await?;
            let ended = engine.finish_run(started, interrupted).await;
            if let Some(path) = log {
                sync_log(session.ui, engine.project.store.as_ref(), path);
            }
            ended
        });
        progress.clear_spinners();
        let (stop, transcript) = ended?;
        let done = run_exit(&stop, &transcript);
        match print_result(session, store.as_ref(), &transcript) {
            // A closed terminal cannot show the result; the run stopped as it should.
            Err(Error::Output(_)) if done == ExitStatus::Interrupted => Ok(done),
            printed => printed.map(|()| done),
        }
    }

    /// Runs the work to its end, and returns once the journal is on disk.
    pub(crate) fn block_on<F: Future>(
        self,
        work: impl FnOnce(Arc<RunEngine>, watch::Receiver<bool>) -> F,
    ) -> F::Output {
        let Self { engine, interrupted, runtime } = self;
        let result = runtime.block_on(work(Arc::clone(&engine), interrupted));
        // Shutdown drops the tasks that are left, and with them their handles of the engine.
        runtime.shutdown_background();
        engine.close();
        result
    }
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
