//! What councils run in: the store's writer, the owner's lock, the runtime, and an
//! ear for Ctrl-C.

use std::future::Future;
use std::io::IsTerminal;
use std::process::exit;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::super::session::{Done, Session};
use super::super::show::council::draw;
use super::super::show::draw_closing;
use super::progress::Progress;
use crate::convening::Outlets;
use crate::domain::dialogue::Protocol;
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::{
    Deliberation, Ear, Journal, Limits, Observer, Owner, Purse, Surroundings, look,
};
use crate::error::{Error, Kind};
use crate::export::conclusion::closed;
use crate::export::council::document;
use crate::operations::Workspace;
use crate::record::no_dialogue;
use crate::store::{Store, StoreError};

/// How long a rehearsed reply takes on a terminal, so that a person can follow it.
const REHEARSAL_PACE: Duration = Duration::from_millis(900);

/// How much at once a runtime is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crowd {
    One,
    Many,
}

/// The runtime and the writer; what councils share lies on the desk.
#[derive(Debug)]
pub(super) struct Hall {
    desk: Arc<Desk>,
    writer: JoinHandle<()>,
    runtime: Runtime,
}

#[derive(Debug)]
pub(super) struct Desk {
    pub workspace: Workspace,
    pub owner: Owner,
    interrupted: watch::Receiver<bool>,
    journal: Journal,
    ear: Ear,
}

impl Hall {
    pub(super) fn open(workspace: Workspace, crowd: Crowd) -> Result<Self, Error> {
        let folder = workspace.folders.store_folder();
        let owner = Owner::new(folder, workspace.ambient.chance())
            .map_err(|source| StoreError::NoFolder { path: folder.to_owned(), source })?;
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
        let (ear, listening) = Ear::open(Arc::clone(&workspace.store));
        runtime.spawn(listening);
        let desk = Arc::new(Desk { workspace, owner, interrupted, journal, ear });
        Ok(Self { desk, writer, runtime })
    }

    /// Holds one council to its end and shows what came of it.
    pub(super) fn hold<F>(
        self,
        session: &Session<'_>,
        progress: &Progress,
        council: impl FnOnce(Arc<Desk>) -> F,
    ) -> Result<Done, Error>
    where
        F: Future<Output = Result<(Stop, Transcript), Error>>,
    {
        let store = Arc::clone(&self.desk.workspace.store);
        let ran = self.run(council);
        progress.clear();
        let (stop, transcript) = ran?;
        present(session, store.as_ref(), &transcript)?;
        Ok(done(&stop))
    }

    /// Runs the work, and returns once everything is on disk.
    pub(super) fn run<F: Future>(self, work: impl FnOnce(Arc<Desk>) -> F) -> F::Output {
        let Self { desk, writer, runtime } = self;
        let result = runtime.block_on(work(Arc::clone(&desk)));
        // Tasks that were left behind let go of the desk here.
        runtime.shutdown_background();
        if Arc::into_inner(desk).is_some() {
            // Without its desk the writer ends; that it panicked was told to whoever waited.
            let _ = writer.join();
        }
        result
    }
}

impl Desk {
    pub(super) fn surroundings(
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
        }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        *self.interrupted.borrow()
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
            transcript = look(self.workspace.store.as_ref(), &id)?;
        }
        Ok((transcript.stopped.clone().unwrap_or(stop), transcript))
    }
}

/// Prints the result: the document, or the page.
pub(super) fn present(
    session: &Session<'_>,
    store: &dyn Store,
    transcript: &Transcript,
) -> Result<(), Error> {
    let (ui, id) = (session.ui, &transcript.opening.dialogue_id);
    match transcript.opening.protocol {
        Protocol::Council => {
            // Only what has ended can have become of anything.
            let record = transcript.ending.as_ref().map(|_| store.record(id)).transpose()?;
            let concluded = record.flatten().and_then(|record| record.conclusion);
            let outcomes = concluded.map(|concluded| concluded.outcomes).unwrap_or_default();
            ui.answer(&document(transcript), |_| draw(transcript, &outcomes, ui.canvas()))
        }
        Protocol::Alignment | Protocol::Review => {
            let record = store.record(id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
            ui.answer(&closed(transcript), |_| draw_closing(&record, transcript, ui.canvas()))
        }
    }
}

/// How the way a run ended becomes the way the program ends.
pub(super) fn done(stop: &Stop) -> Done {
    match stop {
        Stop::Done => Done::Well,
        Stop::Interrupted => Done::Interrupted,
        Stop::Quorum { .. }
        | Stop::Families { .. }
        | Stop::Partial { .. }
        | Stop::Budget { .. }
        | Stop::Unconcluded { .. }
        | Stop::Deadline => Done::Incomplete,
    }
}

/// What transports are made of: one HTTP client for the process, and patience for a rehearsal
/// that somebody watches.
pub(super) fn outlets(session: &Session<'_>) -> Outlets {
    let is_watched = std::io::stderr().is_terminal() && !session.ui.is_quiet();
    Outlets { pace: is_watched.then_some(REHEARSAL_PACE), ..Outlets::default() }
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
