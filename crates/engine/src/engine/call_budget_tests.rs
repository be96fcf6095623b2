//! Calls that wait for what others give back: none is forgotten, and nothing is overspent.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use plenary_core::model::plan::BudgetCaps;
use proptest::prelude::*;

use super::*;

fn micros(usd_micros: u64) -> BudgetReservation {
    BudgetReservation { usd_micros: Some(usd_micros), tokens: 1 }
}

fn budget(usd_micros: u64) -> Arc<Budget> {
    Arc::new(Budget::for_batch(usd_micros))
}

fn own(usd_micros: u64, tokens: u64, calls: u32) -> CallBudgets {
    CallBudgets::new(Budget::new(BudgetCaps { usd_micros, tokens, calls, wall_ms: 1 }), None)
}

#[test]
fn a_call_that_does_not_fit_waits_for_what_is_in_flight() {
    let budgets = own(100, 100, 9);
    let first = budgets.hold(micros(80)).unwrap();
    assert_eq!(budgets.hold(micros(30)).unwrap_err(), NotReserved::MustWait);
    let mut second = Box::pin(budgets.hold_or_wait(micros(30)));
    assert!(second.as_mut().now_or_never().is_none());
    first.settle(micros(60));
    assert!(second.as_mut().now_or_never().unwrap().is_ok());
}

#[test]
fn it_is_refused_when_nothing_comes_back_any_more() {
    let budgets = own(100, 100, 9);
    assert_eq!(budgets.hold(micros(101)).unwrap_err(), NotReserved::Refused(BudgetShortage::Money));
    let mut first = budgets.hold(micros(80)).unwrap();
    first.mark_sent();
    let mut second = Box::pin(budgets.hold_or_wait(micros(30)));
    assert!(second.as_mut().now_or_never().is_none());
    // It was cut short on its way, and may be charged for.
    drop(first);
    assert_eq!(second.as_mut().now_or_never().unwrap().unwrap_err(), BudgetShortage::Money);
}

#[test]
fn calls_are_not_waited_for() {
    let budgets = own(100, 100, 1);
    let _first = budgets.hold(micros(1)).unwrap();
    assert_eq!(budgets.hold(micros(1)).unwrap_err(), NotReserved::Refused(BudgetShortage::Calls));
}

#[test]
fn what_was_never_sent_is_given_back() {
    let budgets = own(100, 100, 9);
    drop(budgets.hold(micros(100)).unwrap());
    assert!(budgets.hold(micros(100)).is_ok());
}

#[test]
fn where_the_batch_cannot_pay_the_own_budget_is_untouched() {
    let share = BatchShare { budget: budget(50), council: 3 };
    let caps = BudgetCaps { usd_micros: 100, tokens: 100, calls: 9, wall_ms: 1 };
    let budgets = CallBudgets::new(Budget::new(caps), Some(share));
    for _ in 0..20 {
        assert_eq!(
            budgets.hold(micros(60)).unwrap_err(),
            NotReserved::Refused(BudgetShortage::Batch)
        );
    }
    assert!(budgets.hold(micros(50)).is_ok());
}

#[test]
fn earlier_councils_are_served_before_later_ones_and_nothing_passes_the_head_by() {
    let budget = budget(100);
    let hold = budget.reserve_hold(9, micros(100)).unwrap();
    let mut late = Box::pin(budget.hold_or_wait(7, micros(1)));
    assert!(late.as_mut().now_or_never().is_none());
    let mut early = Box::pin(budget.hold_or_wait(2, micros(100)));
    assert!(early.as_mut().now_or_never().is_none());
    drop(hold);
    let served = early.as_mut().now_or_never().unwrap().unwrap();
    assert!(late.as_mut().now_or_never().is_none(), "the money is the earlier council's");
    // A later council does not slip past one that waits.
    assert_eq!(budget.reserve_hold(8, micros(0)).unwrap_err(), NotReserved::MustWait);
    drop(served);
    assert!(late.as_mut().now_or_never().unwrap().is_ok());
}

#[test]
fn one_that_waits_no_more_makes_way() {
    let budget = budget(100);
    let first = budget.reserve_hold(0, micros(60)).unwrap();
    let mut dear = Box::pin(budget.hold_or_wait(1, micros(100)));
    let mut cheap = Box::pin(budget.hold_or_wait(2, micros(40)));
    assert!(dear.as_mut().now_or_never().is_none());
    assert!(cheap.as_mut().now_or_never().is_none(), "the head is not passed by");
    drop(dear);
    assert!(cheap.as_mut().now_or_never().unwrap().is_ok());
    // One that was served, and is gone before it noticed, keeps nothing.
    let mut served = Box::pin(budget.hold_or_wait(1, micros(100)));
    assert!(served.as_mut().now_or_never().is_none());
    drop((first, cheap));
    drop(served);
    assert!(budget.reserve_hold(0, micros(100)).is_ok());
}

/// What one step of a random play does; the number chooses among what there is.
#[derive(Debug, Clone, Copy)]
enum Step {
    Ask { council: usize, worst: u64 },
    Settle { which: usize, actual: u64 },
    Lose { which: usize },
    GiveBack { which: usize },
    StopWaiting { which: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_usize..4, 0_u64..60).prop_map(|(council, worst)| Step::Ask { council, worst }),
        3 => (any::<usize>(), 0_u64..60).prop_map(|(which, actual)| Step::Settle { which, actual }),
        1 => any::<usize>().prop_map(|which| Step::Lose { which }),
        1 => any::<usize>().prop_map(|which| Step::GiveBack { which }),
        1 => any::<usize>().prop_map(|which| Step::StopWaiting { which }),
    ];
    proptest::collection::vec(step, 1..80)
}

type Queued = BoxFuture<'static, Result<BudgetHold, BudgetShortage>>;

fn queued(budget: &Arc<Budget>, council: usize, worst: u64) -> Queued {
    let budget = Arc::clone(budget);
    async move { budget.hold_or_wait(council, micros(worst)).await }.boxed()
}

/// Takes in what was answered; those who wait stay.
fn answered(waiting: Vec<Queued>, held: &mut Vec<BudgetHold>) -> Vec<Queued> {
    let mut left = Vec::new();
    for mut one in waiting {
        match one.as_mut().now_or_never() {
            Some(Ok(hold)) => held.push(hold),
            Some(Err(shortage)) => assert_eq!(shortage, BudgetShortage::Batch),
            None => left.push(one),
        }
    }
    left
}

proptest! {
    /// After each step nothing is overspent, and a call waits only while another is in flight.
    #[test]
    fn nothing_is_overspent_and_no_call_waits_for_nothing(cap in 0_u64..150, steps in steps()) {
        let budget = budget(cap);
        let (mut held, mut waiting, mut spent) = (Vec::<BudgetHold>::new(), Vec::<Queued>::new(), 0);
        for step in steps {
            let pick = |which: usize, count: usize| (count > 0).then(|| which % count);
            match step {
                Step::Ask { council, worst } => waiting.push(queued(&budget, council, worst)),
                Step::Settle { which, actual } => if let Some(place) = pick(which, held.len()) {
                    let mut hold = held.swap_remove(place);
                    let actual = actual.min(hold.amount.usd_micros.unwrap());
                    spent += actual;
                    hold.settle(micros(actual));
                },
                Step::Lose { which } => if let Some(place) = pick(which, held.len()) {
                    let mut hold = held.swap_remove(place);
                    hold.is_sent = true;
                    spent += hold.amount.usd_micros.unwrap();
                },
                Step::GiveBack { which } => if let Some(place) = pick(which, held.len()) {
                    drop(held.swap_remove(place));
                },
                Step::StopWaiting { which } => if let Some(place) = pick(which, waiting.len()) {
                    drop(waiting.swap_remove(place));
                },
            }
            waiting = answered(waiting, &mut held);
            let aside: u64 = held.iter().map(|hold| hold.amount.usd_micros.unwrap()).sum();
            prop_assert!(spent + aside <= cap, "{spent} + {aside} of {cap}");
            prop_assert_eq!(budget.settled_total(), spent);
            prop_assert!(waiting.is_empty() || !held.is_empty(), "{} wait", waiting.len());
        }
        // When all that is in flight is settled, every waiting call has an answer.
        while let Some(hold) = held.pop() {
            drop(hold);
            waiting = answered(waiting, &mut held);
        }
        prop_assert!(waiting.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_that_wait_at_once_are_all_answered() {
    let (budget, most) = (budget(1_000), Arc::new(AtomicU64::new(0)));
    let now = Arc::new(AtomicU64::new(0));
    let calls = (0..400_usize).map(|call| {
        let (budget, now, most) = (Arc::clone(&budget), Arc::clone(&now), Arc::clone(&most));
        tokio::spawn(async move {
            let worst = 20 + (call as u64 * 7) % 180;
            let Ok(mut hold) = budget.hold_or_wait(call % 9, micros(worst)).await else {
                return 0;
            };
            most.fetch_max(now.fetch_add(worst, Ordering::SeqCst) + worst, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(worst, Ordering::SeqCst);
            if call % 11 == 0 {
                return 0;
            }
            hold.settle(micros(worst / 60));
            worst / 60
        })
    });
    let calls: Vec<_> = calls.collect();
    let mut spent = 0;
    for call in calls {
        spent += call.await.unwrap();
    }
    assert_eq!(budget.settled_total(), spent);
    assert!(spent <= 1_000 && most.load(Ordering::SeqCst) <= 1_000);
}
