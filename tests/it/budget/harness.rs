//! Harness of the budget tests: one store, one writer and one process lock for all councils.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plenary::ambient::{Ambient, Machine};
use plenary::domain::change::Change;
use plenary::domain::dice::SplitMix;
use plenary::domain::ids::DialogueId;
use plenary::domain::time::Moment;
use plenary::domain::transcript::{Stop, Transcript};
use plenary::engine::{
    self, BatchShare, InterventionWatcher, Journal, Limits, NoopObserver, ProcessLock, RunContext,
    RunObserver, RunQuestion,
};
use plenary::files::Folders;
use plenary::store::{SqliteStore, Store};
use tokio::sync::watch;

use super::random_runs::{RICH, Run, connections};

/// The real clock, with repeatable randomness.
#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Ambient for Counted {
    fn now(&self) -> Moment {
        Machine.now()
    }

    fn chance(&self) -> u64 {
        SplitMix::new(self.0.fetch_add(1, Ordering::Relaxed)).roll()
    }
}

/// Records the id that a council gets.
#[derive(Debug, Default)]
struct Named(OnceLock<DialogueId>);

impl RunObserver for Named {
    fn on_entry(&self, id: &DialogueId, _: Moment, _: &[Change]) {
        self.0.get_or_init(|| id.clone());
    }
}

/// Store, lock, journal writer and folders that the councils of a test share.
pub struct Hall {
    pub store: Arc<dyn Store>,
    owner: Arc<ProcessLock>,
    folders: Folders,
    ambient: Arc<dyn Ambient>,
    journal: Journal,
    _folder: tempfile::TempDir,
}

impl Hall {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
        let (journal, _) = Journal::start(store.clone());
        Self {
            owner: Arc::new(ProcessLock::new(&folder.path().join("plenary.db"), 1).unwrap()),
            folders: Folders::new(folder.path(), &folder.path().join("plenary.db"), &[]),
            ambient: Arc::new(Counted::default()),
            store,
            journal,
            _folder: folder,
        }
    }

    fn context(
        &self,
        observer: Arc<dyn RunObserver>,
        batch_share: Option<BatchShare>,
    ) -> RunContext {
        RunContext {
            protocols: plenary::protocols::Protocols::built_in(),
            journal: self.journal.clone(),
            process_lock: self.owner.clone(),
            folders: self.folders.clone(),
            store: self.store.clone(),
            watcher: InterventionWatcher::disabled(),
            ambient: self.ambient.clone(),
            observer,
            batch_share,
            daily_budget: None,
            redaction: Arc::default(),
        }
    }

    pub async fn hold(&self, run: &Run, share: Option<BatchShare>) -> (Stop, Transcript) {
        let question = RunQuestion {
            text: format!("Question {}?", run.number),
            protocol: &plenary::protocols::council::CouncilProtocol,
            rehearsal: true,
            plan: run.plan.clone(),
        };
        let named = Arc::new(Named::default());
        let context = self.context(named.clone(), share);
        let opened = engine::open_run(question, run.connections(), context);
        let council = opened.await.unwrap();
        if let Some(directive) = &run.directive {
            // Record the directive from outside: the run does not know it yet.
            let (store, ambient) = (self.store.as_ref(), self.ambient.as_ref());
            engine::intervene(store, ambient, named.0.get().unwrap(), directive).unwrap();
        }
        let stop = council.run(limits()).await.unwrap();
        (stop, council.into_transcript())
    }

    /// Resumes a stopped council without limits.
    pub async fn resume(&self, id: &DialogueId) -> (Stop, Transcript) {
        let loaded = engine::load_run(self.store.as_ref(), id).unwrap();
        let connections = connections(&loaded.transcript.plan);
        let context = self.context(Arc::new(NoopObserver), None);
        let taken =
            engine::resume_run(loaded, vec![Change::CapsSet { caps: RICH }], connections, context);
        let council = taken.await.unwrap();
        let stop = council.run(limits()).await.unwrap();
        (stop, council.into_transcript())
    }
}

fn limits() -> Limits {
    let (_, interrupted) = watch::channel(false);
    Limits { wall: Duration::from_secs(60), interrupted }
}
