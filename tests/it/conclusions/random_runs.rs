//! A random run: its panel, files, interventions and the moments at which its process dies.

use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plenary_core::model::ask::{CallCost, CostSource, FinishReason, ModelReply};
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::{DirectiveRestatement, Intervention};
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::plan::{
    AuditMode, BudgetCaps, ConclusionPlan, ContextFile, ContextPack, Plan, Seat, SeatRole,
};
use plenary_core::model::run_state::RunStopReason;
use plenary_core::model::time::Moment;
use plenary_core::protocols::council::protocol::CouncilProtocol;
use plenary_core::protocols::council::types::QuestionMode;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::clock::RealSystem;
use plenary_engine::engine::interventions::{InterventionWatcher, record_intervention};
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
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use tokio::sync::watch;

use super::canary::CanaryString;
use super::random_models::RandomModels;
use crate::kit::{ModelRequest, ModelServer, council_driver};

pub(super) const QUESTION: &str = "Shall we go ahead?";

/// Participants first, then seats that only write or audit the conclusion.
const NAMES: [&str; 5] = ["ann", "bob", "cid", "dora", "eve"];
const EXTRA_SEATS: [&str; 3] = ["max", "ned", "olga"];

const WALL_TIME_MAX: Duration = Duration::from_secs(60);
const PROCESSES_MAX: usize = 8;

/// Result of a random run.
pub(super) struct RandomRunResult {
    pub canary: CanaryString,
    pub seen: Vec<ModelRequest>,
    pub journal: Vec<JournalEntry>,
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

impl EntryCounter {
    async fn wait_for_entries(&self, times: usize) {
        while self.entry_count.load(Ordering::SeqCst) < times {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Draws a run and executes it, process after process, until it ends or reaches the limit.
pub(super) fn run_random(seed: u64) -> RandomRunResult {
    let secret = format!("{seed:032x}");
    let canary = CanaryString::from_secret(&secret);
    let mut dice = SeededRandom::from_secret(&secret, "lot");
    let plan = random_plan(&secret, &canary, &mut dice);
    let manners = RandomModels::new(&secret, &canary);
    let server = ModelServer::start(move |seen| manners.choose_reply(seen));
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    let lot = RandomRunDriver {
        folder: folder.path(),
        store,
        server: &server,
        plan: &plan,
        canary: &canary,
    };
    let mut id = None;
    for life in 0..PROCESSES_MAX {
        let (lived, stop) = lot.run_process(id.as_ref(), life as u64, &mut dice);
        id = Some(lived);
        if stop == Some(RunStopReason::Done) {
            break;
        }
    }
    let journal = lot.store.load_entries(&id.unwrap(), 0).unwrap();
    assert_eq!(lot.store.verify_record(None, None).unwrap().findings, [], "seed {seed}");
    RandomRunResult { canary, seen: server.requests(), journal }
}

struct RandomRunDriver<'a> {
    folder: &'a Path,
    store: Arc<dyn Store>,
    server: &'a ModelServer,
    plan: &'a Plan,
    canary: &'a CanaryString,
}

impl RandomRunDriver<'_> {
    /// One process: opens or resumes the run, and completes or dies.
    fn run_process(
        &self,
        id: Option<&DialogueId>,
        life: u64,
        dice: &mut SeededRandom,
    ) -> (DialogueId, Option<RunStopReason>) {
        let result = Arc::new(EntryCounter::default());
        let owner = Arc::new(ProcessLock::new(&self.folder.join("plenary.db"), life).unwrap());
        let (journal, writer) = JournalWriter::start_writer(Arc::clone(&self.store));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lived = runtime.block_on(async {
            let (watcher, listening) = InterventionWatcher::start(Arc::clone(&self.store));
            tokio::spawn(listening);
            let context = RunContext {
                protocols: Protocols::built_in(),
                journal,
                process_lock: owner.clone(),
                folders: AllowedFolders::new(self.folder, &self.folder.join("plenary.db"), &[]),
                store: Arc::clone(&self.store),
                watcher,
                ambient: Arc::new(RealSystem),
                observer: result.clone(),
                batch_share: None,
                daily_budget: None,
                redaction: Arc::default(),
            };
            let run = self.open_run(id, context, dice).await;
            let id = result.id.get().unwrap().clone();
            let stop = self.run_until_death(&run, &id, &result, dice).await;
            (id, stop)
        });
        drop(runtime);
        writer.join().unwrap();
        lived
    }

    async fn open_run(
        &self,
        id: Option<&DialogueId>,
        context: RunContext,
        dice: &mut SeededRandom,
    ) -> Run {
        let connections = self.make_connections();
        let begun = match id {
            Some(id) => {
                let loaded = load_run(self.store.as_ref(), id).unwrap();
                if dice.next_u64().is_multiple_of(3) {
                    // An intervention between reading the journal and claiming the run.
                    self.send_intervention(id, dice);
                }
                resume_run(loaded, Vec::new(), connections, context).await
            }
            None => {
                let (text, plan) = (QUESTION.to_owned(), self.plan.clone());
                let question = RunQuestion {
                    text,
                    protocol: &CouncilProtocol,
                    rehearsal: false,
                    plan,
                    background: None,
                };
                open_run(question, connections, context).await
            }
        };
        begun.unwrap()
    }

    /// Runs to the end or to the chosen moment of death, with interventions in parallel.
    async fn run_until_death(
        &self,
        run: &Run,
        id: &DialogueId,
        result: &EntryCounter,
        dice: &mut SeededRandom,
    ) -> Option<RunStopReason> {
        let (_heard, interrupted) = watch::channel(false);
        let mut running = pin!(run.run(RunLimits { wall: WALL_TIME_MAX, interrupted }));
        let mut moment = 0;
        loop {
            moment += 1 + dice.next_u64() as usize % 8;
            tokio::select! {
                stop = &mut running => return Some(stop.unwrap()),
                () = result.wait_for_entries(moment) => {}
            }
            if dice.next_u64().is_multiple_of(5) {
                return None;
            }
            self.send_intervention(id, dice);
        }
    }

    /// Sends an intervention with a new text. It may arrive too late.
    fn send_intervention(&self, id: &DialogueId, dice: &mut SeededRandom) {
        let text = format!("{} {:016x}", self.canary.make_sentence(), dice.next_u64());
        let word = match dice.next_u64() % 9 {
            0 => Intervention::Stop,
            1 | 2 => Intervention::Directive {
                restatement: Some(DirectiveRestatement {
                    seat: self.plan.chairs[0].clone(),
                    sentence: self.canary.make_sentence(),
                    reply: scripted_reply(self.canary.make_sentence()),
                }),
                text,
                confirmed: dice.next_u64().is_multiple_of(2),
            },
            3 | 4 => {
                let seat = &self.plan.seats[dice.next_u64() as usize % 2];
                Intervention::Whisper { text, to: Some(seat.name.clone()) }
            }
            _ => Intervention::Whisper { text, to: None },
        };
        let _ = record_intervention(
            &Protocols::built_in(),
            self.store.as_ref(),
            &RealSystem,
            id,
            &word,
        );
    }

    fn make_connections(&self) -> SeatTransports {
        let mut connections = SeatTransports::default();
        let clients = Arc::<HttpClients>::default();
        for seat in &self.plan.seats {
            let provider = Provider {
                model: seat.model.clone(),
                ..self.server.make_provider(seat.name.as_str(), Dialect::OpenAi)
            };
            let http = HttpTransport::new(Arc::new(provider), Arc::clone(&clients));
            connections.add(seat.name.clone(), [Transport::Http(http)].into());
        }
        connections
    }
}

/// Two to five participants; synthesizer, critic and reviser may be among them.
fn random_plan(secret: &str, canary: &CanaryString, dice: &mut SeededRandom) -> Plan {
    let mut below = |limit: usize| (dice.next_u64() % limit as u64) as usize;
    let participants = 2 + below(4);
    let seat = |name: &&str| council_driver::make_seat(name, &format!("model-{name}"), name);
    let mut seats: Vec<Seat> = NAMES[..participants].iter().map(seat).collect();
    seats.extend(EXTRA_SEATS.iter().map(seat).map(|seat| Seat { roles: Vec::new(), ..seat }));
    let chair = below(participants);
    seats[chair].roles.push(SeatRole::Chair);
    let mut somebody = || seats[below(seats.len())].name.clone();
    let (synthesizer, critic, reviser) = (somebody(), somebody(), somebody());
    let mode = QuestionMode::ALL[below(QuestionMode::ALL.len())];
    let file = ContextFile {
        path: format!("{}.md", canary.as_str()),
        sha256: String::new(),
        text: canary.make_sentence(),
    };
    Plan {
        mode,
        chairs: vec![seats[chair].name.clone()],
        conclusion: Some(ConclusionPlan {
            synthesizer,
            critic,
            reviser,
            auditing: AuditMode::Audited,
        }),
        caps: BudgetCaps {
            usd_micros: 1_000_000_000,
            tokens: 1_000_000_000,
            calls: 1_000,
            ..BudgetCaps::default()
        },
        context: ContextPack { files: vec![file], ..ContextPack::default() }.into(),
        ..council_driver::make_plan(seats, secret)
    }
}

fn scripted_reply(text: String) -> ModelReply {
    ModelReply {
        text,
        usage: None,
        model: None,
        finish: FinishReason::Stop,
        cost: CallCost { usd_micros: None, source: CostSource::Unknown },
        latency_ms: 1,
        structured: false,
        first_byte_ms: None,
    }
}
