//! The one writer thread of a process; jobs that wait in its queue share a commit.
//!
//! Without it, hundreds of concurrent councils would each flush to disk. A job gets its answer only
//! when the commit that contains it is durable.

use std::sync::Arc;
use std::thread::JoinHandle;

use plenary_core::model::ask::{AskMessages, SharedBlock};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::plan::Plan;
use plenary_core::model::time::Moment;
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::store::error::StoreError;
use crate::store::traits::{Store, StoreTransaction, TransactionEnd};

/// Jobs in the queue; further senders wait.
const QUEUE_MAX: usize = 1_024;

/// Jobs in one commit: enough to share a flush and its pages, few enough to keep the wait short.
/// With 32, five hundred councils made half as many writes again.
const GROUP_MAX: usize = 256;

type WriteWork = Box<dyn FnOnce(&mut dyn StoreTransaction) -> Result<WrittenEntries, Error> + Send>;

struct WriteJob {
    work: WriteWork,
    done: oneshot::Sender<Result<WrittenEntries, Error>>,
}

/// What a job wrote: the number of entries, the number of the last one, and their changes.
#[derive(Debug, Default)]
pub(crate) struct WrittenEntries {
    pub entries: u64,
    pub last: u64,
    pub changes: Vec<JournalEvent>,
}

impl WrittenEntries {
    pub(crate) fn one_entry(seq: u64, changes: Vec<JournalEvent>) -> Self {
        Self { entries: 1, last: seq, changes }
    }
}

/// A handle of the writer. The writer ends when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct JournalWriter {
    jobs: mpsc::Sender<WriteJob>,
}

impl JournalWriter {
    /// Starts the writer; the thread handle lets a caller wait for its end.
    pub fn start_writer(store: Arc<dyn Store>) -> (Self, JoinHandle<()>) {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let writer = std::thread::spawn(move || write_all(store.as_ref(), queue));
        (Self { jobs }, writer)
    }

    /// Appends one entry and returns when it is durable.
    pub(crate) async fn append_entry(
        &self,
        id: &DialogueId,
        kind: JournalEntryKind,
        at: Moment,
        changes: Vec<JournalEvent>,
    ) -> Result<WrittenEntries, Error> {
        let id = id.clone();
        self.run_work(move |unit| {
            let seq = unit.append_entry(&id, kind, at, &changes)?;
            Ok(WrittenEntries::one_entry(seq, changes))
        })
        .await
    }

    /// Runs `work` in the next transaction. If it fails, its changes are rolled back and the other
    /// jobs of that transaction continue.
    pub(crate) async fn run_work(
        &self,
        work: impl FnOnce(&mut dyn StoreTransaction) -> Result<WrittenEntries, Error> + Send + 'static,
    ) -> Result<WrittenEntries, Error> {
        let (done, answer) = oneshot::channel();
        let job = WriteJob { work: Box::new(work), done };
        self.jobs.send(job).await.map_err(|_| StoreError::WriterGone)?;
        answer.await.map_err(|_| StoreError::WriterGone)?
    }
}

fn write_all(store: &dyn Store, mut queue: mpsc::Receiver<WriteJob>) {
    let mut group = Vec::new();
    while queue.blocking_recv_many(&mut group, GROUP_MAX) > 0 {
        write_group(store, std::mem::take(&mut group));
    }
}

/// Runs a group of jobs in one transaction and answers each. A job that fails is rolled back alone;
/// a commit that fails is the error of all jobs.
fn write_group(store: &dyn Store, group: Vec<WriteJob>) {
    let mut waiting = group.into_iter();
    let mut done = Vec::new();
    let mut broken = None;
    let written = store.write_transaction(&mut |unit| {
        for job in waiting.by_ref() {
            let mut work = Some(job.work);
            let mut outcome = None;
            let part = unit.run_savepoint(&mut |unit| {
                outcome = work.take().map(|work| work(unit));
                if matches!(outcome, Some(Ok(_))) {
                    TransactionEnd::Commit
                } else {
                    TransactionEnd::RollBack
                }
            });
            let outcome = outcome.unwrap_or_else(|| Err(StoreError::NotRun.into()));
            if let Err(error) = part {
                // The transaction is lost, for example because the disk is full, so no job is kept.
                // The error of the job is the cause; the failed rollback follows from it.
                broken = Some(match &outcome {
                    Err(Error::Store(cause)) => cause.to_shared(),
                    Ok(_) | Err(_) => error,
                });
                done.push((job.done, outcome));
                return TransactionEnd::RollBack;
            }
            done.push((job.done, outcome));
        }
        TransactionEnd::Commit
    });
    let failure = broken.or(written.err());
    for (answer, outcome) in done {
        // A receiver that is gone was cancelled; the entry is kept.
        let _ = answer.send(match &failure {
            Some(error) => Err(error.to_shared().into()),
            None => outcome,
        });
    }
    for job in waiting {
        let error = failure.as_ref().map_or(StoreError::NotRun, StoreError::to_shared);
        let _ = job.done.send(Err(error.into()));
    }
}

/// The messages as the journal keeps them. Sections that no earlier message has become blocks of the
/// run.
pub(crate) fn keep_sections(
    messages: &AskMessages,
    plan: &Plan,
    kept_blocks: &mut Vec<Arc<SharedBlock>>,
    prepared: &mut Vec<JournalEvent>,
) -> Arc<AskMessages> {
    let known = kept_blocks.len();
    let stored = messages.to_sections(kept_blocks);
    let added = kept_blocks.iter().skip(known);
    prepared.extend(added.map(|block| {
        JournalEvent::SharedBlockPrepared(Arc::new(block.without_files(&plan.context)))
    }));
    Arc::new(stored)
}

#[cfg(test)]
mod tests {
    use plenary_core::model::dialogue::{DialogueOpening, DialogueStatus, ProtocolKind};
    use plenary_core::model::validation_error::{ErrorCode, ValidationError};

    use super::*;
    use crate::store::sqlite::store::SqliteStore;
    use crate::store::traits::in_transaction;

    fn opened(name: &str) -> (DialogueId, Vec<JournalEvent>) {
        let id: DialogueId = name.parse().unwrap();
        let opening = DialogueOpening {
            dialogue_id: id.clone(),
            title: name.to_owned(),
            question: None,
            background: None,
            protocol: ProtocolKind::Council,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: name.to_owned(),
            calibrated: false,
            domain_id: None,
        };
        (id, vec![JournalEvent::DialogueOpened(opening)])
    }

    /// An opening whose text fills some pages of its own.
    fn long_opening(name: &str, at: Moment) -> WriteWork {
        let (id, mut changes) = opened(name);
        if let Some(JournalEvent::DialogueOpened(opening)) = changes.first_mut() {
            opening.question = Some("x".repeat(200_000));
        }
        Box::new(move |unit| {
            let seq = unit.append_entry(&id, JournalEntryKind::DialogueCreated, at, &changes)?;
            Ok(WrittenEntries::one_entry(seq, changes))
        })
    }

    #[test]
    fn a_full_disk_is_the_error_of_all_in_the_group_and_the_store_stays_whole() {
        let at: Moment = "2026-02-02T09:00:00Z".parse().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("plenary.db")).unwrap();
        let short = |name: &str| -> WriteWork {
            let (id, changes) = opened(name);
            Box::new(move |unit| {
                let seq =
                    unit.append_entry(&id, JournalEntryKind::DialogueCreated, at, &changes)?;
                Ok(WrittenEntries::one_entry(seq, changes))
            })
        };
        // A real SQLITE_FULL: the file may not grow.
        store.limit_pages(1);
        let works = [short("first"), long_opening("long", at), short("last")];
        let (jobs, answers): (Vec<_>, Vec<_>) = works.into_iter().map(job).unzip();
        write_group(&store, jobs);
        let ends: Vec<_> =
            answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect();
        assert!(matches!(ends.get(1), Some(Err(Error::Store(StoreError::DiskFull)))), "{ends:?}");
        let is_told = |end: &Result<WrittenEntries, Error>| {
            matches!(end, Ok(_) | Err(Error::Store(StoreError::DiskFull)))
        };
        assert!(ends.iter().all(is_told), "{ends:?}");
        let is_kept = |name: &str| store.load_dialogue(&name.parse().unwrap()).unwrap().is_some();
        let kept = ["first", "long", "last"].map(is_kept);
        let message: Vec<bool> = ends.iter().map(Result::is_ok).collect();
        assert_eq!(message, kept);
        assert_eq!(store.verify_record(None, None).unwrap().findings, []);
        // With room again the same work is done.
        store.limit_pages(u32::MAX - 1);
        let (jobs, answers): (Vec<_>, Vec<_>) =
            [long_opening("long", at)].into_iter().map(job).unzip();
        write_group(&store, jobs);
        assert!(answers.into_iter().all(|mut answer| answer.try_recv().unwrap().is_ok()));
        assert_eq!(store.verify_record(None, None).unwrap().findings, []);
    }

    #[test]
    fn an_operation_on_a_full_disk_says_that_the_disk_is_full() {
        let at: Moment = "2026-02-02T09:00:00Z".parse().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("plenary.db")).unwrap();
        store.limit_pages(1);
        let work = long_opening("long", at);
        let written: Result<WrittenEntries, Error> = in_transaction(&store, work);
        assert!(matches!(written, Err(Error::Store(StoreError::DiskFull))), "{written:?}");
    }

    fn job(work: WriteWork) -> (WriteJob, oneshot::Receiver<Result<WrittenEntries, Error>>) {
        let (done, answer) = oneshot::channel();
        (WriteJob { work, done }, answer)
    }

    #[test]
    fn work_that_fails_is_undone_alone() {
        let at: Moment = "2026-02-02T09:00:00Z".parse().unwrap();
        let store = SqliteStore::in_memory().unwrap();
        let opening = |name: &str| -> WriteWork {
            let (id, changes) = opened(name);
            Box::new(move |unit| {
                let seq =
                    unit.append_entry(&id, JournalEntryKind::DialogueCreated, at, &changes)?;
                Ok(WrittenEntries::one_entry(seq, changes))
            })
        };
        let refused: WriteWork = Box::new(move |unit| {
            let (id, changes) = opened("torn");
            unit.append_entry(&id, JournalEntryKind::DialogueCreated, at, &changes)?;
            Err(ValidationError::new(ErrorCode::NotSupported, "half done").into())
        });
        let broken: WriteWork = Box::new(move |unit| {
            let (id, changes) = opened("broken");
            unit.append_entry(&id, JournalEntryKind::DialogueCreated, at, &changes)?;
            let seq = unit.append_entry(&id, JournalEntryKind::DialogueCreated, at, &changes)?;
            Ok(WrittenEntries::one_entry(seq, changes))
        });
        let works = [opening("first"), refused, broken, opening("last")];
        let (jobs, answers): (Vec<_>, Vec<_>) = works.into_iter().map(job).unzip();
        write_group(&store, jobs);
        let ended: Vec<bool> =
            answers.into_iter().map(|mut answer| answer.try_recv().unwrap().is_ok()).collect();
        assert_eq!(ended, [true, false, false, true]);
        let status = |name: &str| {
            let id = name.parse().unwrap();
            store.load_dialogue(&id).unwrap().map(|dialogue| dialogue.status)
        };
        let kept = ["first", "torn", "broken", "last"].map(status);
        let open = Some(DialogueStatus::Open);
        assert_eq!(kept, [open, None, None, open]);
        assert_eq!(store.verify_record(None, None).unwrap().findings, []);
    }
}
