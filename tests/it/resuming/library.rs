//! Runs the engine through the library, on a given store, and abandons it in the middle as a crash
//! would.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plenary::ambient::Machine;
use plenary::domain::ask::TransportKind;
use plenary::domain::change::{Change, Entry};
use plenary::domain::council::words::Mode;
use plenary::domain::ids::DialogueId;
use plenary::domain::plan::{
    Auditing, Caps, ConclusionPlan, ContextPack, Delivery, Plan, Quorum, Role, Seat, ShortCircuit,
    Stakes, Timeouts,
};
use plenary::domain::time::Moment;
use plenary::domain::transcript::{Stop, Transcript};
use plenary::engine::{
    Deliberation, InterventionWatcher, Journal, Limits, ProcessLock, RunContext, RunObserver,
    RunQuestion, SeatTransports, load_run, open_run, resume_run,
};
use plenary::files::Folders;
use plenary::providers::{Dialect, HttpClients, HttpTransport, Provider, Transport};
use plenary::store::{SqliteStore, Store, StoreError, transact};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::watch;

use super::attempts::{Life, replies, transcript};
use super::harness::named;
use super::scripted_seats::{Finale, life, play};
use crate::kit::{ModelServer, Play, Seen};

const WALL: Duration = Duration::from_secs(60);

/// Observer of a run: it receives an entry only after the store has reported it as durable.
#[derive(Debug, Default)]
pub struct Told {
    run: Mutex<Option<Transcript>>,
    /// The asks whose parse result was reported, in order.
    read: Mutex<Vec<u32>>,
}

impl RunObserver for Told {
    fn on_entry(&self, _: &DialogueId, at: Moment, changes: &[Change]) {
        for change in changes {
            let Change::ReplyRead { ask, .. } = change else { continue };
            self.read.lock().unwrap().push(*ask);
        }
        let mut told = self.run.lock().unwrap();
        match told.as_mut() {
            Some(known) => known.add(at, changes),
            None => *told = Transcript::begin(at, changes),
        }
    }
}

impl Told {
    pub fn replies(&self) -> Vec<String> {
        self.run.lock().unwrap().as_ref().map(replies).unwrap_or_default()
    }

    pub fn read(&self) -> Vec<u32> {
        self.read.lock().unwrap().clone()
    }

    pub fn is_cut_short(&self) -> bool {
        self.run.lock().unwrap().as_ref().is_some_and(|run| run.is_cut_short)
    }

    /// Whether a call was sent over this transport.
    pub fn was_sent_by(&self, kind: TransportKind) -> bool {
        let told = self.run.lock().unwrap();
        let mut calls = told.iter().flat_map(Transcript::calls);
        calls.any(|call| call.sending.transport == kind)
    }

    pub fn id(&self) -> DialogueId {
        self.run.lock().unwrap().as_ref().unwrap().opening.dialogue_id.clone()
    }
}

/// A folder with a correct store, and a model server for the three seats.
pub struct Library {
    folder: TempDir,
    pub server: ModelServer,
    pub store: Arc<SqliteStore>,
    /// How councils opened here end.
    pub finale: Finale,
}

impl Library {
    pub fn new(script: impl Fn(&Seen) -> Play + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&folder.path().join("plenary.db")).unwrap());
        Self { folder, server: ModelServer::start(script), store, finale: Finale::Report }
    }

    pub fn sound() -> Self {
        Self::new(play)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Connects each seat over HTTP, under the name of an attempt.
    pub fn connections(&self, life: &str) -> SeatTransports {
        let mut connections = SeatTransports::default();
        for name in ["ann", "bob", "cid"] {
            connections.add(name.parse().unwrap(), [self.http(name, life)].into());
        }
        connections
    }

    pub fn http(&self, name: &str, life: &str) -> Transport {
        let provider = Provider {
            model: format!("model-{name}"),
            base_url: Some(self.server.base_url().replace("/v1", &format!("/{life}/v1"))),
            ..self.server.provider(name, Dialect::OpenAi)
        };
        Transport::Http(HttpTransport::new(Arc::new(provider), Arc::<HttpClients>::default()))
    }

    /// Opens a council on this store and abandons it after this many answers.
    pub fn crash(
        &self,
        store: Arc<dyn Store>,
        life: &str,
        connections: SeatTransports,
        until: impl Fn(&Told) -> bool,
    ) -> (DialogueId, Life) {
        let told = Arc::new(Told::default());
        let owner = self.lock(1);
        self.drive(store, &told, &owner, async |context| {
            let plan = plan(self.finale);
            let question = RunQuestion {
                text: life.to_owned(),
                protocol: &plenary::protocols::council::CouncilProtocol,
                rehearsal: false,
                plan,
            };
            let run = open_run(question, connections, context).await.unwrap();
            let stop = tokio::select! {
                stop = finish(&run) => Some(stop),
                () = become_true(|| until(&told)) => None,
            };
            assert_eq!(stop, None, "it came to an end before it could crash");
        });
        let id = told.id();
        (id.clone(), self.life(life, &id, &told))
    }

    /// Writes the first entries of another store's journal, as if the process had died there.
    pub fn restore(&self, journal: &[Entry]) -> DialogueId {
        let id = transcript(journal).opening.dialogue_id;
        let written = transact(self.store.as_ref(), |unit| {
            let mut entries = journal.iter();
            entries.try_for_each(|entry| {
                unit.apply(&id, entry.kind, entry.at, &entry.changes).map(drop)
            })
        });
        written.map_err(|error: StoreError| error).unwrap();
        id
    }

    /// The lifecycle in the dialogue's row.
    pub fn standing(&self, id: &DialogueId) -> String {
        let connection = Connection::open(self.path().join("plenary.db")).unwrap();
        let found = "SELECT lifecycle FROM dialogues WHERE dialogue_id = ?1";
        connection.query_row(found, [id.as_str()], |row| row.get(0)).unwrap()
    }

    /// Resumes a council on the correct store and runs it to its end.
    pub fn resume(&self, id: &DialogueId, life: &str, connections: SeatTransports) -> Life {
        let told = Arc::new(Told::default());
        let owner = self.lock(2);
        self.drive(self.store.clone(), &told, &owner, async |context| {
            let loaded = load_run(self.store.as_ref(), id).unwrap();
            let run = resume_run(loaded, Vec::new(), connections, context).await.unwrap();
            assert_eq!(finish(&run).await, Stop::Done);
        });
        self.life(life, id, &told)
    }

    /// The lock of a process over this store.
    fn lock(&self, random: u64) -> Arc<ProcessLock> {
        Arc::new(ProcessLock::new(&self.path().join("plenary.db"), random).unwrap())
    }

    fn drive(
        &self,
        store: Arc<dyn Store>,
        told: &Arc<Told>,
        owner: &Arc<ProcessLock>,
        work: impl AsyncFnOnce(RunContext),
    ) {
        let (journal, writer) = Journal::start(store.clone());
        let (watcher, listening) = InterventionWatcher::start(store.clone());
        let context = RunContext {
            protocols: plenary::protocols::Protocols::built_in(),
            journal,
            process_lock: owner.clone(),
            folders: Folders::new(self.path(), &self.path().join("plenary.db"), &[]),
            store,
            watcher,
            ambient: Arc::new(Machine),
            observer: told.clone(),
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

    fn life(&self, name: &str, id: &DialogueId, told: &Told) -> Life {
        let seen = self.server.seen();
        Life {
            asked: seen.iter().filter(|seen| life(seen) == name).map(named).collect(),
            told: told.replies(),
            journal: self.store.entries(id, 0).unwrap(),
        }
    }
}

async fn finish(run: &Deliberation) -> Stop {
    let (_heard, interrupted) = watch::channel(false);
    run.run(Limits { wall: WALL, interrupted }).await.unwrap()
}

async fn become_true(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn plan(finale: Finale) -> Plan {
    let ending = |auditing| {
        let name = |name: &str| name.parse().unwrap();
        let (synthesizer, critic, reviser) = (name("ann"), name("bob"), name("ann"));
        Some(ConclusionPlan { synthesizer, critic, reviser, auditing })
    };
    Plan {
        mode: Mode::General,
        seats: ["ann", "bob", "cid"].map(seat).to_vec(),
        chairs: vec!["ann".parse().unwrap()],
        timeouts: Timeouts::default(),
        quorum: Quorum::default(),
        short_circuit: ShortCircuit::default(),
        conclusion: match finale {
            Finale::Report => None,
            Finale::Unaudited => ending(Auditing::Unaudited),
            Finale::Clean | Finale::Revised | Finale::Unconverged => ending(Auditing::Audited),
        },
        gate: None,
        stakes: Stakes::Normal,
        delivery: Delivery::Synthesis,
        anonymous_review: true,
        keep_prompts: true,
        caps: Caps::default(),
        secret: "0123456789abcdef0123456789abcdef".to_owned(),
        context: ContextPack::default().into(),
        rehearsal_script: None,
        notes: Vec::new(),
    }
}

fn seat(name: &str) -> Seat {
    Seat {
        name: name.parse().unwrap(),
        provider: name.parse().unwrap(),
        model: format!("model-{name}"),
        family: name.to_owned(),
        version: "1".to_owned(),
        roles: vec![Role::Participant, Role::Chair],
        transports: vec![TransportKind::Http],
        endpoint: None,
        price: None,
        output_tokens_max: 1_000,
        temperature: None,
        timeouts: None,
    }
}
