//! What runs happen in: the runtime, the desk, and an ear for whoever says stop.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::super::session::{Done, Session};
use super::super::signals::stop_or_exit;
use super::presenting::{done, present};
use super::progress::Progress;
use crate::domain::transcript::{Stop, Transcript};
use crate::engine::Deliberation;
use crate::error::Error;
use crate::hosting::{Desk, OpenDesk};
use crate::operations::Workspace;
use crate::providers::sweep_scratch_folders;

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
        sweep_scratch_folders();
        let (heard, interrupted) = watch::channel(false);
        runtime.spawn(stop_or_exit(heard));
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
        let done = done(&stop, &transcript);
        match present(session, store.as_ref(), &transcript) {
            // A terminal that hung up cannot show it; the run stopped as it should.
            Err(Error::Output(_)) if done == Done::Interrupted => Ok(done),
            presented => presented.map(|()| done),
        }
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

/// Each call has a connection of its own, and the usual limit of a thousand files is that of
/// three hundred councils. Where it cannot be raised, a call that finds no connection says so.
pub(in crate::surfaces::cli) fn open_as_many_as_allowed() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
