//! One thread writes; whoever waits in the queue meanwhile shares its commit.
//!
//! Hundreds of councils at once would otherwise each pay for their own flush to
//! disk. Nothing is skipped for it: an answer comes back only when the commit that
//! holds it is durable.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::domain::change::{Change, EntryKind};
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::store::{End, Store, StoreError, Unit};

/// Writers that wait in the queue; one more waits before it.
const QUEUE_MAX: usize = 1_024;

/// Entries in one commit: enough to share a flush and the pages they touch, few enough that
/// nobody waits long for it. With 32, five hundred councils made half as many writes again.
const GROUP_MAX: usize = 256;

type Work = Box<dyn FnOnce(&mut dyn Unit) -> Result<Vec<Change>, Error> + Send>;

struct Job {
    work: Work,
    done: oneshot::Sender<Result<Vec<Change>, Error>>,
}

/// The way to the writer. When the last copy is gone the writer ends.
#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<Job>,
}

impl Journal {
    /// Starts the writer; the handle is for those who want to see it end.
    pub fn start(store: Arc<dyn Store>) -> (Self, JoinHandle<()>) {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let writer = std::thread::spawn(move || write_all(store.as_ref(), queue));
        (Self { jobs }, writer)
    }

    /// Appends one entry and returns when it is durable.
    pub(super) async fn append(
        &self,
        id: &DialogueId,
        kind: EntryKind,
        at: Moment,
        changes: Vec<Change>,
    ) -> Result<Vec<Change>, Error> {
        let id = id.clone();
        self.run(move |unit| {
            unit.apply(&id, kind, at, &changes)?;
            Ok(changes)
        })
        .await
    }

    /// Runs `work` in the next transaction. If it fails, nothing of it is kept, and the others
    /// in that transaction go on without it.
    pub(super) async fn run(
        &self,
        work: impl FnOnce(&mut dyn Unit) -> Result<Vec<Change>, Error> + Send + 'static,
    ) -> Result<Vec<Change>, Error> {
        let (done, answer) = oneshot::channel();
        let job = Job { work: Box::new(work), done };
        self.jobs.send(job).await.map_err(|_| StoreError::WriterGone)?;
        answer.await.map_err(|_| StoreError::WriterGone)?
    }
}

fn write_all(store: &dyn Store, mut queue: mpsc::Receiver<Job>) {
    let mut group = Vec::new();
    while queue.blocking_recv_many(&mut group, GROUP_MAX) > 0 {
        write(store, std::mem::take(&mut group));
    }
}

/// Runs a group in one transaction and tells everybody how it ended. Each job is a part of
/// its own: one that fails is undone alone, and only a commit that fails is everybody's.
fn write(store: &dyn Store, group: Vec<Job>) {
    let mut waiting = group.into_iter();
    let mut done = Vec::new();
    let written = store.write(&mut |unit| {
        for job in waiting.by_ref() {
            let mut work = Some(job.work);
            let mut outcome = None;
            let part = unit.part(&mut |unit| {
                outcome = work.take().map(|work| work(unit));
                if matches!(outcome, Some(Ok(_))) { End::Commit } else { End::RollBack }
            });
            let outcome = outcome.unwrap_or_else(|| Err(StoreError::NotRun.into()));
            done.push((job.done, part.map_err(Error::from).and(outcome)));
        }
        End::Commit
    });
    for (answer, outcome) in done {
        // Whoever does not listen any more was cancelled; the entry stands all the same.
        let _ = answer.send(match &written {
            Err(error) => Err(error.repeated().into()),
            Ok(()) => outcome,
        });
    }
    for job in waiting {
        let error = written.as_ref().err().map_or(StoreError::NotRun, StoreError::repeated);
        let _ = job.done.send(Err(error.into()));
    }
}
