//! No run overspends its budget, and a run that stopped at a limit resumes with a higher one.

use std::collections::BTreeMap;
use std::sync::Arc;

use plenary::domain::ids::DialogueId;
use plenary::domain::plan::Caps;
use plenary::domain::transcript::{Call, CallOutcome, Shortage, Stop, Transcript};
use plenary::engine::{self, BatchShare, Budget};
use plenary::export::council::document;
use serde_json::json;

use super::harness::Hall;
use super::ledger::audited;
use super::random_runs::{GROUP, RICH, Run};
use crate::kit::times;

#[derive(Default)]
struct Seen {
    done: usize,
    /// Of the completed runs, those with a conclusion.
    concluded: usize,
    short_in_ending: usize,
    short: BTreeMap<&'static str, usize>,
    over: usize,
}

impl Seen {
    /// Whether the run stopped at a limit; if so, it must say which.
    fn is_short(&mut self, stop: &Stop, transcript: &Transcript) -> bool {
        let Stop::Budget { shortage } = stop else {
            self.done += usize::from(*stop == Stop::Done);
            self.concluded += usize::from(transcript.ending.is_some());
            return false;
        };
        self.short_in_ending += usize::from(transcript.participants.is_some());
        *self.short.entry(shortage.name()).or_default() += 1;
        let shown = json!(document(transcript));
        assert_eq!(shown["status"], "incomplete", "{shown:#}");
        assert!(shown.to_string().contains("\"budget_exhausted\""), "{shown:#}");
        true
    }
}

/// Checks that a run resumes without limits and pays for no reply twice.
async fn check_resumed(hall: &Hall, id: &DialogueId) {
    let before = engine::load_run(hall.store.as_ref(), id).unwrap().transcript;
    let (stop, resumed) = hall.resume(id).await;
    assert!(!matches!(stop, Stop::Budget { .. }), "{id}: {stop:?}");
    if before.participants.is_some() {
        let in_rounds =
            |run: &Transcript| run.asks.iter().filter(|asked| asked.ask.round < 4).count();
        assert_eq!(in_rounds(&resumed), in_rounds(&before), "{id} goes back to its rounds");
        assert_eq!(resumed.ending.is_some(), stop == Stop::Done, "{id}: {stop:?}");
    }
    let is_reply = |call: &&Call| matches!(call.outcome, CallOutcome::Replied(..));
    for asked in &resumed.asks {
        assert!(asked.calls.iter().filter(is_reply).count() <= 1, "{id} paid twice");
    }
}

/// Runs all at once, each in its own task.
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
    share_of: impl Fn(&Run) -> Option<BatchShare>,
) -> Vec<(Stop, Transcript)> {
    all((0..runs.len()).map(|place| {
        let (hall, runs, share) = (hall.clone(), runs.clone(), share_of(&runs[place]));
        async move { hall.hold(&runs[place], share).await }
    }))
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_councils_keep_to_their_budgets() {
    let hall = Arc::new(Hall::new());
    let count = u64::from(times(600, 3_000));
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
    // Every outcome must occur, otherwise the random runs prove nothing.
    assert!(seen.done > 30 && seen.over > 2, "{} done, {} over", seen.done, seen.over);
    let Seen { concluded, short_in_ending, .. } = seen;
    assert!(
        concluded > 30 && short_in_ending > 6,
        "{concluded} concluded, {short_in_ending} short"
    );
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
    for run in &mut runs {
        run.plan.caps = RICH;
        // A restatement does not know the shared budget.
        run.directive = None;
    }
    let runs = Arc::new(runs);
    let cap = |group: u64| 50_000 + group * 90_000 % 1_000_000;
    let budget = |group: u64| Arc::new(Budget::new(Caps { usd_micros: cap(group), ..RICH }));
    let budgets: Vec<Arc<Budget>> = (0..count / GROUP).map(budget).collect();
    let share_of = |run: &Run| {
        let budget = budgets[(run.number / GROUP) as usize].clone();
        Some(BatchShare { budget, council: run.number as usize })
    };
    let held = hold_all(&hall, &runs, share_of).await;
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
