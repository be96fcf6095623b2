//! Batches played through: councils that take what they take, against a budget for some.

use proptest::prelude::*;

use super::*;
use crate::domain::ask::Reservation;

fn micros(usd_micros: u64) -> Reservation {
    Reservation { usd_micros: Some(usd_micros), tokens: 0 }
}

fn expected(council: u64, call_worst: u64) -> ExpectedCost {
    ExpectedCost { council, call_usual: council / 10, call_worst }
}

/// Lets `jobs` councils at once take what `costs` says, in calls of a tenth that may cost
/// `call_worst`; how many are done, ran out, and never began.
fn play(cap: u64, jobs: usize, costs: &[u64], cost: ExpectedCost) -> (usize, usize, usize) {
    let purse = Arc::new(Purse::of_batch(cap));
    let mut admission = BatchAdmission::new(Arc::clone(&purse));
    let (mut next, mut running) = (0, Vec::<(usize, u64)>::new());
    let (mut done, mut short, mut refused) = (0, 0, 0);
    loop {
        while running.len() < jobs && next < costs.len() {
            match admission.admit(next, cost) {
                Admitted::Now => running.push((next, 0)),
                Admitted::Later => break,
                Admitted::Never { .. } => refused += 1,
            }
            next += 1;
        }
        if running.is_empty() {
            assert_eq!(next, costs.len(), "a council waits for nothing");
            return (done, short, refused);
        }
        // Each takes a tenth in turn: the worst way to share a budget.
        running.retain_mut(|(council, calls)| {
            let Ok(hold) = purse.hold(*council, micros(cost.call_worst)) else {
                admission.end(*council, CouncilEnd::OutOfMoney);
                short += 1;
                return false;
            };
            drop(hold);
            purse.reserve(micros(costs[*council] / 10)).unwrap();
            purse.settle(*council, micros(costs[*council] / 10), micros(costs[*council] / 10));
            *calls += 1;
            if *calls == 10 {
                admission.end(*council, CouncilEnd::Done);
                done += 1;
            }
            *calls < 10
        });
    }
}

#[test]
fn money_for_twenty_ends_about_twenty_however_many_could_begin() {
    for jobs in [1, 8, 60, 200] {
        // As expected, much cheaper than expected, and a little dearer than that.
        for council in [1_000, 10_000, 900] {
            let (done, short, refused) =
                play(20_000, jobs, &[1_000; 200], expected(council, 1_500));
            assert!(done >= 18, "{jobs} jobs, expected {council}: {done} done, {short} short");
            assert_eq!(done + short + refused, 200);
            assert!(short <= 1, "{jobs} jobs, expected {council}: {short} short");
        }
    }
}

#[test]
fn what_costs_nothing_always_begins() {
    let (done, short, refused) = play(0, 4, &[0; 9], ExpectedCost::default());
    assert_eq!((done, short, refused), (9, 0, 0));
}

#[test]
fn a_first_council_is_tried_alone_and_not_again_when_it_ran_out() {
    let purse = Arc::new(Purse::of_batch(1_000));
    let mut admission = BatchAdmission::new(purse);
    let dear = expected(5_000, 800);
    assert_eq!(admission.admit(0, dear), Admitted::Now);
    assert_eq!(admission.admit(1, dear), Admitted::Later);
    admission.end(0, CouncilEnd::OutOfMoney);
    let never = Admitted::Never { left_usd_micros: 1_000, needed_usd_micros: 5_300 };
    assert_eq!(admission.admit(1, dear), never);
    // A cheaper question may still be asked.
    assert_eq!(admission.admit(2, expected(500, 500)), Admitted::Now);
}

#[test]
fn not_even_a_first_council_begins_when_one_call_is_too_dear() {
    let mut admission = BatchAdmission::new(Arc::new(Purse::of_batch(1_000)));
    assert!(matches!(admission.admit(0, expected(5_000, 1_001)), Admitted::Never { .. }));
}

proptest! {
    #[test]
    fn every_council_ends_or_is_refused(
        cap in 0_u64..50_000,
        jobs in 1_usize..30,
        costs in proptest::collection::vec(0_u64..4_000, 1..60),
        council in 1_u64..5_000,
        call_worst in 500_u64..3_000,
    ) {
        let cost = ExpectedCost { council, call_usual: (council / 10).min(call_worst), call_worst };
        let (done, short, refused) = play(cap, jobs, &costs, cost);
        prop_assert_eq!(done + short + refused, costs.len());
    }
}
