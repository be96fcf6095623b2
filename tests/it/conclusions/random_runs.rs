//! A random run: its panel, files, interventions and the moments at which its process dies.

use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plenary::ambient::Machine;
use plenary::domain::ask::{Cost, CostSource, Finish, Reply};
use plenary::domain::change::{Change, Entry};
use plenary::domain::council::words::Mode;
use plenary::domain::dice::SplitMix;
use plenary::domain::ids::DialogueId;
use plenary::domain::intervention::{Intervention, Restatement};
use plenary::domain::plan::{
    Auditing, Caps, ConclusionPlan, ContextFile, ContextPack, Plan, Role, Seat,
};
use plenary::domain::time::Moment;
use plenary::domain::transcript::Stop;
use plenary::engine::{
    Deliberation, InterventionWatcher, Journal, Limits, ProcessLock, RunContext, RunObserver,
    RunQuestion, SeatTransports, intervene, load_run, open_run, resume_run,
};
use plenary::files::Folders;
use plenary::providers::{Dialect, HttpClients, HttpTransport, Provider, Transport};
use plenary::store::{SqliteStore, Store};
use tokio::sync::watch;

use super::canary::Canary;
use super::random_models::Manners;
use crate::kit::council_driver;
use crate::kit::{ModelServer, Seen};

pub(super) const QUESTION: &str = "Shall we go ahead?";

/// Participants first, then seats that only write or audit the conclusion.
const NAMES: [&str; 5] = ["ann", "bob", "cid", "dora", "eve"];
const FURTHER: [&str; 3] = ["max", "ned", "olga"];

const WALL: Duration = Duration::from_secs(60);
const LIVES_MAX: usize = 8;

/// Result of a random run.
pub(super) struct Drawn {
    pub canary: Canary,
    pub seen: Vec<Seen>,
    pub journal: Vec<Entry>,
}

/// Observer that counts entries and records the run's id.
#[derive(Debug, Default)]
struct Told {
    times: AtomicUsize,
    id: OnceLock<DialogueId>,
}

impl RunObserver for Told {
    fn on_entry(&self, id: &DialogueId, _: Moment, _: &[Change]) {
        self.times.fetch_add(1, Ordering::SeqCst);
        self.id.get_or_init(|| id.clone());
    }
}

impl Told {
    async fn reach(&self, times: usize) {
        while self.times.load(Ordering::SeqCst) < times {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Draws a run and executes it, process after process, until it ends or reaches the limit.
pub(super) fn draw(seed: u64) -> Drawn {
    let secret = format!("{seed:032x}");
    let canary = Canary::of(&secret);
    let mut dice = SplitMix::from_secret(&secret, "lot");
    let plan = plan(&secret, &canary, &mut dice);
    let manners = Manners::new(&secret, &canary);
    let server = ModelServer::start(move |seen| manners.play(seen));
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    let lot = Lot { folder: folder.path(), store, server: &server, plan: &plan, canary: &canary };
    let mut id = None;
    for life in 0..LIVES_MAX {
        let (lived, stop) = lot.live(id.as_ref(), life as u64, &mut dice);
        id = Some(lived);
        if stop == Some(Stop::Done) {
            break;
        }
    }
    let journal = lot.store.entries(&id.unwrap(), 0).unwrap();
    assert_eq!(lot.store.verify(None, None).unwrap().findings, [], "seed {seed}");
    Drawn { canary, seen: server.seen(), journal }
}

struct Lot<'a> {
    folder: &'a Path,
    store: Arc<dyn Store>,
    server: &'a ModelServer,
    plan: &'a Plan,
    canary: &'a Canary,
}

impl Lot<'_> {
    /// One process: opens or resumes the run, and completes or dies.
    fn live(
        &self,
        id: Option<&DialogueId>,
        life: u64,
        dice: &mut SplitMix,
    ) -> (DialogueId, Option<Stop>) {
        let told = Arc::new(Told::default());
        let owner = Arc::new(ProcessLock::new(&self.folder.join("plenary.db"), life).unwrap());
        let (journal, writer) = Journal::start(Arc::clone(&self.store));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lived = runtime.block_on(async {
            let (watcher, listening) = InterventionWatcher::start(Arc::clone(&self.store));
            tokio::spawn(listening);
            let context = RunContext {
                protocols: plenary::protocols::Protocols::built_in(),
                journal,
                process_lock: owner.clone(),
                folders: Folders::new(self.folder, &self.folder.join("plenary.db"), &[]),
                store: Arc::clone(&self.store),
                watcher,
                ambient: Arc::new(Machine),
                observer: told.clone(),
                batch_share: None,
                daily_budget: None,
                redaction: Arc::default(),
            };
            let run = self.begin(id, context, dice).await;
            let id = told.id.get().unwrap().clone();
            let stop = self.run(&run, &id, &told, dice).await;
            (id, stop)
        });
        drop(runtime);
        writer.join().unwrap();
        lived
    }

    async fn begin(
        &self,
        id: Option<&DialogueId>,
        context: RunContext,
        dice: &mut SplitMix,
    ) -> Deliberation {
        let connections = self.connections();
        let begun = match id {
            Some(id) => {
                let loaded = load_run(self.store.as_ref(), id).unwrap();
                if dice.roll().is_multiple_of(3) {
                    // An intervention between reading the journal and claiming the run.
                    self.speak(id, dice);
                }
                resume_run(loaded, Vec::new(), connections, context).await
            }
            None => {
                let (text, plan) = (QUESTION.to_owned(), self.plan.clone());
                let question = RunQuestion {
                    text,
                    protocol: &plenary::protocols::council::CouncilProtocol,
                    rehearsal: false,
                    plan,
                };
                open_run(question, connections, context).await
            }
        };
        begun.unwrap()
    }

    /// Runs to the end or to the chosen moment of death, with interventions in parallel.
    async fn run(
        &self,
        run: &Deliberation,
        id: &DialogueId,
        told: &Told,
        dice: &mut SplitMix,
    ) -> Option<Stop> {
        let (_heard, interrupted) = watch::channel(false);
        let mut running = pin!(run.run(Limits { wall: WALL, interrupted }));
        let mut moment = 0;
        loop {
            moment += 1 + dice.roll() as usize % 8;
            tokio::select! {
                stop = &mut running => return Some(stop.unwrap()),
                () = told.reach(moment) => {}
            }
            if dice.roll().is_multiple_of(5) {
                return None;
            }
            self.speak(id, dice);
        }
    }

    /// Sends an intervention with a new text. It may arrive too late.
    fn speak(&self, id: &DialogueId, dice: &mut SplitMix) {
        let text = format!("{} {:016x}", self.canary.sentence(), dice.roll());
        let word = match dice.roll() % 9 {
            0 => Intervention::Stop,
            1 | 2 => Intervention::Directive {
                restatement: Some(Restatement {
                    seat: self.plan.chairs[0].clone(),
                    sentence: self.canary.sentence(),
                    reply: reply(self.canary.sentence()),
                }),
                text,
                confirmed: dice.roll().is_multiple_of(2),
            },
            3 | 4 => {
                let seat = &self.plan.seats[dice.roll() as usize % 2];
                Intervention::Whisper { text, to: Some(seat.name.clone()) }
            }
            _ => Intervention::Whisper { text, to: None },
        };
        let _ = intervene(self.store.as_ref(), &Machine, id, &word);
    }

    fn connections(&self) -> SeatTransports {
        let mut connections = SeatTransports::default();
        let clients = Arc::<HttpClients>::default();
        for seat in &self.plan.seats {
            let provider = Provider {
                model: seat.model.clone(),
                ..self.server.provider(seat.name.as_str(), Dialect::OpenAi)
            };
            let http = HttpTransport::new(Arc::new(provider), Arc::clone(&clients));
            connections.add(seat.name.clone(), [Transport::Http(http)].into());
        }
        connections
    }
}

/// Two to five participants; synthesizer, critic and reviser may be among them.
fn plan(secret: &str, canary: &Canary, dice: &mut SplitMix) -> Plan {
    let mut below = |limit: usize| (dice.roll() % limit as u64) as usize;
    let participants = 2 + below(4);
    let seat = |name: &&str| council_driver::seat(name, &format!("model-{name}"), name);
    let mut seats: Vec<Seat> = NAMES[..participants].iter().map(seat).collect();
    seats.extend(FURTHER.iter().map(seat).map(|seat| Seat { roles: Vec::new(), ..seat }));
    let chair = below(participants);
    seats[chair].roles.push(Role::Chair);
    let mut somebody = || seats[below(seats.len())].name.clone();
    let (synthesizer, critic, reviser) = (somebody(), somebody(), somebody());
    let mode = Mode::ALL[below(Mode::ALL.len())];
    let file = ContextFile {
        path: format!("{}.md", canary.word()),
        sha256: String::new(),
        text: canary.sentence(),
    };
    Plan {
        mode,
        chairs: vec![seats[chair].name.clone()],
        conclusion: Some(ConclusionPlan {
            synthesizer,
            critic,
            reviser,
            auditing: Auditing::Audited,
        }),
        caps: Caps {
            usd_micros: 1_000_000_000,
            tokens: 1_000_000_000,
            calls: 1_000,
            ..Caps::default()
        },
        context: ContextPack { files: vec![file], ..ContextPack::default() }.into(),
        ..council_driver::plan(seats, secret)
    }
}

fn reply(text: String) -> Reply {
    Reply {
        text,
        usage: None,
        model: None,
        finish: Finish::Stop,
        cost: Cost { usd_micros: None, source: CostSource::Unknown },
        latency_ms: 1,
        structured: false,
    }
}
