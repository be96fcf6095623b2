//! What runs share: the store's one writer, the owner's lock, an ear for interventions.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::prepared::Prepared;
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::{
    self, BatchShare, DailyBudget, Deliberation, Ear, Journal, Limits, Observer, Owner,
    Surroundings, look,
};
use crate::error::Error;
use crate::operations::Workspace;

/// A desk that is open, and the thread of its writer.
#[derive(Debug)]
pub struct OpenDesk {
    desk: Arc<Desk>,
    writer: JoinHandle<()>,
}

impl OpenDesk {
    /// Opens a desk, whose ear hears while the runtime goes on.
    pub fn open(workspace: Arc<Workspace>, runtime: &Handle) -> Result<Self, Error> {
        Self::open_with(workspace, runtime, None)
    }

    /// The same for a server, whose runs share what may be spent in a day.
    pub fn open_for_server(workspace: Arc<Workspace>, runtime: &Handle) -> Result<Self, Error> {
        let (store, ambient) = (Arc::clone(&workspace.store), Arc::clone(&workspace.ambient));
        let daily_budget = Arc::new(DailyBudget::new(store, ambient));
        Self::open_with(workspace, runtime, Some(daily_budget))
    }

    fn open_with(
        workspace: Arc<Workspace>,
        runtime: &Handle,
        daily_budget: Option<Arc<DailyBudget>>,
    ) -> Result<Self, Error> {
        let owner = Owner::new(workspace.folders.store_file(), workspace.ambient.chance())?;
        let (journal, writer) = Journal::start(Arc::clone(&workspace.store));
        let (ear, listening) = Ear::open(Arc::clone(&workspace.store));
        runtime.spawn(listening);
        let desk = Desk { workspace, owner, journal, ear, daily_budget };
        Ok(Self { desk: Arc::new(desk), writer })
    }

    pub fn desk(&self) -> Arc<Desk> {
        Arc::clone(&self.desk)
    }

    /// Returns once everything is on disk; at once, where somebody still works at the desk.
    pub fn close(self) {
        if Arc::into_inner(self.desk).is_some() {
            // Without its desk the writer ends; that it panicked was told to whoever waited.
            let _ = self.writer.join();
        }
    }
}

/// A fault of the store in mid-run, with what a person needs to continue: replies were paid for.
fn halted(error: Error, transcript: &Transcript) -> Error {
    let Error::Store(source) = error else { return error };
    let replies = transcript.asks.iter().filter(|asked| asked.reply().is_some()).count();
    Error::Halted { id: transcript.opening.dialogue_id.clone(), replies, source }
}

#[derive(Debug)]
pub struct Desk {
    pub workspace: Arc<Workspace>,
    pub owner: Owner,
    journal: Journal,
    ear: Ear,
    /// What servers may spend in a day; nothing at the command line's desk.
    pub daily_budget: Option<Arc<DailyBudget>>,
}

impl Desk {
    pub fn surroundings(
        &self,
        observer: Arc<dyn Observer>,
        batch_share: Option<BatchShare>,
    ) -> Surroundings {
        Surroundings {
            journal: self.journal.clone(),
            store: Arc::clone(&self.workspace.store),
            ear: self.ear.clone(),
            ambient: Arc::clone(&self.workspace.ambient),
            observer,
            batch_share,
            daily_budget: self.daily_budget.clone(),
            redaction: Arc::default(),
        }
    }

    /// Opens a run; from here on it can be resumed.
    pub async fn begin(
        &self,
        prepared: Prepared,
        observer: Arc<dyn Observer>,
    ) -> Result<Deliberation, Error> {
        let Prepared { question, connections, redaction } = prepared;
        let surroundings = Surroundings { redaction, ..self.surroundings(observer, None) };
        let folders = &self.workspace.folders;
        engine::open(question, connections, &self.owner, folders, surroundings).await
    }

    /// Lets a run go on to its end, and returns it as the journal has it.
    pub async fn see_through(
        &self,
        run: Deliberation,
        wall: Duration,
        interrupted: watch::Receiver<bool>,
    ) -> Result<(Stop, Transcript), Error> {
        let ended = run.run(Limits { wall, interrupted }).await;
        let transcript = run.into_transcript();
        let stop = ended.map_err(|error| {
            // Replies that came together were kept in one write; the run may not have seen that.
            let latest = look(self.workspace.store.as_ref(), &transcript.opening.dialogue_id);
            halted(error, latest.as_ref().unwrap_or(&transcript))
        })?;
        if matches!(stop, Stop::Deadline | Stop::Interrupted) {
            // What was being written when it was cut is in the journal by now, and only there.
            let id = &transcript.opening.dialogue_id;
            let latest = look(self.workspace.store.as_ref(), id);
            let transcript = latest.map_err(|error| halted(error, &transcript))?;
            return Ok((transcript.stopped.clone().unwrap_or(stop), transcript));
        }
        Ok((transcript.stopped.clone().unwrap_or(stop), transcript))
    }
}
