//! Harness: the engine in this process, a store in memory, a scripted model server, and a panel of
//! three experts whom a Judge leads.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use plenary_core::dialogue::create::parse_expert_pool;
use plenary_core::ethos::conflict_ask::FIND_CONFLICTS;
use plenary_core::model::ask::{AskPurpose, TransportKind};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::plan::{BudgetCaps, Plan, Seat, SeatRole};
use plenary_core::model::run_state::RunStopReason;
use plenary_core::model::time::Moment;
use plenary_core::protocols::alignment::protocol::AlignmentProtocol;
use plenary_core::protocols::alignment::types::AlignmentPlan;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::app::export_record::print_record;
use plenary_engine::app::project::Project;
use plenary_engine::clock::RealSystem;
use plenary_engine::engine::interventions::{InterventionWatcher, record_intervention};
use plenary_engine::engine::journal::JournalWriter;
use plenary_engine::engine::process_lock::ProcessLock;
use plenary_engine::engine::run::{Run, RunContext, RunLimits, RunObserver};
use plenary_engine::engine::run_start::{
    RunQuestion, SeatTransports, load_run, load_run_state, open_run, resume_run,
};
use plenary_engine::files::allowed_folders::AllowedFolders;
use plenary_engine::providers::http::HttpTransport;
use plenary_engine::providers::http_clients::HttpClients;
use plenary_engine::providers::transport::{Dialect, Provider, Transport};
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::{Store, in_transaction};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use super::scripted_panel::usual_reply;
use crate::kit::{
    ModelRequest, ModelServer, ScriptedReply, council_driver, make_pool, purpose_of, value_at,
};

pub(crate) const QUESTION: &str = "Should the trust swap NVAI for NVDA?";

/// The experts of the pool, all of them on the first panel.
pub(crate) const EXPERTS: [&str; 3] = ["muffin", "cupcake", "scone"];

const JUDGE: &str = "the-judge";

/// Long enough for a busy machine.
const WALL_TIME_MAX: Duration = Duration::from_secs(60);

/// A request with what it asks for.
pub(crate) struct AlignmentRequest<'a> {
    pub purpose: AskPurpose,
    pub round: u8,
    /// Empty for the Judge.
    pub expert: String,
    /// From 1, for this expert, purpose and round.
    pub nth: usize,
    pub request: &'a ModelRequest,
}

impl AlignmentRequest<'_> {
    /// The texts in fences whose label begins so, each with the rest of its label.
    pub(crate) fn fenced_texts(&self, label: &str) -> Vec<(String, String)> {
        fenced_texts(&self.request.user, label)
    }

    /// Whether the last reply was refused.
    pub(crate) fn is_retry(&self) -> bool {
        !self.fenced_texts("REASON").is_empty()
    }

    /// What the panel usually replies.
    pub(crate) fn usual(&self) -> ScriptedReply {
        ScriptedReply::Reply(usual_reply(self))
    }

    /// The same as a document, with some fields replaced.
    pub(crate) fn usual_with(&self, fields: Value) -> ScriptedReply {
        let mut document: Value = serde_json::from_str(&usual_reply(self)).unwrap();
        let Value::Object(fields) = fields else { panic!("fields must be an object") };
        document.as_object_mut().unwrap().extend(fields);
        ScriptedReply::Reply(document.to_string())
    }
}

/// The texts in fences of a message whose label begins so, each with the rest of its label.
pub(crate) fn fenced_texts(user: &str, label: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = user.lines();
    while let Some(line) = lines.next() {
        let Some(opening) = line.strip_prefix("===== BEGIN ") else { continue };
        let closing = format!("===== END {opening}");
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != closing).collect();
        let (_, named) = opening.split_once(' ').unwrap();
        if let Some(rest) = named.strip_prefix(label) {
            let words = rest.trim_end_matches(" =====").rsplit_once(' ');
            found.push((words.map_or("", |(name, _)| name).to_owned(), text.join("\n")));
        }
    }
    found
}

/// What a request asks for: the purpose, the round and the expert.
pub(crate) fn read_request(seen: &ModelRequest) -> (AskPurpose, u8, String) {
    let own = seen.instructions();
    let after = |words: &str| own.split_once(words).map(|(_, rest)| rest);
    let round_after = |words: &str| {
        let digits = after(words)?.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u8>().ok()
    };
    if let Some(rest) = after("You are the expert `") {
        let expert = rest.split('`').next().unwrap().to_owned();
        let round = round_after("You take part in round ").unwrap();
        return (AskPurpose::Contribution, round, expert);
    }
    let steps = [
        ("you now compose the panel of round ", AskPurpose::Panel),
        ("The experts of round ", AskPurpose::Reconciliation),
    ];
    for (words, purpose) in steps {
        if let Some(round) = round_after(words) {
            return (purpose, round, String::new());
        }
    }
    let plain = [
        ("In this step you design the dialogue", AskPurpose::Design),
        ("you give the verdicts, once", AskPurpose::Verdicts),
        ("You look for conflicts between rules", FIND_CONFLICTS),
    ];
    let named = plain.iter().find(|(words, _)| own.contains(words));
    (named.map_or_else(|| purpose_of(seen), |(_, purpose)| *purpose), 0, String::new())
}

/// Observer that counts entries and records the run's id.
#[derive(Debug, Default)]
struct EntryCounter {
    entry_count: AtomicUsize,
    id: OnceLock<DialogueId>,
}

impl RunObserver for EntryCounter {
    fn on_entry(&self, id: &DialogueId, _: Moment, _: &[JournalEvent]) {
        self.entry_count.fetch_add(1, Ordering::SeqCst);
        self.id.get_or_init(|| id.clone());
    }
}

/// A folder, a store, a server and a plan.
pub(crate) struct AlignmentTest {
    folder: TempDir,
    pub store: Arc<dyn Store>,
    pub server: Arc<ModelServer>,
    pub question: String,
    pub plan: Plan,
    pub wall: Duration,
}

/// How a run ended, and what it left.
pub(crate) struct AlignmentResult {
    pub id: DialogueId,
    pub stop: RunStopReason,
    /// As `align --json` prints it.
    pub document: Value,
    pub export: Value,
    pub journal: Vec<JournalEntry>,
}

impl AlignmentResult {
    #[track_caller]
    pub(crate) fn value_at(&self, path: &str) -> &Value {
        value_at(&self.document, path)
    }

    /// Status, stop reason, whether it converged, and the number of rounds.
    #[track_caller]
    pub(crate) fn expect_end(&self, status: &str, reason: &str, converged: bool, rounds: usize) {
        let result = ["status", "stop_reason", "converged", "rounds"].map(|key| self.value_at(key));
        let expected = [json!(status), json!(reason), json!(converged), json!(rounds)];
        let shown = ["verdicts", "warnings", "error", "scoreboard"].map(|key| &self.document[key]);
        assert_eq!(result, expected.each_ref(), "{:?}\n{shown:#?}", self.stop);
    }

    /// The final verdict.
    #[track_caller]
    pub(crate) fn final_verdict(&self) -> &Value {
        let verdicts = self.value_at("verdicts").as_array().unwrap();
        verdicts.iter().find(|verdict| verdict["type"] == "final").expect("no final verdict")
    }

    /// The verdicts of this type: author and recommendation.
    pub(crate) fn verdicts_of(&self, kind: &str) -> Vec<(String, String)> {
        let verdicts = self.value_at("verdicts").as_array().unwrap();
        let text = |verdict: &Value, key: &str| verdict[key].as_str().unwrap_or("").to_owned();
        let of_kind = verdicts.iter().filter(|verdict| verdict["type"] == kind);
        of_kind.map(|verdict| (text(verdict, "author"), text(verdict, "recommendation"))).collect()
    }

    /// The status of a tension.
    pub(crate) fn tension_status(&self, id: &str) -> &str {
        let tensions = self.export["tensions"].as_array().unwrap();
        let found = tensions.iter().find(|tension| tension["id"] == id);
        found.unwrap_or_else(|| panic!("no {id}"))["status"].as_str().unwrap()
    }

    /// The ids of a kind in the record.
    pub(crate) fn ids_of(&self, kind: &str) -> Vec<&str> {
        let all = self.export[kind].as_array().unwrap();
        all.iter().map(|one| one["id"].as_str().unwrap()).collect()
    }
}

/// What another process does while the run goes on.
pub(crate) enum Interference {
    None,
    /// The process dies after this many entries.
    Die(usize),
    /// The Principal stops the dialogue after this many requests.
    Stop(usize),
    /// The Principal says these things after this many requests.
    Say(usize, Vec<Intervention>),
}

impl AlignmentTest {
    /// The panel replies as usual except where the script says otherwise.
    pub(crate) fn new(
        script: impl Fn(&AlignmentRequest<'_>) -> Option<ScriptedReply> + Send + Sync + 'static,
    ) -> Self {
        let counts: Mutex<HashMap<(AskPurpose, u8, String), usize>> = Mutex::default();
        let server = ModelServer::start(move |seen| {
            let (purpose, round, expert) = read_request(seen);
            let nth = {
                let mut counts = counts.lock().unwrap();
                let count = counts.entry((purpose, round, expert.clone())).or_default();
                *count += 1;
                *count
            };
            let asked = AlignmentRequest { purpose, round, expert, nth, request: seen };
            script(&asked).unwrap_or_else(|| asked.usual())
        });
        Self::with_server(Arc::new(server))
    }

    pub(crate) fn with_server(server: Arc<ModelServer>) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            store: Arc::new(SqliteStore::in_memory().unwrap()),
            server,
            question: QUESTION.to_owned(),
            plan: make_plan(),
            wall: WALL_TIME_MAX,
        }
    }

    /// Changes the rules of the dialogue.
    #[must_use]
    pub(crate) fn with_rules(mut self, change: impl FnOnce(&mut AlignmentPlan)) -> Self {
        let mut judged = self.plan.alignment.as_deref().unwrap().clone();
        change(&mut judged);
        self.plan.alignment = Some(Arc::new(judged));
        self
    }

    /// Runs the dialogue to its end.
    pub(crate) fn run(&self) -> AlignmentResult {
        self.run_with(None, &Interference::None)
    }

    pub(crate) fn resume(&self, id: &DialogueId) -> AlignmentResult {
        self.run_with(Some(id), &Interference::None)
    }

    /// Starts or resumes the dialogue, while another process interferes.
    pub(crate) fn run_with(
        &self,
        id: Option<&DialogueId>,
        interference: &Interference,
    ) -> AlignmentResult {
        let result = Arc::new(EntryCounter::default());
        let (journal, writer) = JournalWriter::start_writer(Arc::clone(&self.store));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stop = runtime.block_on(async {
            let (watcher, listening) = InterventionWatcher::start(Arc::clone(&self.store));
            tokio::spawn(listening);
            let file = self.folder.path().join("plenary.db");
            let context = RunContext {
                protocols: Protocols::built_in(),
                journal,
                process_lock: Arc::new(ProcessLock::new(&file, 1).unwrap()),
                folders: AllowedFolders::new(self.folder.path(), &file, &[]),
                store: Arc::clone(&self.store),
                watcher,
                ambient: Arc::new(RealSystem),
                observer: result.clone(),
                batch_share: None,
                daily_budget: None,
                redaction: Arc::default(),
            };
            let run = self.open_run(id, context).await;
            self.drive_run(&run, &result, interference).await
        });
        drop(runtime);
        writer.join().unwrap();
        self.read_result(result.id.get().unwrap(), stop)
    }

    async fn open_run(&self, id: Option<&DialogueId>, context: RunContext) -> Run {
        let begun = match id {
            Some(id) => {
                let loaded = load_run(self.store.as_ref(), id).unwrap();
                let connections = self.make_connections(&loaded.state.plan.seats);
                resume_run(loaded, Vec::new(), connections, context).await
            }
            None => {
                let question = RunQuestion {
                    text: self.question.clone(),
                    protocol: &AlignmentProtocol,
                    rehearsal: false,
                    plan: self.plan.clone(),
                    background: None,
                };
                open_run(question, self.make_connections(&self.plan.seats), context).await
            }
        };
        begun.unwrap()
    }

    /// Runs to the end, or to the moment at which the process dies.
    async fn drive_run(
        &self,
        run: &Run,
        result: &EntryCounter,
        interference: &Interference,
    ) -> RunStopReason {
        let (_heard, interrupted) = watch::channel(false);
        let mut running = pin!(run.run(RunLimits { wall: self.wall, interrupted }));
        loop {
            tokio::select! {
                stop = &mut running => return stop.unwrap(),
                () = tokio::time::sleep(Duration::from_millis(1)) => {}
            }
            match interference {
                Interference::Die(entries)
                    if result.entry_count.load(Ordering::SeqCst) >= *entries =>
                {
                    return RunStopReason::Interrupted;
                }
                Interference::Stop(requests) if self.server.requests().len() >= *requests => {
                    let (store, stop) = (self.store.as_ref(), Intervention::Stop);
                    let protocols = Protocols::built_in();
                    record_intervention(&protocols, store, &RealSystem, run.id(), &stop).unwrap();
                    return running.await.unwrap();
                }
                Interference::Say(requests, message)
                    if self.server.requests().len() >= *requests =>
                {
                    let protocols = Protocols::built_in();
                    for one in message {
                        let store = self.store.as_ref();
                        record_intervention(&protocols, store, &RealSystem, run.id(), one).unwrap();
                    }
                    return running.await.unwrap();
                }
                Interference::None
                | Interference::Die(_)
                | Interference::Stop(_)
                | Interference::Say(..) => {}
            }
        }
    }

    fn make_connections(&self, seats: &[Seat]) -> SeatTransports {
        let mut connections = SeatTransports::default();
        let clients = Arc::<HttpClients>::default();
        for seat in seats {
            let provider = Provider {
                model: seat.model.clone(),
                ..self.server.make_provider(seat.provider.as_str(), Dialect::OpenAi)
            };
            let http = HttpTransport::new(Arc::new(provider), Arc::clone(&clients));
            connections.add(seat.name.clone(), [Transport::Http(http)].into());
        }
        connections
    }

    /// What the record says now. It must not be damaged.
    pub(crate) fn read_result(&self, id: &DialogueId, stop: RunStopReason) -> AlignmentResult {
        assert_eq!(self.store.verify_record(None, None).unwrap().findings, [], "damaged");
        let protocols = Protocols::built_in();
        let state = load_run_state(&protocols, self.store.as_ref(), id).unwrap();
        let document = protocols.of_run(&state).unwrap().run_document(&state).unwrap();
        let project = self.open_project();
        let printed = print_record(&project, &json!({ "dialogue_id": id })).unwrap();
        let export = serde_json::from_str(&printed.text).unwrap();
        let journal = self.store.load_entries(id, 0).unwrap();
        AlignmentResult { id: id.clone(), stop, document, export, journal }
    }

    /// The Markdown export.
    pub(crate) fn markdown(&self, id: &DialogueId) -> String {
        let asked = json!({ "dialogue_id": id, "format": "markdown" });
        print_record(&self.open_project(), &asked).unwrap().text
    }

    /// The project that other commands see.
    pub(crate) fn open_project(&self) -> Project {
        let file = self.folder.path().join("plenary.db");
        let folders = AllowedFolders::new(self.folder.path(), &file, &[]);
        Project::new(Arc::clone(&self.store), Arc::new(RealSystem), folders)
    }

    /// Writes the first entries of another store's journal, as if the process had died there.
    pub(crate) fn restore_journal(&self, id: &DialogueId, journal: &[JournalEntry]) {
        let written = in_transaction(self.store.as_ref(), |unit| {
            let mut entries = journal.iter();
            entries.try_for_each(|entry| {
                unit.append_entry(id, entry.kind, entry.at, &entry.events).map(drop)
            })
        });
        written.map_err(|error: plenary_engine::store::error::StoreError| error).unwrap();
    }

    /// The requests for a purpose, with their rounds and experts.
    pub(crate) fn requests_for(&self, purpose: AskPurpose) -> Vec<(u8, String, ModelRequest)> {
        let seen = self.server.requests().into_iter();
        let read = seen.map(|seen| (read_request(&seen), seen));
        let of_purpose = read.filter(|((known, ..), _)| *known == purpose);
        of_purpose.map(|((_, round, expert), seen)| (round, expert, seen)).collect()
    }
}

/// Three experts of the pool, who are all seated, and a Judge.
fn make_plan() -> Plan {
    let seat = |name: &&str| Seat {
        transports: vec![TransportKind::Http],
        ..council_driver::make_seat(name, &format!("model-{name}"), name)
    };
    let mut seats: Vec<Seat> = ["ann", "bob", "cid"].iter().map(seat).collect();
    let experts = seats.iter().map(|seat| seat.name.clone()).collect();
    seats.push(Seat { roles: vec![SeatRole::Chair], ..seat(&JUDGE) });
    let pool = parse_expert_pool(&make_pool(&EXPERTS)).unwrap();
    Plan {
        chairs: vec![JUDGE.parse().unwrap()],
        caps: BudgetCaps {
            usd_micros: 1_000_000_000,
            tokens: 1_000_000_000,
            calls: 1_000,
            ..BudgetCaps::default()
        },
        alignment: Some(Arc::new(AlignmentPlan {
            judge: JUDGE.parse().unwrap(),
            experts,
            max_rounds: 5,
            convergence_percent: 100,
            panel_size: Some(EXPERTS.len()),
            pool: Some(pool),
            pool_only: true,
            panel_seed: 7,
            domain: None,
            constraints: Vec::new(),
            calibration: None,
        })),
        ..council_driver::make_plan(seats, council_driver::PLAN_SECRET)
    }
}
