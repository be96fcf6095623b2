//! Hundreds of councils at once, with prices, failures and bills by chance: none spends what
//! it may not.
//!
//! The clock is real, because the journal's writer lives on a thread that a paused clock
//! would not wait for; the waits are those of retries and timeouts, all at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plenary::ambient::{Ambient, Machine};
use plenary::domain::ask::{ErrorType, Reservation, Sending, Usage};
use plenary::domain::change::{Change, Entry};
use plenary::domain::dice::SplitMix;
use plenary::domain::ids::DialogueId;
use plenary::domain::plan::{Caps, Plan, Price, Seat, Timeouts};
use plenary::domain::time::Moment;
use plenary::domain::transcript::{Call, CallOutcome, Shortage, Stop, Transcript};
use plenary::engine::{
    self, Connections, Ear, Journal, Limits, Owner, Purse, Question, Silent, Surroundings,
};
use plenary::export::council::document;
use plenary::files::Folders;
use plenary::protocols::council::Letters;
use plenary::providers::Transport;
use plenary::providers::rehearsal::{RehearsalTransport, Script};
use plenary::store::{SqliteStore, Store};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::kit::chamber::{opinion, plan, review, seat};
use crate::kit::times;

/// Runs of a group share a purse.
const GROUP: u64 = 20;

const RICH: Caps =
    Caps { usd_micros: u64::MAX, tokens: u64::MAX, calls: u32::MAX, wall_ms: 60_000 };

/// The real time, and chance that can be repeated.
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

/// One council by chance.
struct Run {
    number: u64,
    plan: Plan,
    /// Whether its bills keep to what was estimated.
    honest: bool,
}

fn below(dice: &mut SplitMix, most: u64) -> u64 {
    dice.roll() % most
}

impl Run {
    fn by_chance(number: u64) -> Self {
        let mut dice = SplitMix::new(number + 1);
        // All of a group or none, so that a group's purse can be judged.
        let honest = !(number / GROUP).is_multiple_of(3);
        let seats: Vec<Seat> = (0..2 + below(&mut dice, 3))
            .map(|place| {
                let mut made = seat(&format!("seat-{place}"), "m-1", "f");
                made.output_tokens_max = 200 + below(&mut dice, 4_000) as u32;
                made.price = (below(&mut dice, 10) > 0).then(|| Price {
                    input_per_mtok: below(&mut dice, 100) as f64 / 10.0,
                    output_per_mtok: below(&mut dice, 300) as f64 / 10.0,
                    source: "configuration".to_owned(),
                });
                made
            })
            .collect();
        let mut plan = plan(seats, &format!("{:016x}{number:016x}", dice.roll()));
        plan.chairs = plan.seats.iter().map(|seat| seat.name.clone()).collect();
        plan.timeouts =
            Timeouts { r1_per_provider: 1_500, r2_per_provider: 1_500, r3_chair: 1_500 };
        plan.caps = caps(&mut dice);
        plan.rehearsal_script = Some(script(&plan, honest, &mut dice));
        Self { number, plan, honest }
    }

    fn connections(&self) -> Connections {
        connections(&self.plan)
    }
}

/// Too little of one thing at most: what runs out should be seen to be that.
fn caps(dice: &mut SplitMix) -> Caps {
    let mut caps = RICH;
    match below(dice, 4) {
        0 => caps.usd_micros = below(dice, 400_000),
        1 => caps.tokens = below(dice, 60_000),
        2 => caps.calls = below(dice, 14) as u32,
        _ => {}
    }
    caps
}

fn connections(plan: &Plan) -> Connections {
    let script: Script = serde_json::from_value(plan.rehearsal_script.clone().unwrap()).unwrap();
    let transport = Arc::new(RehearsalTransport::new(Some(script)));
    let mut connections = Connections::default();
    for seat in &plan.seats {
        let ways =
            [Transport::Rehearsal(transport.clone()), Transport::Rehearsal(transport.clone())];
        connections.add(seat.name.clone(), Arc::new(ways));
    }
    connections
}

/// Failures that pass and failures that stay, then replies with bills.
fn script(plan: &Plan, honest: bool, dice: &mut SplitMix) -> Value {
    let letters = Letters::of(plan);
    let mut cues = Vec::new();
    for seat in &plan.seats {
        for round in 1..=2_u8 {
            if below(dice, 4) == 0 {
                let fail = ErrorType::ALL[below(dice, ErrorType::ALL.len() as u64) as usize];
                let times = 1 + below(dice, 3);
                cues.push(
                    json!({ "seat": seat.name, "round": round, "fail": fail, "times": times }),
                );
            }
            let others = letters.others(plan, &seat.name);
            let shown: Vec<char> = others.iter().map(|(letter, _)| *letter).collect();
            let reply = match round {
                _ if below(dice, 12) == 0 => json!("I would rather not write JSON."),
                1 => json!(opinion("Yes.")),
                _ => json!(review(&shown, "Hm.")),
            };
            let usage = usage(seat, honest, dice);
            let delay_ms = below(dice, 30);
            cues.push(json!({
                "seat": seat.name, "round": round, "reply": reply, "usage": usage, "delay_ms": delay_ms,
            }));
        }
    }
    json!(cues)
}

fn usage(seat: &Seat, honest: bool, dice: &mut SplitMix) -> Usage {
    // The estimate of what goes in is never below this.
    let most = if honest { 1_500 } else { 40_000 };
    Usage {
        input_tokens: below(dice, most),
        output_tokens: below(dice, u64::from(seat.output_tokens_max)),
    }
}

/// What a journal says was spent and set aside, entry by entry.
#[derive(Default)]
struct Ledger {
    calls: u32,
    /// For each call what was set aside, and what it took once that is known.
    known: BTreeMap<u32, (Reservation, Option<Reservation>)>,
    /// What was spent when the present asks were prepared; nothing was in flight then.
    before: (u64, u64),
}

impl Ledger {
    fn take_in(&mut self, change: &Change, caps: Caps, whose: &str) {
        if let Change::AskPrepared { .. } = change {
            self.before = self.total(|_, actual| actual);
        }
        if let Change::CallSent(sending) = change {
            self.send(sending, caps, whose);
        }
        if let Change::ReplyKept { call, reply } = change {
            let known = self.known.get_mut(call).unwrap();
            known.1 = Some(Reservation {
                usd_micros: reply.cost.usd_micros.or(known.0.usd_micros),
                tokens: reply.usage.unwrap().total(),
            });
        }
        if let Change::CallFailed { call, failure, .. } = change {
            let known = self.known.get_mut(call).unwrap();
            let unbilled = failure.error_type.is_unbilled();
            known.1 = Some(if unbilled { Reservation::default() } else { known.0 });
        }
    }

    fn send(&mut self, sending: &Sending, caps: Caps, whose: &str) {
        self.calls += 1;
        self.known.insert(sending.call, (sending.reserved, None));
        assert!(self.calls <= caps.calls, "{whose}: {} calls", self.calls);
        // A bill that is too high may arrive while this call is on its way.
        let lesser = |reserved: Reservation, actual: Reservation| Reservation {
            usd_micros: reserved.usd_micros.min(actual.usd_micros),
            tokens: reserved.tokens.min(actual.tokens),
        };
        let (usd, tokens) = self.total(lesser);
        assert!(usd <= caps.usd_micros, "{whose}: {usd} of {caps:?}");
        assert!(tokens <= caps.tokens, "{whose}: {tokens} of {caps:?}");
        let usd = self.before.0.saturating_add(sending.reserved.usd_micros.unwrap_or(0));
        let tokens = self.before.1.saturating_add(sending.reserved.tokens);
        let is_seen = usd <= caps.usd_micros && tokens <= caps.tokens;
        assert!(is_seen, "{whose}: what was too much was not seen");
    }

    /// What is in flight counts as set aside; what came back as `settled` says.
    fn total(&self, settled: impl Fn(Reservation, Reservation) -> Reservation) -> (u64, u64) {
        let counted = self.known.values().map(|(reserved, actual)| match actual {
            Some(actual) => settled(*reserved, *actual),
            None => *reserved,
        });
        counted.fold((0, 0), |(usd, tokens), one| {
            (usd + one.usd_micros.unwrap_or(0), tokens + one.tokens)
        })
    }
}

fn audited(entries: &[Entry], caps: Caps, whose: &str) -> (u64, u64) {
    let mut ledger = Ledger::default();
    let changes = entries.iter().flat_map(|entry| &entry.changes);
    changes.for_each(|change| ledger.take_in(change, caps, whose));
    ledger.total(|_, actual| actual)
}

/// What the councils of a test share.
struct Hall {
    store: Arc<dyn Store>,
    owner: Owner,
    folders: Folders,
    ambient: Arc<dyn Ambient>,
    journal: Journal,
    _folder: tempfile::TempDir,
}

impl Hall {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
        let (journal, _) = Journal::start(store.clone());
        Self {
            owner: Owner::new(folder.path(), 1).unwrap(),
            folders: Folders::new(folder.path(), &folder.path().join("plenary.db"), &[]),
            ambient: Arc::new(Counted::default()),
            store,
            journal,
            _folder: folder,
        }
    }

    fn surroundings(&self, common_purse: Option<Arc<Purse>>) -> Surroundings {
        Surroundings {
            journal: self.journal.clone(),
            store: self.store.clone(),
            ear: Ear::deaf(),
            ambient: self.ambient.clone(),
            observer: Arc::new(Silent),
            common_purse,
        }
    }

    async fn hold(&self, run: &Run, purse: Option<Arc<Purse>>) -> (Stop, Transcript) {
        let question = Question {
            text: format!("Question {}?", run.number),
            rehearsal: true,
            plan: run.plan.clone(),
        };
        let surroundings = self.surroundings(purse);
        let opened =
            engine::open(question, run.connections(), &self.owner, &self.folders, surroundings);
        let council = opened.await.unwrap();
        let stop = council.run(limits()).await.unwrap();
        (stop, council.into_transcript())
    }

    /// The same, from where it stopped, with all that it could want.
    async fn resume(&self, id: &DialogueId) -> (Stop, Transcript) {
        let loaded = engine::load(self.store.as_ref(), id).unwrap();
        let connections = connections(&loaded.transcript.plan);
        let surroundings = self.surroundings(None);
        let taken = engine::take_up(
            loaded,
            vec![Change::CapsSet { caps: RICH }],
            connections,
            &self.owner,
            surroundings,
        );
        let council = taken.await.unwrap();
        let stop = council.run(limits()).await.unwrap();
        (stop, council.into_transcript())
    }
}

fn limits() -> Limits {
    let (_, interrupted) = watch::channel(false);
    Limits { wall: Duration::from_secs(60), interrupted }
}

#[derive(Default)]
struct Seen {
    done: usize,
    short: BTreeMap<&'static str, usize>,
    over: usize,
}

impl Seen {
    /// Whether the run could not go on, in which case it says so.
    fn is_short(&mut self, stop: &Stop, transcript: &Transcript) -> bool {
        let Stop::Budget { shortage } = stop else {
            self.done += usize::from(*stop == Stop::Done);
            return false;
        };
        *self.short.entry(shortage.name()).or_default() += 1;
        let shown = json!(document(transcript));
        assert_eq!(shown["status"], "incomplete", "{shown:#}");
        assert!(shown.to_string().contains("\"budget_exhausted\""), "{shown:#}");
        true
    }
}

/// Whether a run that may spend what it wants goes on, and pays for no reply twice.
async fn check_resumed(hall: &Hall, id: &DialogueId) {
    let (stop, resumed) = hall.resume(id).await;
    assert!(!matches!(stop, Stop::Budget { .. }), "{id}: {stop:?}");
    let is_reply = |call: &&Call| matches!(call.outcome, CallOutcome::Replied(..));
    for asked in &resumed.asks {
        assert!(asked.calls.iter().filter(is_reply).count() <= 1, "{id} paid twice");
    }
}

/// All at once, each a task of its own.
async fn all<T: Send + 'static>(
    work: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = work.map(tokio::spawn).collect();
    let ended = futures_util::future::join_all(tasks).await;
    ended.into_iter().map(|task| task.unwrap()).collect()
}

async fn hold_all(
    hall: &Arc<Hall>,
    runs: &Arc<Vec<Run>>,
    purse_of: impl Fn(&Run) -> Option<Arc<Purse>>,
) -> Vec<(Stop, Transcript)> {
    all((0..runs.len()).map(|place| {
        let (hall, runs, purse) = (hall.clone(), runs.clone(), purse_of(&runs[place]));
        async move { hall.hold(&runs[place], purse).await }
    }))
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_councils_keep_to_their_budgets() {
    let hall = Arc::new(Hall::new());
    let count = u64::from(times(1_000, 3_000));
    let runs: Arc<Vec<Run>> = Arc::new((0..count).map(Run::by_chance).collect());
    let held = hold_all(&hall, &runs, |_| None).await;
    let (mut seen, mut short) = (Seen::default(), Vec::new());
    for (run, (stop, transcript)) in runs.iter().zip(&held) {
        let id = &transcript.opening.dialogue_id;
        let entries = hall.store.entries(id, 0).unwrap();
        let (usd, tokens) = audited(&entries, run.plan.caps, id.as_str());
        let is_over = usd > run.plan.caps.usd_micros || tokens > run.plan.caps.tokens;
        assert!(!(run.honest && is_over), "{id}: {usd}, {tokens} of {:?}", run.plan.caps);
        seen.over += usize::from(is_over);
        if seen.is_short(stop, transcript) {
            short.push(id.clone());
        }
    }
    // Every end was met, or the dice say nothing.
    assert!(seen.done > 30 && seen.over > 2, "{} done, {} over", seen.done, seen.over);
    for shortage in [Shortage::Money, Shortage::Tokens, Shortage::Calls] {
        assert!(seen.short.get(shortage.name()) > Some(&6), "{:?}", seen.short);
    }
    all(short.into_iter().map(|id| {
        let hall = hall.clone();
        async move { check_resumed(&hall, &id).await }
    }))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn councils_of_a_batch_keep_to_their_common_budget() {
    let hall = Arc::new(Hall::new());
    let count = u64::from(times(10, 100)) * GROUP;
    let mut runs: Vec<Run> = (0..count).map(Run::by_chance).collect();
    runs.iter_mut().for_each(|run| run.plan.caps = RICH);
    let runs = Arc::new(runs);
    let cap = |group: u64| 50_000 + group * 90_000 % 1_000_000;
    let purse = |group: u64| Arc::new(Purse::new(Caps { usd_micros: cap(group), ..RICH }));
    let purses: Vec<Arc<Purse>> = (0..count / GROUP).map(purse).collect();
    let purse_of = |run: &Run| Some(purses[(run.number / GROUP) as usize].clone());
    let held = hold_all(&hall, &runs, purse_of).await;
    let (mut spent, mut stopped) = (BTreeMap::<u64, u64>::new(), 0);
    for (run, (stop, transcript)) in runs.iter().zip(&held) {
        let id = &transcript.opening.dialogue_id;
        let (usd, _) = audited(&hall.store.entries(id, 0).unwrap(), RICH, id.as_str());
        *spent.entry(run.number / GROUP).or_default() += usd;
        stopped += usize::from(*stop == Stop::Budget { shortage: Shortage::Money });
    }
    for run in runs.iter().filter(|run| run.honest) {
        let group = run.number / GROUP;
        assert!(spent[&group] <= cap(group), "group {group}: {} of {}", spent[&group], cap(group));
    }
    assert!(stopped > 20, "only {stopped} stopped for the common purse");
    assert!(spent.values().any(|usd| *usd > 20_000), "{spent:?}");
}
