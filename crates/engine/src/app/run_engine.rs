//! [`RunEngine`]: what the runs of a process share, the writer of the store, the process's lock
//! and the watcher for interventions. A command has one, a server has one.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use plenary_core::model::run_state::{RunState, RunStopReason};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::app::project::Project;
use crate::app::start_run::StartedRun;
use crate::engine::call_budget::BatchShare;
use crate::engine::daily_budget::DailyBudget;
use crate::engine::interventions::InterventionWatcher;
use crate::engine::journal::JournalWriter;
use crate::engine::process_lock::ProcessLock;
use crate::engine::run::{RunContext, RunLimits, RunObserver};
use crate::engine::run_start::load_run_state;
use crate::error::Error;

#[derive(Debug)]
pub struct RunEngine {
    pub project: Arc<Project>,
    process_lock: Arc<ProcessLock>,
    journal: JournalWriter,
    watcher: InterventionWatcher,
    /// Daily budget of servers; `None` for the command line.
    pub daily_budget: Option<Arc<DailyBudget>>,
    /// Thread of the journal's writer, joined when the engine closes.
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl RunEngine {
    /// Opens an engine. Its watcher polls as long as the runtime lives.
    pub fn open(project: Arc<Project>, runtime: &Handle) -> Result<Arc<Self>, Error> {
        Self::open_with(project, runtime, None)
    }

    /// Opens an engine for a server, whose runs share a daily budget.
    pub fn open_for_server(project: Arc<Project>, runtime: &Handle) -> Result<Arc<Self>, Error> {
        let (store, ambient) = (Arc::clone(&project.store), Arc::clone(&project.ambient));
        let daily_budget = Arc::new(DailyBudget::new(store, ambient));
        Self::open_with(project, runtime, Some(daily_budget))
    }

    fn open_with(
        project: Arc<Project>,
        runtime: &Handle,
        daily_budget: Option<Arc<DailyBudget>>,
    ) -> Result<Arc<Self>, Error> {
        let lock = ProcessLock::new(project.folders.store_file(), project.ambient.random_u64())?;
        let (journal, writer) = JournalWriter::start_writer(Arc::clone(&project.store));
        let (watcher, polling) = InterventionWatcher::start(Arc::clone(&project.store));
        runtime.spawn(polling);
        Ok(Arc::new(Self {
            project,
            process_lock: Arc::new(lock),
            journal,
            watcher,
            daily_budget,
            writer: Mutex::new(Some(writer)),
        }))
    }

    /// The context of one run.
    pub fn run_context(
        &self,
        observer: Arc<dyn RunObserver>,
        batch_share: Option<BatchShare>,
    ) -> RunContext {
        RunContext {
            protocols: self.project.protocols.clone(),
            journal: self.journal.clone(),
            process_lock: Arc::clone(&self.process_lock),
            store: Arc::clone(&self.project.store),
            folders: self.project.folders.clone(),
            watcher: self.watcher.clone(),
            ambient: Arc::clone(&self.project.ambient),
            observer,
            batch_share,
            daily_budget: self.daily_budget.clone(),
            redaction: Arc::default(),
        }
    }

    /// Drives a run until it stops, and returns its state as journalled.
    pub async fn finish_run(
        &self,
        started: StartedRun,
        interrupted: watch::Receiver<bool>,
    ) -> Result<(RunStopReason, RunState), Error> {
        let StartedRun { run, wall } = started;
        let ended = run.run(RunLimits { wall, interrupted }).await;
        let state = run.into_state();
        let id = &state.opening.dialogue_id;
        let load_latest =
            || load_run_state(&self.project.protocols, self.project.store.as_ref(), id);
        let stop = ended.map_err(|error| {
            // Replies that arrived together were written in one batch; the run may not have
            // applied all of them.
            let latest = load_latest();
            halted_error(error, latest.as_ref().unwrap_or(&state))
        })?;
        if matches!(stop, RunStopReason::Deadline | RunStopReason::Interrupted) {
            // The journal may have entries that were still being written when the run was cut.
            let latest = load_latest();
            let state = latest.map_err(|error| halted_error(error, &state))?;
            return Ok((state.stopped.clone().unwrap_or(stop), state));
        }
        Ok((state.stopped.clone().unwrap_or(stop), state))
    }

    /// Closes the engine and returns once the journal is on disk. Returns at once if a task still
    /// uses the engine.
    pub fn close(self: Arc<Self>) {
        if let Some(engine) = Arc::into_inner(self) {
            let writer = engine.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
            // The writer ends when the last journal handle is dropped.
            drop(engine);
            // A panic of the writer was reported to the callers that waited for it.
            let _ = writer.map(JoinHandle::join);
        }
    }
}

/// Adds the id and the number of paid replies to a store error in the middle of a run.
fn halted_error(error: Error, state: &RunState) -> Error {
    let Error::Store(source) = error else { return error };
    let replies = state.asks.iter().filter(|asked| asked.last_reply().is_some()).count();
    Error::Halted { id: state.opening.dialogue_id.clone(), replies, source }
}
