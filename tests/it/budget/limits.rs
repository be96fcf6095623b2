//! No run overspends its budget, and a run that stopped at a limit resumes with a higher one.

use std::collections::BTreeMap;
use std::sync::Arc;

use plenary_core::model::ask::{CallOutcome, CallState};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::plan::BudgetCaps;
use plenary_core::model::run_state::{BudgetShortage, RunState, RunStopReason};
use plenary_core::protocols::council::document::council_document;
use plenary_engine::engine::budget::Budget;
use plenary_engine::engine::call_budget::BatchShare;
use plenary_engine::engine::run_start::load_run;
use serde_json::json;

use super::harness::BudgetHarness;
use super::ledger::audit_spending;
use super::random_runs::{GROUP_SIZE, RandomRun, UNLIMITED_CAPS};
use crate::kit::pick_repeats;

#[derive(Default)]
struct OutcomeCounts {
    done: usize,
    /// Of the completed runs, those with a conclusion.
    concluded: usize,
    short_in_ending: usize,
    short: BTreeMap<&'static str, usize>,
    over: usize,
}

impl OutcomeCounts {
    /// Whether the run stopped at a limit; if so, it must say which.
    fn record_stop(&mut self, stop: &RunStopReason, state: &RunState) -> bool {
        let RunStopReason::Budget { shortage } = stop else {
            self.done += usize::from(*stop == RunStopReason::Done);
            self.concluded += usize::from(state.conclusion_result.is_some());
            return false;
        };
        self.short_in_ending += usize::from(state.participants.is_some());
        *self.short.entry(shortage.name()).or_default() += 1;
        let shown = json!(council_document(state));
        assert_eq!(shown["status"], "incomplete", "{shown:#}");
        assert!(shown.to_string().contains("\"budget_exhausted\""), "{shown:#}");
        true
    }
}

/// Checks that a run resumes without limits and pays for no reply twice.
async fn check_resumed(hall: &BudgetHarness, id: &DialogueId) {
    let before = load_run(hall.store.as_ref(), id).unwrap().state;
    let (stop, resumed) = hall.resume_council(id).await;
    assert!(!matches!(stop, RunStopReason::Budget { .. }), "{id}: {stop:?}");
    if before.participants.is_some() {
        let in_rounds =
            |run: &RunState| run.asks.iter().filter(|asked| asked.ask.round < 4).count();
        assert_eq!(in_rounds(&resumed), in_rounds(&before), "{id} goes back to its rounds");
        assert_eq!(
            resumed.conclusion_result.is_some(),
            stop == RunStopReason::Done,
            "{id}: {stop:?}"
        );
    }
    let is_reply = |call: &&CallState| matches!(call.outcome, CallOutcome::Replied(..));
    for asked in &resumed.asks {
        assert!(asked.calls.iter().filter(is_reply).count() <= 1, "{id} paid twice");
    }
}

/// Runs all at once, each in its own task.
async fn run_in_tasks<T: Send + 'static>(
    work: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = work.map(tokio::spawn).collect();
    let ended = futures_util::future::join_all(tasks).await;
    ended.into_iter().map(|task| task.unwrap()).collect()
}

async fn run_all(
    hall: &Arc<BudgetHarness>,
    runs: &Arc<Vec<RandomRun>>,
    share_of: impl Fn(&RandomRun) -> Option<BatchShare>,
) -> Vec<(RunStopReason, RunState)> {
    run_in_tasks((0..runs.len()).map(|place| {
        let (hall, runs, share) = (hall.clone(), runs.clone(), share_of(&runs[place]));
        async move { hall.run_council(&runs[place], share).await }
    }))
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_councils_keep_to_their_budgets() {
    let hall = Arc::new(BudgetHarness::new());
    let count = u64::from(pick_repeats(600, 3_000));
    let runs: Arc<Vec<RandomRun>> = Arc::new((0..count).map(RandomRun::from_number).collect());
    let held = run_all(&hall, &runs, |_| None).await;
    let (mut seen, mut short) = (OutcomeCounts::default(), Vec::new());
    for (run, (stop, state)) in runs.iter().zip(&held) {
        let id = &state.opening.dialogue_id;
        let entries = hall.store.load_entries(id, 0).unwrap();
        let (usd, tokens) = audit_spending(&entries, run.plan.caps, id.as_str());
        let is_over = usd > run.plan.caps.usd_micros || tokens > run.plan.caps.tokens;
        assert!(!(run.honest && is_over), "{id}: {usd}, {tokens} of {:?}", run.plan.caps);
        seen.over += usize::from(is_over);
        if seen.record_stop(stop, state) {
            short.push(id.clone());
        }
    }
    // Every outcome must occur, otherwise the random runs prove nothing.
    assert!(seen.done > 20 && seen.over > 2, "{} done, {} over", seen.done, seen.over);
    let OutcomeCounts { concluded, short_in_ending, .. } = seen;
    assert!(
        concluded > 30 && short_in_ending > 6,
        "{concluded} concluded, {short_in_ending} short"
    );
    for shortage in [BudgetShortage::Money, BudgetShortage::Tokens, BudgetShortage::Calls] {
        assert!(seen.short.get(shortage.name()) > Some(&6), "{:?}", seen.short);
    }
    run_in_tasks(short.into_iter().map(|id| {
        let hall = hall.clone();
        async move { check_resumed(&hall, &id).await }
    }))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn councils_of_a_batch_keep_to_their_common_budget() {
    let hall = Arc::new(BudgetHarness::new());
    let count = u64::from(pick_repeats(10, 100)) * GROUP_SIZE;
    let mut runs: Vec<RandomRun> = (0..count).map(RandomRun::from_number).collect();
    for run in &mut runs {
        run.plan.caps = UNLIMITED_CAPS;
        // A restatement does not know the shared budget.
        run.directive = None;
    }
    let runs = Arc::new(runs);
    let cap = |group: u64| 50_000 + group * 90_000 % 1_000_000;
    let budget =
        |group: u64| Arc::new(Budget::new(BudgetCaps { usd_micros: cap(group), ..UNLIMITED_CAPS }));
    let budgets: Vec<Arc<Budget>> = (0..count / GROUP_SIZE).map(budget).collect();
    let share_of = |run: &RandomRun| {
        let budget = budgets[(run.number / GROUP_SIZE) as usize].clone();
        Some(BatchShare { budget, council: run.number as usize })
    };
    let held = run_all(&hall, &runs, share_of).await;
    let (mut spent, mut stopped) = (BTreeMap::<u64, u64>::new(), 0);
    for (run, (stop, state)) in runs.iter().zip(&held) {
        let id = &state.opening.dialogue_id;
        let (usd, _) =
            audit_spending(&hall.store.load_entries(id, 0).unwrap(), UNLIMITED_CAPS, id.as_str());
        *spent.entry(run.number / GROUP_SIZE).or_default() += usd;
        stopped += usize::from(*stop == RunStopReason::Budget { shortage: BudgetShortage::Money });
    }
    for run in runs.iter().filter(|run| run.honest) {
        let group = run.number / GROUP_SIZE;
        assert!(spent[&group] <= cap(group), "group {group}: {} of {}", spent[&group], cap(group));
    }
    assert!(stopped > 20, "only {stopped} stopped for the common purse");
    assert!(spent.values().any(|usd| *usd > 20_000), "{spent:?}");
}
