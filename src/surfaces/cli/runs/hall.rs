//! What runs happen in: the store's writer, the owner's lock, the runtime, and an
//! ear for Ctrl-C.

use std::future::Future;
use std::io::IsTerminal;
use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::super::session::{Done, Session};
use super::super::show::council::draw;
use super::super::show::draw_closing;
use super::super::show::gate::draw as draw_review;
use super::progress::Progress;
use crate::convening::Outlets;
use crate::domain::gate::Decision;
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::Deliberation;
use crate::error::{Error, Kind};
use crate::export::RunDocument;
use crate::hosting::{Desk, OpenDesk};
use crate::operations::Workspace;
use crate::record::no_dialogue;
use crate::store::Store;

/// How long a rehearsed reply takes on a terminal, so that a person can follow it.
const REHEARSAL_PACE: Duration = Duration::from_millis(900);

/// How much at once a runtime is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::surfaces::cli) enum Crowd {
    One,
    Many,
}

/// The runtime and the desk, on which lies what runs share.
#[derive(Debug)]
pub(in crate::surfaces::cli) struct Hall {
    floor: Arc<Floor>,
    open: OpenDesk,
    runtime: Runtime,
}

/// The desk, and whether somebody wants the work to stop.
#[derive(Debug)]
pub(in crate::surfaces::cli) struct Floor {
    pub desk: Arc<Desk>,
    interrupted: watch::Receiver<bool>,
}

impl Hall {
    pub(in crate::surfaces::cli) fn open(
        workspace: Workspace,
        crowd: Crowd,
    ) -> Result<Self, Error> {
        let runtime = match crowd {
            // One run waits for the network; a second thread would only cost a start.
            Crowd::One => Builder::new_current_thread().enable_all().build(),
            Crowd::Many => {
                open_as_many_as_allowed();
                Builder::new_multi_thread().enable_all().build()
            }
        };
        let runtime = runtime.map_err(Error::Runtime)?;
        let (heard, interrupted) = watch::channel(false);
        runtime.spawn(listen(heard));
        let open = OpenDesk::open(Arc::new(workspace), runtime.handle())?;
        let floor = Arc::new(Floor { desk: open.desk(), interrupted });
        Ok(Self { floor, open, runtime })
    }

    /// Holds one run to its end and shows what came of it.
    pub(in crate::surfaces::cli) fn hold<F>(
        self,
        session: &Session<'_>,
        progress: &Progress,
        work: impl FnOnce(Arc<Floor>) -> F,
    ) -> Result<Done, Error>
    where
        F: Future<Output = Result<(Stop, Transcript), Error>>,
    {
        let store = Arc::clone(&self.floor.desk.workspace.store);
        let ran = self.run(work);
        progress.clear();
        let (stop, transcript) = ran?;
        present(session, store.as_ref(), &transcript)?;
        Ok(done(&stop, &transcript))
    }

    /// Runs the work, and returns once everything is on disk.
    pub(in crate::surfaces::cli) fn run<F: Future>(
        self,
        work: impl FnOnce(Arc<Floor>) -> F,
    ) -> F::Output {
        let Self { floor, open, runtime } = self;
        let result = runtime.block_on(work(floor));
        // Tasks that were left behind let go of the desk here.
        runtime.shutdown_background();
        open.close();
        result
    }
}

impl Floor {
    pub(in crate::surfaces::cli) fn is_interrupted(&self) -> bool {
        *self.interrupted.borrow()
    }

    /// Lets a run go on to its end, and returns it as the journal has it.
    pub(in crate::surfaces::cli) async fn see_through(
        &self,
        run: Deliberation,
        wall: Duration,
    ) -> Result<(Stop, Transcript), Error> {
        self.desk.see_through(run, wall, self.interrupted.clone()).await
    }
}

/// Prints the result: the document, or the page.
pub(in crate::surfaces::cli) fn present(
    session: &Session<'_>,
    store: &dyn Store,
    transcript: &Transcript,
) -> Result<(), Error> {
    let (ui, id) = (session.ui, &transcript.opening.dialogue_id);
    match RunDocument::of(transcript) {
        RunDocument::Council(told) => {
            // Only what has ended can have become of anything.
            let record = transcript.ending.as_ref().map(|_| store.record(id)).transpose()?;
            let concluded = record.flatten().and_then(|record| record.conclusion);
            let outcomes = concluded.map(|concluded| concluded.outcomes).unwrap_or_default();
            ui.answer(&told, |_| draw(transcript, &outcomes, ui.canvas()))
        }
        RunDocument::Review(told) => ui.answer(&told, |_| draw_review(transcript, ui.canvas())),
        RunDocument::Closing(told) => {
            let record = store.record(id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
            ui.answer(&told, |_| draw_closing(&record, transcript, ui.canvas()))
        }
    }
}

/// How the way a run ended becomes the way the program ends. What a gate lets through is well.
pub(in crate::surfaces::cli) fn done(stop: &Stop, transcript: &Transcript) -> Done {
    match stop {
        Stop::Done => match transcript.ruling.as_ref().map(|ruling| ruling.verdict) {
            None if transcript.gate().is_some() => Done::Incomplete,
            Some(Decision::Ship) | None => Done::Well,
            Some(Decision::Revise) => Done::WithFindings,
            Some(Decision::Hold) => Done::Held,
        },
        Stop::Interrupted => Done::Interrupted,
        Stop::Quorum { .. }
        | Stop::Families { .. }
        | Stop::Partial { .. }
        | Stop::Budget { .. }
        | Stop::Unconcluded { .. }
        | Stop::Unadjudicated { .. }
        | Stop::Deadline => Done::Incomplete,
    }
}

/// What transports are made of: one HTTP client for the process, and patience for a rehearsal
/// that somebody watches.
pub(in crate::surfaces::cli) fn outlets(session: &Session<'_>) -> Outlets {
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
