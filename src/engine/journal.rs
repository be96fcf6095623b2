//! The one writer thread of a process; jobs that wait in its queue share a commit.
//!
//! Without it, hundreds of concurrent councils would each flush to disk. A job gets its answer only
//! when the commit that contains it is durable.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::domain::change::{Change, EntryKind};
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::store::{End, Store, StoreError, Unit};

/// Jobs in the queue; further senders wait.
const QUEUE_MAX: usize = 1_024;

/// Jobs in one commit: enough to share a flush and its pages, few enough to keep the wait short.
/// With 32, five hundred councils made half as many writes again.
const GROUP_MAX: usize = 256;

type Work = Box<dyn FnOnce(&mut dyn Unit) -> Result<Written, Error> + Send>;

struct Job {
    work: Work,
    done: oneshot::Sender<Result<Written, Error>>,
}

/// What a job wrote: the number of entries, the number of the last one, and their changes.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub entries: u64,
    pub last: u64,
    pub changes: Vec<Change>,
}

impl Written {
    pub(super) fn one(seq: u64, changes: Vec<Change>) -> Self {
        Self { entries: 1, last: seq, changes }
    }
}

/// A handle of the writer. The writer ends when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<Job>,
}

impl Journal {
    /// Starts the writer; the thread handle lets a caller wait for its end.
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
    ) -> Result<Written, Error> {
        let id = id.clone();
        self.run(move |unit| {
            let seq = unit.apply(&id, kind, at, &changes)?;
            Ok(Written::one(seq, changes))
        })
        .await
    }

    /// Runs `work` in the next transaction. If it fails, its changes are rolled back and the other
    /// jobs of that transaction continue.
    pub(super) async fn run(
        &self,
        work: impl FnOnce(&mut dyn Unit) -> Result<Written, Error> + Send + 'static,
    ) -> Result<Written, Error> {
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

/// Runs a group of jobs in one transaction and answers each. A job that fails is rolled back alone;
/// a commit that fails is the error of all jobs.
fn write(store: &dyn Store, group: Vec<Job>) {
    let mut waiting = group.into_iter();
    let mut done = Vec::new();
    let mut broken = None;
    let written = store.write(&mut |unit| {
        for job in waiting.by_ref() {
            let mut work = Some(job.work);
            let mut outcome = None;
            let part = unit.part(&mut |unit| {
                outcome = work.take().map(|work| work(unit));
                if matches!(outcome, Some(Ok(_))) { End::Commit } else { End::RollBack }
            });
            let outcome = outcome.unwrap_or_else(|| Err(StoreError::NotRun.into()));
            if let Err(error) = part {
                // The transaction is lost, for example because the disk is full, so no job is kept.
                // The error of the job is the cause; the failed rollback follows from it.
                broken = Some(match &outcome {
                    Err(Error::Store(cause)) => cause.repeated(),
                    Ok(_) | Err(_) => error,
                });
                done.push((job.done, outcome));
                return End::RollBack;
            }
            done.push((job.done, outcome));
        }
        End::Commit
    });
    let failure = broken.or(written.err());
    for (answer, outcome) in done {
        // A receiver that is gone was cancelled; the entry is kept.
        let _ = answer.send(match &failure {
            Some(error) => Err(error.repeated().into()),
            None => outcome,
        });
    }
    for job in waiting {
        let error = failure.as_ref().map_or(StoreError::NotRun, StoreError::repeated);
        let _ = job.done.send(Err(error.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::dialogue::{DialogueStatus, Opening, Protocol};
    use crate::domain::refusal::{Code, Fault};
    use crate::store::SqliteStore;

    fn opened(name: &str) -> (DialogueId, Vec<Change>) {
        let id: DialogueId = name.parse().unwrap();
        let opening = Opening {
            dialogue_id: id.clone(),
            title: name.to_owned(),
            question: None,
            background: None,
            protocol: Protocol::Council,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: name.to_owned(),
        };
        (id, vec![Change::DialogueOpened(opening)])
    }

    /// An opening whose text fills some pages of its own.
    fn long_opening(name: &str, at: Moment) -> Work {
        let (id, mut changes) = opened(name);
        if let Some(Change::DialogueOpened(opening)) = changes.first_mut() {
            opening.question = Some("x".repeat(200_000));
        }
        Box::new(move |unit| {
            let seq = unit.apply(&id, EntryKind::DialogueCreated, at, &changes)?;
            Ok(Written::one(seq, changes))
        })
    }

    #[test]
    fn a_full_disk_is_the_error_of_all_in_the_group_and_the_store_stays_whole() {
        let at: Moment = "2026-02-02T09:00:00Z".parse().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("plenary.db")).unwrap();
        let short = |name: &str| -> Work {
            let (id, changes) = opened(name);
            Box::new(move |unit| {
                let seq = unit.apply(&id, EntryKind::DialogueCreated, at, &changes)?;
                Ok(Written::one(seq, changes))
            })
        };
        // A real SQLITE_FULL: the file may not grow.
        store.limit_pages(1);
        let works = [short("first"), long_opening("long", at), short("last")];
        let (jobs, answers): (Vec<_>, Vec<_>) = works.into_iter().map(job).unzip();
        write(&store, jobs);
        let ends: Vec<_> =
            answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect();
        assert!(matches!(ends.get(1), Some(Err(Error::Store(StoreError::DiskFull)))), "{ends:?}");
        let is_told = |end: &Result<Written, Error>| {
            matches!(end, Ok(_) | Err(Error::Store(StoreError::DiskFull)))
        };
        assert!(ends.iter().all(is_told), "{ends:?}");
        let is_kept = |name: &str| store.dialogue(&name.parse().unwrap()).unwrap().is_some();
        let kept = ["first", "long", "last"].map(is_kept);
        let said: Vec<bool> = ends.iter().map(Result::is_ok).collect();
        assert_eq!(said, kept);
        assert_eq!(store.verify(None, None).unwrap().findings, []);
        // With room again the same work is done.
        store.limit_pages(u32::MAX - 1);
        let (jobs, answers): (Vec<_>, Vec<_>) =
            [long_opening("long", at)].into_iter().map(job).unzip();
        write(&store, jobs);
        assert!(answers.into_iter().all(|mut answer| answer.try_recv().unwrap().is_ok()));
        assert_eq!(store.verify(None, None).unwrap().findings, []);
    }

    #[test]
    fn an_operation_on_a_full_disk_says_that_the_disk_is_full() {
        let at: Moment = "2026-02-02T09:00:00Z".parse().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("plenary.db")).unwrap();
        store.limit_pages(1);
        let work = long_opening("long", at);
        let written: Result<Written, Error> = crate::store::transact(&store, work);
        assert!(matches!(written, Err(Error::Store(StoreError::DiskFull))), "{written:?}");
    }

    fn job(work: Work) -> (Job, oneshot::Receiver<Result<Written, Error>>) {
        let (done, answer) = oneshot::channel();
        (Job { work, done }, answer)
    }

    #[test]
    fn work_that_fails_is_undone_alone() {
        let at: Moment = "2026-02-02T09:00:00Z".parse().unwrap();
        let store = SqliteStore::in_memory().unwrap();
        let opening = |name: &str| -> Work {
            let (id, changes) = opened(name);
            Box::new(move |unit| {
                let seq = unit.apply(&id, EntryKind::DialogueCreated, at, &changes)?;
                Ok(Written::one(seq, changes))
            })
        };
        let refused: Work = Box::new(move |unit| {
            let (id, changes) = opened("torn");
            unit.apply(&id, EntryKind::DialogueCreated, at, &changes)?;
            Err(Fault::new(Code::NotSupported, "half done").into())
        });
        let broken: Work = Box::new(move |unit| {
            let (id, changes) = opened("broken");
            unit.apply(&id, EntryKind::DialogueCreated, at, &changes)?;
            let seq = unit.apply(&id, EntryKind::DialogueCreated, at, &changes)?;
            Ok(Written::one(seq, changes))
        });
        let works = [opening("first"), refused, broken, opening("last")];
        let (jobs, answers): (Vec<_>, Vec<_>) = works.into_iter().map(job).unzip();
        write(&store, jobs);
        let ended: Vec<bool> =
            answers.into_iter().map(|mut answer| answer.try_recv().unwrap().is_ok()).collect();
        assert_eq!(ended, [true, false, false, true]);
        let status = |name: &str| {
            let id = name.parse().unwrap();
            store.dialogue(&id).unwrap().map(|dialogue| dialogue.status)
        };
        let kept = ["first", "torn", "broken", "last"].map(status);
        let open = Some(DialogueStatus::Open);
        assert_eq!(kept, [open, None, None, open]);
        assert_eq!(store.verify(None, None).unwrap().findings, []);
    }
}
