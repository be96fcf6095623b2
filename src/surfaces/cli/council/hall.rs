//! What councils run in: the store's writer, the owner's lock, the runtime, and an
//! ear for Ctrl-C.

use std::future::Future;
use std::process::exit;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::domain::transcript::{Stop, Transcript};
use crate::engine::{Deliberation, Journal, Limits, Observer, Owner, Purse, Surroundings, load};
use crate::error::{Error, Kind};
use crate::operations::Workspace;

/// How much at once a runtime is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crowd {
    One,
    Many,
}

#[derive(Debug)]
pub(super) struct Hall {
    pub workspace: Workspace,
    pub owner: Owner,
    pub interrupted: watch::Receiver<bool>,
    journal: Journal,
    writer: JoinHandle<()>,
    runtime: Runtime,
}

impl Hall {
    pub(super) fn open(workspace: Workspace, crowd: Crowd) -> Result<Self, Error> {
        let chance = workspace.ambient.chance();
        let owner = Owner::new(workspace.folders.store_folder(), chance).map_err(Error::Runtime)?;
        let runtime = match crowd {
            // One council waits for the network; a second thread would only cost a start.
            Crowd::One => Builder::new_current_thread().enable_all().build(),
            Crowd::Many => {
                open_as_many_as_allowed();
                Builder::new_multi_thread().enable_all().build()
            }
        };
        let runtime = runtime.map_err(Error::Runtime)?;
        let (journal, writer) = Journal::start(Arc::clone(&workspace.store));
        let (heard, interrupted) = watch::channel(false);
        runtime.spawn(listen(heard));
        Ok(Self { workspace, owner, interrupted, journal, writer, runtime })
    }

    pub(super) fn surroundings(
        &self,
        observer: Arc<dyn Observer>,
        common_purse: Option<Arc<Purse>>,
    ) -> Surroundings {
        Surroundings {
            journal: self.journal.clone(),
            ambient: Arc::clone(&self.workspace.ambient),
            observer,
            common_purse,
        }
    }

    /// Lets a run go on to its end, and returns it as the journal has it.
    pub(super) async fn see_through(
        &self,
        run: Deliberation,
        wall: Duration,
    ) -> Result<(Stop, Transcript), Error> {
        let limits = Limits { wall, interrupted: self.interrupted.clone() };
        let stop = run.run(limits).await?;
        let mut transcript = run.into_transcript();
        if matches!(stop, Stop::Deadline | Stop::Interrupted) {
            // What was being written when it was cut is in the journal by now, and only there.
            let id = transcript.opening.dialogue_id;
            transcript = load(self.workspace.store.as_ref(), &id)?.transcript;
        }
        Ok((transcript.stopped.clone().unwrap_or(stop), transcript))
    }

    pub(super) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Ends the writer once everything is on disk.
    pub(super) fn close(self) {
        let Self { journal, writer, runtime, .. } = self;
        runtime.shutdown_background();
        drop(journal);
        // It ends when the last sender is gone; that it panicked was told to whoever waited.
        let _ = writer.join();
    }
}

/// Each call has a connection of its own, and the usual limit of a thousand files is that of
/// three hundred councils. Where it cannot be raised, a call that finds no connection says so.
fn open_as_many_as_allowed() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The first signal asks the run to stop where it can be taken up again; the second ends
/// the process, which is no worse: the journal is whole at every moment.
async fn listen(heard: watch::Sender<bool>) {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if heard.send_replace(true) {
            exit(i32::from(Kind::Interrupted.exit_code()));
        }
    }
}
