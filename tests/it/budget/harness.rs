//! Harness of the budget tests: one store, one writer and one process lock for all councils.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::time::Moment;
use plenary_core::protocols::council::protocol::CouncilProtocol;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::clock::{RealSystem, System};
use plenary_engine::engine::call_budget::BatchShare;
use plenary_engine::engine::interventions::{InterventionWatcher, record_intervention};
use plenary_engine::engine::journal::JournalWriter;
use plenary_engine::engine::process_lock::ProcessLock;
use plenary_engine::engine::run::{NoopObserver, RunContext, RunLimits, RunObserver};
use plenary_engine::engine::run_start::{RunQuestion, load_run, open_run, resume_run};
use plenary_engine::files::allowed_folders::AllowedFolders;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use tokio::sync::watch;

use super::random_runs::{RandomRun, UNLIMITED_CAPS, scripted_connections};

/// The real clock, with repeatable randomness.
#[derive(Debug, Default)]
struct CountingClock(AtomicU64);

impl System for CountingClock {
    fn now(&self) -> Moment {
        RealSystem.now()
    }

    fn random_u64(&self) -> u64 {
        SeededRandom::new(self.0.fetch_add(1, Ordering::Relaxed)).next_u64()
    }
}

/// Records the id that a council gets.
#[derive(Debug, Default)]
struct RunIdObserver(OnceLock<DialogueId>);

impl RunObserver for RunIdObserver {
    fn on_entry(&self, id: &DialogueId, _: Moment, _: &[JournalEvent]) {
        self.0.get_or_init(|| id.clone());
    }
}

/// Store, lock, journal writer and folders that the councils of a test share.
pub struct BudgetHarness {
    pub store: Arc<dyn Store>,
    owner: Arc<ProcessLock>,
    folders: AllowedFolders,
    ambient: Arc<dyn System>,
    journal: JournalWriter,
    _folder: tempfile::TempDir,
}

impl BudgetHarness {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
        let (journal, _) = JournalWriter::start_writer(store.clone());
        Self {
            owner: Arc::new(ProcessLock::new(&folder.path().join("plenary.db"), 1).unwrap()),
            folders: AllowedFolders::new(folder.path(), &folder.path().join("plenary.db"), &[]),
            ambient: Arc::new(CountingClock::default()),
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
            protocols: Protocols::built_in(),
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

    pub async fn run_council(
        &self,
        run: &RandomRun,
        share: Option<BatchShare>,
    ) -> (RunStopReason, RunState) {
        let question = RunQuestion {
            text: format!("Question {}?", run.number),
            protocol: &CouncilProtocol,
            rehearsal: true,
            plan: run.plan.clone(),
            background: None,
        };
        let named = Arc::new(RunIdObserver::default());
        let context = self.context(named.clone(), share);
        let opened = open_run(question, run.make_connections(), context);
        let council = opened.await.unwrap();
        if let Some(directive) = &run.directive {
            // Record the directive from outside: the run does not know it yet.
            let (store, ambient) = (self.store.as_ref(), self.ambient.as_ref());
            let protocols = Protocols::built_in();
            let id = named.0.get().unwrap();
            record_intervention(&protocols, store, ambient, id, directive).unwrap();
        }
        let stop = council.run(test_limits()).await.unwrap();
        (stop, council.into_state())
    }

    /// Resumes a stopped council without limits.
    pub async fn resume_council(&self, id: &DialogueId) -> (RunStopReason, RunState) {
        let loaded = load_run(self.store.as_ref(), id).unwrap();
        let connections = scripted_connections(&loaded.state.plan);
        let context = self.context(Arc::new(NoopObserver), None);
        let taken = resume_run(
            loaded,
            vec![JournalEvent::CapsSet { caps: UNLIMITED_CAPS }],
            connections,
            context,
        );
        let council = taken.await.unwrap();
        let stop = council.run(test_limits()).await.unwrap();
        (stop, council.into_state())
    }
}

fn test_limits() -> RunLimits {
    let (_, interrupted) = watch::channel(false);
    RunLimits { wall: Duration::from_secs(60), interrupted }
}
