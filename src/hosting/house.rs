//! What a process stands on that serves for long: one folder's store, opened as far as it is
//! needed, and the runs it works on in the background.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;

use super::blocking::blocking;
use super::caller_limits::lower_limits;
use super::desk::{Desk, OpenDesk};
use super::following::Following;
use super::premises::Premises;
use super::prepared::Prepared;
use super::resume::Resumption;
use super::run_report::{RunReport, RunStatus, report};
use crate::config::{Overrides, Settings};
use crate::convening::Outlets;
use crate::domain::change::Entry;
use crate::domain::ids::DialogueId;
use crate::domain::refusal::{Code, Fault};
use crate::engine::{Deliberation, Silent};
use crate::error::Error;
use crate::operations::Workspace;
use crate::verdict_log::sync;

/// A client that starts more at once has lost count.
const RUNS_MAX: u32 = 32;

/// Ended runs whose failure is remembered: the journal does not hold it.
const FAILED_RUNS_MAX: usize = 32;

/// How long runs that were told to stop may take to write it down.
const FAREWELL: Duration = Duration::from_secs(10);

/// Says something a person may want to know; never on standard output.
pub type Talk = fn(&str);

#[derive(Debug)]
pub struct House {
    pub premises: Premises,
    pub outlets: Outlets,
    talk: Talk,
    workspace: Mutex<Option<Arc<Workspace>>>,
    desk: Mutex<Option<OpenDesk>>,
    live: Mutex<LiveRuns>,
    /// One permit per run. See [`RunPlace`].
    places: Arc<Semaphore>,
    /// Directives are restated one at a time: what one costs is noted before the next is asked.
    pub directing: tokio::sync::Mutex<()>,
    /// Those that somebody wanted cancelled, whatever became of them since.
    cancelled: Mutex<BTreeSet<DialogueId>>,
}

/// The runs of this process. One lock guards both fields: a run that starts while the server
/// closes either finds `is_closing` set, or is found by the code that sets it.
#[derive(Debug, Default)]
struct LiveRuns {
    /// The server was told to end: nothing is begun any more.
    is_closing: bool,
    runs: BTreeMap<DialogueId, Live>,
}

/// A place among the runs of this process. A caller reserves it before it awaits anything, and
/// the run keeps it until its task has ended: calls that arrive together cannot exceed the limit.
#[derive(Debug)]
pub struct RunPlace {
    _permit: OwnedSemaphorePermit,
}

/// A run that this process works on, or did and could not go on with.
#[derive(Debug)]
struct Live {
    interrupt: watch::Sender<bool>,
    /// What went wrong that no journal holds.
    failure: Arc<Mutex<Option<Value>>>,
    task: JoinHandle<()>,
}

impl House {
    pub fn new(premises: Premises, talk: Talk) -> Arc<Self> {
        Arc::new(Self {
            premises,
            outlets: Outlets::default(),
            talk,
            workspace: Mutex::default(),
            desk: Mutex::default(),
            live: Mutex::default(),
            places: Arc::new(Semaphore::new(RUNS_MAX as usize)),
            directing: tokio::sync::Mutex::default(),
            cancelled: Mutex::default(),
        })
    }

    /// The store there is. Looking leaves nothing behind: where there is none yet, an empty one
    /// answers.
    pub fn for_existing(&self) -> Result<Arc<Workspace>, Error> {
        let mut known = lock(&self.workspace);
        if let Some(workspace) = known.as_ref() {
            return Ok(Arc::clone(workspace));
        }
        let located = self.premises.located()?;
        match self.premises.existing(&located)?.map(Arc::new) {
            Some(workspace) => Ok(Arc::clone(known.insert(workspace))),
            None => Ok(Arc::new(self.premises.empty(&located)?)),
        }
    }

    /// The store, made if there is none.
    pub fn for_opening(&self) -> Result<Arc<Workspace>, Error> {
        let mut known = lock(&self.workspace);
        if let Some(workspace) = known.as_ref() {
            return Ok(Arc::clone(workspace));
        }
        let workspace = Arc::new(self.premises.open(&self.premises.located()?)?);
        Ok(Arc::clone(known.insert(workspace)))
    }

    pub fn desk(&self) -> Result<Arc<Desk>, Error> {
        let mut open = lock(&self.desk);
        if let Some(open) = open.as_ref() {
            return Ok(open.desk());
        }
        let opened = OpenDesk::open_for_server(self.for_opening()?, &Handle::current())?;
        Ok(open.insert(opened).desk())
    }

    /// The operator's settings, lowered to what a caller asks for. The operator's limit for a day
    /// holds from now on, for the runs that are at work too.
    pub fn limit_caller(&self, operator: Settings, asked: &Overrides) -> Result<Settings, Error> {
        let settings = lower_limits(operator, asked)?;
        if let Some(daily) = &self.desk()?.daily_budget {
            daily.set_limit(settings.server_usd_micros);
        }
        Ok(settings)
    }

    /// Opens a run and goes on with it in the background.
    pub async fn begin(
        &self,
        place: RunPlace,
        prepared: Prepared,
        log: Option<PathBuf>,
    ) -> Result<DialogueId, Error> {
        let desk = self.desk()?;
        let wall = prepared.wall();
        if let Some(path) = &log {
            keep_log(&desk.workspace, path, self.talk);
        }
        let run = desk.begin(prepared, Arc::new(Silent)).await?;
        Ok(self.host(place, desk, run, wall, log))
    }

    /// Takes a run up again and goes on with it in the background.
    pub async fn go_on(
        &self,
        place: RunPlace,
        resumption: Resumption,
        log: Option<PathBuf>,
    ) -> Result<DialogueId, Error> {
        let desk = self.desk()?;
        let wall = resumption.wall;
        let run = resumption.take_up(&desk, Arc::new(Silent)).await?;
        Ok(self.host(place, desk, run, wall, log))
    }

    fn host(
        &self,
        place: RunPlace,
        desk: Arc<Desk>,
        run: Deliberation,
        wall: Duration,
        log: Option<PathBuf>,
    ) -> DialogueId {
        let id = run.id().clone();
        let (interrupt, interrupted) = watch::channel(false);
        let failure = Arc::new(Mutex::new(None));
        let (failed, talk) = (Arc::clone(&failure), self.talk);
        let mut live = lock(&self.live);
        if live.is_closing {
            // The run is in the journal; it stops at once, where it can be resumed.
            interrupt.send_replace(true);
        }
        let task = tokio::spawn(async move {
            // Locals are dropped in reverse: the desk is free before the place is.
            let _place = place;
            let desk = desk;
            if let Err(error) = desk.see_through(run, wall, interrupted).await {
                talk(&error.sentence());
                *lock(&failed) = Some(error.document());
            }
            if let Some(path) = log {
                keep_log(&desk.workspace, &path, talk);
            }
        });
        live.runs.insert(id.clone(), Live { interrupt, failure, task });
        id
    }

    /// Reserves a place for a run, or refuses when all are taken or the server is ending.
    pub fn reserve_place(&self) -> Result<RunPlace, Fault> {
        let mut live = lock(&self.live);
        if live.is_closing {
            let fault = Fault::new(Code::NotSupported, "this server is ending");
            return Err(fault.suggest("start it again, and ask again"));
        }
        live.forget_ended();
        let permit = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let message = format!("{RUNS_MAX} deliberations are running here already");
            Fault::new(Code::NotSupported, message).suggest("wait until one of them has ended")
        })?;
        Ok(RunPlace { _permit: permit })
    }

    /// Why this process could not go on with a run, where it could not.
    fn failure(&self, id: &DialogueId) -> Option<Value> {
        lock(&self.live).runs.get(id).and_then(|run| lock(&run.failure).clone())
    }

    /// Whether this process still works on it: also while it writes its last words.
    fn is_working_on(&self, id: &DialogueId) -> bool {
        lock(&self.live).runs.get(id).is_some_and(|run| !run.task.is_finished())
    }

    /// Where a run stands.
    pub async fn report(self: &Arc<Self>, id: &DialogueId) -> Result<RunReport, Error> {
        let (house, id) = (Arc::clone(self), id.clone());
        blocking(move || {
            let is_working = house.is_working_on(&id);
            let mut report = report(house.for_existing()?.as_ref(), &id)?;
            if let Some(failure) = house.failure(&id) {
                // The owner's lock is held by this process, which does not work on it any more.
                report = RunReport { status: RunStatus::Failed, result: Some(failure), ..report };
            } else if is_working {
                report = RunReport { status: RunStatus::Running, result: None, ..report };
            }
            Ok(report)
        })
        .await
    }

    /// Whether more may come: by this process, or by another.
    pub fn is_running(&self, id: &DialogueId, following: &Following) -> Result<bool, Error> {
        let workspace = self.for_existing()?;
        let is_at_work = following.is_at_work(workspace.folders.store_file());
        Ok(self.is_working_on(id) || (is_at_work && self.failure(id).is_none()))
    }

    /// What was journalled after an entry.
    pub async fn entries(
        self: &Arc<Self>,
        id: &DialogueId,
        after: u64,
    ) -> Result<Vec<Entry>, Error> {
        let (house, id) = (Arc::clone(self), id.clone());
        blocking(move || Ok(house.for_existing()?.store.entries(&id, after)?)).await
    }

    /// Asks a run to stop where it can be taken up again.
    pub fn interrupt(&self, id: &DialogueId) {
        if let Some(run) = lock(&self.live).runs.get(id) {
            run.interrupt.send_replace(true);
        }
    }

    /// Ends a run where it can be taken up again, because nobody wants it any more. What is
    /// finished stays finished.
    pub async fn cancel(self: &Arc<Self>, id: &DialogueId) -> Result<(), Error> {
        match self.report(id).await?.status {
            RunStatus::Running if !self.is_working_on(id) => Err(works_elsewhere(id).into()),
            RunStatus::Running | RunStatus::Interrupted => {
                lock(&self.cancelled).insert(id.clone());
                self.interrupt(id);
                Ok(())
            }
            RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed => Ok(()),
        }
    }

    /// Whether somebody wanted it cancelled while this process served.
    pub fn is_cancelled(&self, id: &DialogueId) -> bool {
        lock(&self.cancelled).contains(id)
    }

    /// Asks all runs to stop where they can be taken up again, and begins no others.
    pub fn interrupt_all(&self) {
        let mut live = lock(&self.live);
        live.is_closing = true;
        for run in live.runs.values() {
            run.interrupt.send_replace(true);
        }
    }

    /// Ends all runs where they can be taken up again, and returns once that is on disk.
    pub async fn close(&self) {
        self.interrupt_all();
        // Each run holds a place, and so does each call that is about to begin one: all places
        // are free when all of them have ended. One that does not stop is ended with the process;
        // its journal is whole all the same.
        let _ = tokio::time::timeout(FAREWELL, self.places.acquire_many(RUNS_MAX)).await;
        let open = lock(&self.desk).take();
        if let Some(open) = open {
            // Nobody waits any more whom it could be told that this went wrong.
            let _ = tokio::task::spawn_blocking(|| open.close()).await;
        }
    }
}

impl LiveRuns {
    /// Forgets runs that have ended: the journal knows them. The last that failed are kept,
    /// because nothing else tells why.
    fn forget_ended(&mut self) {
        self.runs.retain(|_, run| !run.task.is_finished() || lock(&run.failure).is_some());
        let failed = self.runs.values().filter(|run| run.task.is_finished()).count();
        if failed > FAILED_RUNS_MAX {
            self.runs.retain(|_, run| !run.task.is_finished());
        }
    }
}

/// Only who works on a run can interrupt it.
fn works_elsewhere(id: &DialogueId) -> Fault {
    let message = format!("another process is working on '{id}'");
    let hint = "deliberation_intervene with kind: stop reaches a council wherever it runs";
    Fault::new(Code::NotSupported, message).suggest(hint)
}

/// Brings the file of the verdict log up to the store. That it cannot be written changes no
/// verdict.
fn keep_log(workspace: &Workspace, path: &Path, talk: Talk) {
    match sync(workspace.store.as_ref(), path) {
        Ok(synced) => synced.sentences(path).iter().for_each(|said| talk(said)),
        Err(error) => talk(&Error::from(error).sentence()),
    }
}

/// Whoever panicked while holding it left it whole: nothing here is changed in two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "house_tests.rs"]
mod tests;
