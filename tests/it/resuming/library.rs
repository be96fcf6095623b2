//! Runs the engine through the library, on a given store, and abandons it in the middle as a crash
//! would.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::plan::{
    AuditMode, BudgetCaps, ConclusionPlan, ContextPack, DeliveryMode, Plan, QuorumRules,
    RoundTimeouts, Seat, SeatRole, ShortCircuitRules, StakesLevel,
};
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::time::Moment;
use plenary_core::protocols::council::protocol::CouncilProtocol;
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::clock::RealSystem;
use plenary_engine::engine::interventions::InterventionWatcher;
use plenary_engine::engine::journal::JournalWriter;
use plenary_engine::engine::process_lock::ProcessLock;
use plenary_engine::engine::run::{Run, RunContext, RunLimits, RunObserver};
use plenary_engine::engine::run_start::{
    RunQuestion, SeatTransports, load_run, open_run, resume_run,
};
use plenary_engine::files::allowed_folders::AllowedFolders;
use plenary_engine::providers::http::HttpTransport;
use plenary_engine::providers::http_clients::HttpClients;
use plenary_engine::providers::transport::{Dialect, Provider, Transport};
use plenary_engine::store::error::StoreError;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::{Store, in_transaction};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::watch;

use super::attempts::{RunAttempt, fold_journal, list_replies};
use super::harness::request_name;
use super::scripted_seats::{CouncilFinale, attempt_of_request, reply_to};
use crate::kit::{ModelRequest, ModelServer, ScriptedReply};

const WALL_TIME_MAX: Duration = Duration::from_secs(60);

/// Observer of a run: it receives an entry only after the store has reported it as durable.
#[derive(Debug, Default)]
pub struct RunRecorder {
    run_state: Mutex<Option<RunState>>,
    /// The asks whose parse result was reported, in order.
    parsed_asks: Mutex<Vec<u32>>,
}

impl RunObserver for RunRecorder {
    fn on_entry(&self, _: &DialogueId, at: Moment, changes: &[JournalEvent]) {
        for change in changes {
            let JournalEvent::ReplyParsed { ask, .. } = change else { continue };
            self.parsed_asks.lock().unwrap().push(*ask);
        }
        let mut result = self.run_state.lock().unwrap();
        match result.as_mut() {
            Some(known) => known.apply_events(at, changes),
            None => *result = RunState::from_first_entry(at, changes),
        }
    }
}

impl RunRecorder {
    pub fn received_replies(&self) -> Vec<String> {
        self.run_state.lock().unwrap().as_ref().map(list_replies).unwrap_or_default()
    }

    pub fn parsed_asks(&self) -> Vec<u32> {
        self.parsed_asks.lock().unwrap().clone()
    }

    pub fn is_stopped(&self) -> bool {
        self.run_state.lock().unwrap().as_ref().is_some_and(|run| run.is_cut_short)
    }

    /// Whether a call was sent over this transport.
    pub fn was_sent_by(&self, kind: TransportKind) -> bool {
        let result = self.run_state.lock().unwrap();
        let mut calls = result.iter().flat_map(RunState::all_calls);
        calls.any(|call| call.dispatch.transport == kind)
    }

    pub fn dialogue_id(&self) -> DialogueId {
        self.run_state.lock().unwrap().as_ref().unwrap().opening.dialogue_id.clone()
    }
}

/// A folder with a correct store, and a model server for the three seats.
pub struct LibraryHarness {
    folder: TempDir,
    pub server: ModelServer,
    pub store: Arc<SqliteStore>,
    /// How councils opened here end.
    pub finale: CouncilFinale,
}

impl LibraryHarness {
    pub fn new(script: impl Fn(&ModelRequest) -> ScriptedReply + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&folder.path().join("plenary.db")).unwrap());
        Self { folder, server: ModelServer::start(script), store, finale: CouncilFinale::Report }
    }

    pub fn with_valid_replies() -> Self {
        Self::new(reply_to)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Connects each seat over HTTP, under the name of an attempt.
    pub fn make_connections(&self, life: &str) -> SeatTransports {
        let mut connections = SeatTransports::default();
        for name in ["ann", "bob", "cid"] {
            connections.add(name.parse().unwrap(), [self.http_transport(name, life)].into());
        }
        connections
    }

    pub fn http_transport(&self, name: &str, life: &str) -> Transport {
        let provider = Provider {
            model: format!("model-{name}"),
            base_url: Some(self.server.base_url().replace("/v1", &format!("/{life}/v1"))),
            ..self.server.make_provider(name, Dialect::OpenAi)
        };
        Transport::Http(HttpTransport::new(Arc::new(provider), Arc::<HttpClients>::default()))
    }

    /// Opens a council on this store and abandons it after this many answers.
    pub fn crash_run(
        &self,
        store: Arc<dyn Store>,
        life: &str,
        connections: SeatTransports,
        until: impl Fn(&RunRecorder) -> bool,
    ) -> (DialogueId, RunAttempt) {
        let result = Arc::new(RunRecorder::default());
        let owner = self.lock(1);
        self.drive_run(store, &result, &owner, async |context| {
            let plan = make_plan(self.finale);
            let question = RunQuestion {
                text: life.to_owned(),
                protocol: &CouncilProtocol,
                rehearsal: false,
                plan,
                background: None,
            };
            let run = open_run(question, connections, context).await.unwrap();
            let stop = tokio::select! {
                stop = drive_to_end(&run) => Some(stop),
                () = wait_until_true(|| until(&result)) => None,
            };
            assert_eq!(stop, None, "it came to an end before it could crash");
        });
        let id = result.dialogue_id();
        (id.clone(), self.to_attempt(life, &id, &result))
    }

    /// Writes the first entries of another store's journal, as if the process had died there.
    pub fn restore_journal(&self, journal: &[JournalEntry]) -> DialogueId {
        let id = fold_journal(journal).opening.dialogue_id;
        let written = in_transaction(self.store.as_ref(), |unit| {
            let mut entries = journal.iter();
            entries.try_for_each(|entry| {
                unit.append_entry(&id, entry.kind, entry.at, &entry.events).map(drop)
            })
        });
        written.map_err(|error: StoreError| error).unwrap();
        id
    }

    /// The lifecycle in the dialogue's row.
    pub fn lifecycle_of(&self, id: &DialogueId) -> String {
        let connection = Connection::open(self.path().join("plenary.db")).unwrap();
        let found = "SELECT lifecycle FROM dialogues WHERE dialogue_id = ?1";
        connection.query_row(found, [id.as_str()], |row| row.get(0)).unwrap()
    }

    /// Resumes a council on the correct store and runs it to its end.
    pub fn resume_run(
        &self,
        id: &DialogueId,
        life: &str,
        connections: SeatTransports,
    ) -> RunAttempt {
        let result = Arc::new(RunRecorder::default());
        let owner = self.lock(2);
        self.drive_run(self.store.clone(), &result, &owner, async |context| {
            let loaded = load_run(self.store.as_ref(), id).unwrap();
            let run = resume_run(loaded, Vec::new(), connections, context).await.unwrap();
            assert_eq!(drive_to_end(&run).await, RunStopReason::Done);
        });
        self.to_attempt(life, id, &result)
    }

    /// The lock of a process over this store.
    fn lock(&self, random: u64) -> Arc<ProcessLock> {
        Arc::new(ProcessLock::new(&self.path().join("plenary.db"), random).unwrap())
    }

    fn drive_run(
        &self,
        store: Arc<dyn Store>,
        result: &Arc<RunRecorder>,
        owner: &Arc<ProcessLock>,
        work: impl AsyncFnOnce(RunContext),
    ) {
        let (journal, writer) = JournalWriter::start_writer(store.clone());
        let (watcher, listening) = InterventionWatcher::start(store.clone());
        let context = RunContext {
            protocols: Protocols::built_in(),
            journal,
            process_lock: owner.clone(),
            folders: AllowedFolders::new(self.path(), &self.path().join("plenary.db"), &[]),
            store,
            watcher,
            ambient: Arc::new(RealSystem),
            observer: result.clone(),
            batch_share: None,
            daily_budget: None,
            redaction: Arc::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.spawn(listening);
        runtime.block_on(work(context));
        drop(runtime);
        writer.join().unwrap();
    }

    fn to_attempt(&self, name: &str, id: &DialogueId, result: &RunRecorder) -> RunAttempt {
        let seen = self.server.requests();
        RunAttempt {
            requests: seen
                .iter()
                .filter(|seen| attempt_of_request(seen) == name)
                .map(request_name)
                .collect(),
            reported: result.received_replies(),
            journal: self.store.load_entries(id, 0).unwrap(),
        }
    }
}

async fn drive_to_end(run: &Run) -> RunStopReason {
    let (_heard, interrupted) = watch::channel(false);
    run.run(RunLimits { wall: WALL_TIME_MAX, interrupted }).await.unwrap()
}

async fn wait_until_true(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn make_plan(finale: CouncilFinale) -> Plan {
    let ending = |auditing| {
        let name = |name: &str| name.parse().unwrap();
        let (synthesizer, critic, reviser) = (name("ann"), name("bob"), name("ann"));
        Some(ConclusionPlan { synthesizer, critic, reviser, auditing })
    };
    Plan {
        mode: QuestionMode::General,
        seats: ["ann", "bob", "cid"].map(make_seat).to_vec(),
        chairs: vec!["ann".parse().unwrap()],
        timeouts: RoundTimeouts::default(),
        quorum: QuorumRules::default(),
        short_circuit: ShortCircuitRules::default(),
        conclusion: match finale {
            CouncilFinale::Report => None,
            CouncilFinale::Unaudited => ending(AuditMode::Unaudited),
            CouncilFinale::Clean | CouncilFinale::Revised | CouncilFinale::Unconverged => {
                ending(AuditMode::Audited)
            }
        },
        review: None,
        alignment: None,
        stakes: StakesLevel::Normal,
        delivery: DeliveryMode::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: BudgetCaps::default(),
        secret: "0123456789abcdef0123456789abcdef".to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

fn make_seat(name: &str) -> Seat {
    Seat {
        name: name.parse().unwrap(),
        provider: name.parse().unwrap(),
        model: format!("model-{name}"),
        family: name.to_owned(),
        version: "1".to_owned(),
        roles: vec![SeatRole::Participant, SeatRole::Chair],
        transports: vec![TransportKind::Http],
        endpoint: None,
        price: None,
        output_tokens_max: 1_000,
        temperature: None,
        input_tokens_max: None,
        effort: None,
        lens: None,
        timeouts: None,
    }
}
