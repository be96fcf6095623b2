//! [`RunServer`]: the project of a long-lived server and the runs it drives in the background.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEntry;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;

use crate::app::planning::panel_setup::TransportFactory;
use crate::app::prepare_run::lower_limits;
use crate::app::project::{PrintNotice, Project, SettingsLoader};
use crate::app::run_engine::RunEngine;
use crate::app::run_status::{RunFollower, RunReport, RunStatus, report_run};
use crate::app::start_run::{RunStart, StartedRun, start_run};
use crate::config::settings::Settings;
use crate::config::settle_sections::BudgetOverrides;
use crate::engine::live_text::{LiveReader, WritingEvent};
use crate::engine::run::{NoopObserver, lock_mutex};
use crate::error::Error;

/// Limit of runs at the same time, against clients that start them in a loop.
const RUNS_MAX: u32 = 32;

/// Failed runs that are remembered: the journal does not record the failure.
const FAILED_RUNS_MAX: usize = 32;

/// Time for interrupted runs to journal their stop.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct RunServer {
    pub loader: Arc<SettingsLoader>,
    pub factory: TransportFactory,
    notify: PrintNotice,
    project: Mutex<Option<Arc<Project>>>,
    engine: Mutex<Option<Arc<RunEngine>>>,
    live: Mutex<LiveRuns>,
    /// One permit per run. See [`RunSlot`].
    slots: Arc<Semaphore>,
    /// Serialises restatements: the cost of one is recorded before the next is asked.
    pub directing: tokio::sync::Mutex<()>,
    /// Runs that were cancelled, regardless of what happened later.
    cancelled: Mutex<BTreeSet<DialogueId>>,
}

/// The runs of this process. One lock guards both fields: a run that starts while the server
/// closes either finds `is_closing` set, or is found by the code that sets it.
#[derive(Debug, Default)]
struct LiveRuns {
    /// The server is stopping: no run is started any more.
    is_closing: bool,
    runs: BTreeMap<DialogueId, LiveRun>,
}

/// A slot for a run of this process. A caller reserves it before it awaits anything, and the run
/// keeps it until its task ends: calls that arrive together cannot exceed the limit.
#[derive(Debug)]
pub struct RunSlot {
    _permit: OwnedSemaphorePermit,
}

/// A run of this process, in progress or failed.
#[derive(Debug)]
struct LiveRun {
    interrupt: watch::Sender<bool>,
    /// The failure, which the journal does not record.
    failure: Arc<Mutex<Option<Value>>>,
    task: JoinHandle<()>,
}

impl RunServer {
    pub fn new(loader: SettingsLoader, notify: PrintNotice) -> Arc<Self> {
        Arc::new(Self {
            loader: Arc::new(loader),
            factory: TransportFactory::default(),
            notify,
            project: Mutex::default(),
            engine: Mutex::default(),
            live: Mutex::default(),
            slots: Arc::new(Semaphore::new(RUNS_MAX as usize)),
            directing: tokio::sync::Mutex::default(),
            cancelled: Mutex::default(),
        })
    }

    /// The project over its store; over an empty store in memory if there is none, so that reading
    /// creates no file.
    pub fn open_project(&self) -> Result<Arc<Project>, Error> {
        let mut known = lock_mutex(&self.project);
        if let Some(project) = known.as_ref() {
            return Ok(Arc::clone(project));
        }
        let located = self.loader.locate_files()?;
        let served = |project| Arc::new(Project { is_served: true, ..project });
        match self.loader.open_existing(&located)?.map(served) {
            Some(project) => Ok(Arc::clone(known.insert(project))),
            None => Ok(Arc::new(self.loader.open_in_memory(&located)?)),
        }
    }

    /// The project; creates the store if there is none.
    pub fn create_project(&self) -> Result<Arc<Project>, Error> {
        let mut known = lock_mutex(&self.project);
        if let Some(project) = known.as_ref() {
            return Ok(Arc::clone(project));
        }
        let project = self.loader.open_project(&self.loader.locate_files()?)?;
        let project = Arc::new(Project { is_served: true, ..project });
        Ok(Arc::clone(known.insert(project)))
    }

    /// The engine of this server's runs, opened at the first use.
    pub fn engine(&self) -> Result<Arc<RunEngine>, Error> {
        let mut open = lock_mutex(&self.engine);
        if let Some(engine) = open.as_ref() {
            return Ok(Arc::clone(engine));
        }
        let engine = RunEngine::open_for_server(self.create_project()?, &Handle::current())?;
        Ok(Arc::clone(open.insert(engine)))
    }

    /// The operator's settings, lowered to what a caller asks for. Sets the operator's daily limit,
    /// which applies to running runs too.
    pub fn limit_caller(
        &self,
        operator: Settings,
        asked: &BudgetOverrides,
    ) -> Result<Settings, Error> {
        let settings = lower_limits(operator, asked)?;
        if let Some(daily) = &self.engine()?.daily_budget {
            daily.set_limit(settings.server_usd_micros);
        }
        Ok(settings)
    }

    /// Starts a run and drives it in the background. A review names the file of the verdict log,
    /// which is synchronised before a new review and after each.
    pub async fn start_run(
        &self,
        slot: RunSlot,
        start: RunStart,
        log: Option<PathBuf>,
    ) -> Result<DialogueId, Error> {
        let engine = self.engine()?;
        if let (RunStart::New(_), Some(path)) = (&start, &log) {
            sync_log(&engine.project, path, self.notify);
        }
        let started = start_run(engine.run_context(Arc::new(NoopObserver), None), start).await?;
        Ok(self.drive_run(slot, engine, started, log))
    }

    fn drive_run(
        &self,
        slot: RunSlot,
        engine: Arc<RunEngine>,
        started: StartedRun,
        log: Option<PathBuf>,
    ) -> DialogueId {
        let id = started.id().clone();
        let (interrupt, interrupted) = watch::channel(false);
        let failure = Arc::new(Mutex::new(None));
        let (failed, notify) = (Arc::clone(&failure), self.notify);
        let mut live = lock_mutex(&self.live);
        if live.is_closing {
            // The run is in the journal; it stops at once and can be resumed.
            interrupt.send_replace(true);
        }
        let task = tokio::spawn(async move {
            // Locals are dropped in reverse order: the engine is released before the slot.
            let _slot = slot;
            let engine = engine;
            if let Err(error) = engine.finish_run(started, interrupted).await {
                notify(&error.full_message());
                *lock_mutex(&failed) = Some(error.to_document());
            }
            if let Some(path) = log {
                sync_log(&engine.project, &path, notify);
            }
        });
        live.runs.insert(id.clone(), LiveRun { interrupt, failure, task });
        id
    }

    /// Reserves a slot for a run; refuses if all are taken or the server is stopping.
    pub fn reserve_slot(&self) -> Result<RunSlot, ValidationError> {
        let mut live = lock_mutex(&self.live);
        if live.is_closing {
            let fault =
                ValidationError::new(ErrorCode::NotSupported, "the server is shutting down");
            return Err(fault.with_suggestion("start the server again, then repeat the call"));
        }
        live.remove_ended();
        let permit = Arc::clone(&self.slots).try_acquire_owned().map_err(|_| {
            let message = format!("this server already runs {RUNS_MAX} deliberations");
            ValidationError::new(ErrorCode::NotSupported, message)
                .with_suggestion("wait until one of them ends")
        })?;
        Ok(RunSlot { _permit: permit })
    }

    /// Why this process could not continue a run.
    fn run_failure(&self, id: &DialogueId) -> Option<Value> {
        lock_mutex(&self.live).runs.get(id).and_then(|run| lock_mutex(&run.failure).clone())
    }

    /// Whether this process still works on the run, also while it writes its last entries.
    fn is_working_on(&self, id: &DialogueId) -> bool {
        lock_mutex(&self.live).runs.get(id).is_some_and(|run| !run.task.is_finished())
    }

    /// Reports a run.
    pub async fn report_status(self: &Arc<Self>, id: &DialogueId) -> Result<RunReport, Error> {
        let (run_server, id) = (Arc::clone(self), id.clone());
        run_blocking(move || {
            let is_working = run_server.is_working_on(&id);
            let mut report = report_run(run_server.open_project()?.as_ref(), &id)?;
            if let Some(failure) = run_server.run_failure(&id) {
                // This process holds the lock of the run but does not work on it any more.
                report = RunReport { status: RunStatus::Failed, result: Some(failure), ..report };
            } else if is_working {
                report = RunReport { status: RunStatus::Running, result: None, ..report };
            }
            Ok(report)
        })
        .await
    }

    /// Whether this process or another works on the run.
    pub fn is_running(&self, id: &DialogueId, follower: &RunFollower) -> Result<bool, Error> {
        let project = self.open_project()?;
        let is_running = follower.is_running(project.folders.store_file());
        Ok(self.is_working_on(id) || (is_running && self.run_failure(id).is_none()))
    }

    /// What the seats of a run wrote since the last call.
    pub fn read_writing(&self, follower: &RunFollower, live: &mut LiveReader) -> Vec<WritingEvent> {
        let Ok(project) = self.open_project() else { return Vec::new() };
        let Some(state) = &follower.state else { return Vec::new() };
        live.read_events(project.folders.store_file(), state)
    }

    /// Journal entries after a sequence number.
    pub async fn read_entries(
        self: &Arc<Self>,
        id: &DialogueId,
        after: u64,
    ) -> Result<Vec<JournalEntry>, Error> {
        let (run_server, id) = (Arc::clone(self), id.clone());
        run_blocking(move || Ok(run_server.open_project()?.store.load_entries(&id, after)?)).await
    }

    /// Interrupts a run; it can be resumed.
    pub fn interrupt_run(&self, id: &DialogueId) {
        if let Some(run) = lock_mutex(&self.live).runs.get(id) {
            run.interrupt.send_replace(true);
        }
    }

    /// Cancels a run; it can be resumed. A finished run stays finished.
    pub async fn cancel_run(self: &Arc<Self>, id: &DialogueId) -> Result<(), Error> {
        match self.report_status(id).await?.status {
            RunStatus::Running if !self.is_working_on(id) => Err(running_elsewhere(id).into()),
            RunStatus::Running | RunStatus::Interrupted => {
                lock_mutex(&self.cancelled).insert(id.clone());
                self.interrupt_run(id);
                Ok(())
            }
            RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed | RunStatus::Open => Ok(()),
        }
    }

    /// Whether the run was cancelled since this process started.
    pub fn is_cancelled(&self, id: &DialogueId) -> bool {
        lock_mutex(&self.cancelled).contains(id)
    }

    /// Interrupts all runs and starts no others.
    pub fn interrupt_all(&self) {
        let mut live = lock_mutex(&self.live);
        live.is_closing = true;
        for run in live.runs.values() {
            run.interrupt.send_replace(true);
        }
    }

    /// Interrupts all runs and returns once the journal is on disk.
    pub async fn close(&self) {
        self.interrupt_all();
        // Each run holds a slot, and so does each call that is about to start one: all slots are
        // free when all of them have ended. A run that does not stop in time ends with the process;
        // its journal is consistent all the same.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.slots.acquire_many(RUNS_MAX)).await;
        let open = lock_mutex(&self.engine).take();
        if let Some(open) = open {
            // No caller is left to report an error to.
            let _ = tokio::task::spawn_blocking(|| open.close()).await;
        }
    }
}

impl LiveRuns {
    /// Removes ended runs: the journal records them. The last failed ones are kept, because only
    /// this process knows the reason.
    fn remove_ended(&mut self) {
        self.runs.retain(|_, run| !run.task.is_finished() || lock_mutex(&run.failure).is_some());
        let failed = self.runs.values().filter(|run| run.task.is_finished()).count();
        if failed > FAILED_RUNS_MAX {
            self.runs.retain(|_, run| !run.task.is_finished());
        }
    }
}

/// Error: only the process of a run can interrupt it.
fn running_elsewhere(id: &DialogueId) -> ValidationError {
    let message = format!("another process is working on '{id}'");
    let hint = "use deliberation_intervene with kind: stop; it works across processes";
    ValidationError::new(ErrorCode::NotSupported, message).with_suggestion(hint)
}

/// Synchronises the file of the verdict log with the store. A failure to write changes no verdict.
fn sync_log(project: &Project, path: &Path, notify: PrintNotice) {
    match crate::verdict_log::sync::sync_log(project.store.as_ref(), path) {
        Ok(synced) => synced.to_sentences(path).iter().for_each(|text| notify(text)),
        Err(error) => notify(&Error::from(error).full_message()),
    }
}

/// Runs work that waits for the disk on a thread of its own, so that other requests do not wait.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::Runtime(std::io::Error::other(error))))
}

#[cfg(test)]
#[path = "run_server_tests.rs"]
mod tests;
