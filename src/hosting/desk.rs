//! What runs share: the store's one writer, the owner's lock, an ear for interventions.

use std::future::Future;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::watch;

use super::prepared::Prepared;
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::{
    self, Deliberation, Ear, Journal, Limits, Observer, Owner, Purse, Surroundings, look,
};
use crate::error::Error;
use crate::operations::Workspace;
use crate::store::StoreError;

#[derive(Debug)]
pub struct Desk {
    pub workspace: Arc<Workspace>,
    pub owner: Owner,
    journal: Journal,
    ear: Ear,
}

impl Desk {
    /// A desk, the writer's thread, which ends with it, and the work that must go on for its ear
    /// to hear.
    pub fn open(
        workspace: Arc<Workspace>,
    ) -> Result<(Self, JoinHandle<()>, impl Future<Output = ()> + Send + use<>), Error> {
        let folder = workspace.folders.store_folder();
        let owner = Owner::new(folder, workspace.ambient.chance())
            .map_err(|source| StoreError::NoFolder { path: folder.to_owned(), source })?;
        let (journal, writer) = Journal::start(Arc::clone(&workspace.store));
        let (ear, listening) = Ear::open(Arc::clone(&workspace.store));
        Ok((Self { workspace, owner, journal, ear }, writer, listening))
    }

    pub fn surroundings(
        &self,
        observer: Arc<dyn Observer>,
        common_purse: Option<Arc<Purse>>,
    ) -> Surroundings {
        Surroundings {
            journal: self.journal.clone(),
            store: Arc::clone(&self.workspace.store),
            ear: self.ear.clone(),
            ambient: Arc::clone(&self.workspace.ambient),
            observer,
            common_purse,
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
        let stop = run.run(Limits { wall, interrupted }).await?;
        let mut transcript = run.into_transcript();
        if matches!(stop, Stop::Deadline | Stop::Interrupted) {
            // What was being written when it was cut is in the journal by now, and only there.
            let id = transcript.opening.dialogue_id;
            transcript = look(self.workspace.store.as_ref(), &id)?;
        }
        Ok((transcript.stopped.clone().unwrap_or(stop), transcript))
    }
}
