//! What the server stands on: one folder's store, opened as far as it is needed, and the runs
//! that this process works on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle as Thread;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::convening::Outlets;
use crate::domain::ids::DialogueId;
use crate::domain::refusal::{Code, Fault};
use crate::engine::{Deliberation, Silent};
use crate::error::Error;
use crate::hosting::{Desk, Premises, Prepared, Resumption};
use crate::operations::Workspace;
use crate::verdict_log::sync;

/// A client that starts more at once has lost count.
const RUNS_MAX: usize = 32;

/// How long runs that were told to stop may take to write it down.
const FAREWELL: Duration = Duration::from_secs(10);

/// Says something a person may want to know; never on standard output.
pub(crate) type Talk = fn(&str);

#[derive(Debug)]
pub(crate) struct House {
    pub(super) premises: Premises,
    pub(super) outlets: Outlets,
    talk: Talk,
    workspace: Mutex<Option<Arc<Workspace>>>,
    desk: Mutex<Option<Staffed>>,
    live: Mutex<BTreeMap<DialogueId, Live>>,
}

/// A desk and its writer's thread.
#[derive(Debug)]
struct Staffed {
    desk: Arc<Desk>,
    writer: Thread<()>,
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
    pub(crate) fn new(premises: Premises, talk: Talk) -> Arc<Self> {
        Arc::new(Self {
            premises,
            outlets: Outlets::default(),
            talk,
            workspace: Mutex::default(),
            desk: Mutex::default(),
            live: Mutex::default(),
        })
    }

    /// The store there is. Looking leaves nothing behind: where there is none yet, an empty one
    /// answers.
    pub(super) fn for_existing(&self) -> Result<Arc<Workspace>, Error> {
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
    pub(super) fn for_opening(&self) -> Result<Arc<Workspace>, Error> {
        let mut known = lock(&self.workspace);
        if let Some(workspace) = known.as_ref() {
            return Ok(Arc::clone(workspace));
        }
        let workspace = Arc::new(self.premises.open(&self.premises.located()?)?);
        Ok(Arc::clone(known.insert(workspace)))
    }

    fn desk(&self) -> Result<Arc<Desk>, Error> {
        let mut staffed = lock(&self.desk);
        if let Some(staffed) = staffed.as_ref() {
            return Ok(Arc::clone(&staffed.desk));
        }
        let (desk, writer, listening) = Desk::open(self.for_opening()?)?;
        tokio::spawn(listening);
        let desk = Arc::new(desk);
        *staffed = Some(Staffed { desk: Arc::clone(&desk), writer });
        Ok(desk)
    }

    /// Opens a run and goes on with it in the background.
    pub(super) async fn begin(
        &self,
        prepared: Prepared,
        log: Option<PathBuf>,
    ) -> Result<DialogueId, Error> {
        self.make_room()?;
        let desk = self.desk()?;
        let wall = prepared.wall();
        if let Some(path) = &log {
            self.keep_log(&desk.workspace, path);
        }
        let run = desk.begin(prepared, Arc::new(Silent)).await?;
        Ok(self.host(desk, run, wall, log))
    }

    /// Takes a run up again and goes on with it in the background.
    pub(super) async fn go_on(
        &self,
        resumption: Resumption,
        log: Option<PathBuf>,
    ) -> Result<DialogueId, Error> {
        self.make_room()?;
        let desk = self.desk()?;
        let wall = resumption.wall;
        let run = resumption.take_up(&desk, Arc::new(Silent)).await?;
        Ok(self.host(desk, run, wall, log))
    }

    fn host(
        &self,
        desk: Arc<Desk>,
        run: Deliberation,
        wall: Duration,
        log: Option<PathBuf>,
    ) -> DialogueId {
        let id = run.id().clone();
        let (interrupt, interrupted) = watch::channel(false);
        let failure = Arc::new(Mutex::new(None));
        let (failed, talk) = (Arc::clone(&failure), self.talk);
        let task = tokio::spawn(async move {
            if let Err(error) = desk.see_through(run, wall, interrupted).await {
                talk(&error.sentence());
                *lock(&failed) = Some(error.document());
            }
            if let Some(path) = log {
                keep_log(&desk.workspace, &path, talk);
            }
        });
        lock(&self.live).insert(id.clone(), Live { interrupt, failure, task });
        id
    }

    /// Forgets runs that have ended: the journal knows them. Those that failed are kept while
    /// there is room, because nothing else tells why.
    fn make_room(&self) -> Result<(), Fault> {
        let mut live = lock(&self.live);
        live.retain(|_, run| !run.task.is_finished() || lock(&run.failure).is_some());
        if live.len() >= RUNS_MAX {
            live.retain(|_, run| !run.task.is_finished());
        }
        if live.len() < RUNS_MAX {
            return Ok(());
        }
        let message = format!("{RUNS_MAX} deliberations are running here already");
        Err(Fault::new(Code::NotSupported, message).suggest("wait until one of them has ended"))
    }

    /// Why this process could not go on with a run, where it could not.
    pub(super) fn failure(&self, id: &DialogueId) -> Option<Value> {
        lock(&self.live).get(id).and_then(|run| lock(&run.failure).clone())
    }

    /// Whether this process still works on it: also while it writes its last words.
    pub(super) fn is_working_on(&self, id: &DialogueId) -> bool {
        lock(&self.live).get(id).is_some_and(|run| !run.task.is_finished())
    }

    /// Asks a run to stop where it can be taken up again.
    pub(super) fn interrupt(&self, id: &DialogueId) {
        if let Some(run) = lock(&self.live).get(id) {
            run.interrupt.send_replace(true);
        }
    }

    /// Ends all runs where they can be taken up again, and returns once that is on disk.
    pub(crate) async fn close(&self) {
        let live = std::mem::take(&mut *lock(&self.live));
        for run in live.values() {
            run.interrupt.send_replace(true);
        }
        for run in live.into_values() {
            // One that does not stop is ended with the process; its journal is whole all the same.
            let _ = tokio::time::timeout(FAREWELL, run.task).await;
        }
        let staffed = lock(&self.desk).take();
        if let Some(Staffed { desk, writer }) = staffed
            && Arc::into_inner(desk).is_some()
        {
            // Without its desk the writer ends; that it panicked was told to whoever waited.
            let _ = tokio::task::spawn_blocking(|| writer.join()).await;
        }
    }

    pub(super) fn keep_log(&self, workspace: &Workspace, path: &std::path::Path) {
        keep_log(workspace, path, self.talk);
    }
}

/// Brings the file of the verdict log up to the store. That it cannot be written changes no
/// verdict.
fn keep_log(workspace: &Workspace, path: &std::path::Path, talk: Talk) {
    match sync(workspace.store.as_ref(), path) {
        Ok(synced) => synced.sentences(path).iter().for_each(|said| talk(said)),
        Err(error) => talk(&Error::from(error).sentence()),
    }
}

/// Whoever panicked while holding it left it whole: nothing here is changed in two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
