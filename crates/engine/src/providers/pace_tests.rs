//! Tests of the pace: the limit, the order of waiting, pauses, and calls that give up waiting. The
//! pauses are short here; only lower bounds of times are checked.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::providers::test_samples::sample_provider;

const MOMENT: Duration = Duration::from_millis(20);

fn make_pace(limit: u32) -> Arc<ProviderPace> {
    let pauses = (MOMENT, MOMENT * 12);
    Arc::new(ProviderPace { pauses, ..ProviderPace::new(Some(limit)) })
}

/// Waits for a permit with a new ticket; returns how long it took.
async fn wait_to_enter(pace: &Arc<ProviderPace>) -> Duration {
    let start = Instant::now();
    drop(pace.enter(&mut PaceTicket::default(), Duration::MAX).await);
    start.elapsed()
}

#[tokio::test]
async fn no_more_calls_than_the_limit_are_in_flight() {
    let pace = make_pace(2);
    let (first, second) = (pace.try_enter().unwrap(), pace.try_enter().unwrap());
    assert!(pace.try_enter().is_none());
    drop(first);
    assert!(pace.try_enter().is_some());
    drop(second);
    let unlimited = Arc::new(ProviderPace::new(None));
    let all: Vec<PacePermit> = (0..10_000).map_while(|_| unlimited.try_enter()).collect();
    assert_eq!(all.len(), 10_000);
}

#[tokio::test]
async fn calls_wait_in_the_order_in_which_they_first_came() {
    let pace = make_pace(1);
    let mut early = PaceTicket::default();
    let held = pace.enter(&mut early, Duration::MAX).await;
    let places: Vec<QueuePlace> =
        (0..3).map(|_| pace.join_queue(&mut PaceTicket::default()).0).collect();
    // The first call is repeated: its old place is before the others.
    let (mut repeated, _) = pace.join_queue(&mut early);
    drop(held);
    assert!(repeated.served.try_recv().is_ok());
    let mut permit = repeated.take_permit();
    for mut place in places {
        assert!(place.served.try_recv().is_err());
        drop(permit);
        assert!(place.served.try_recv().is_ok());
        permit = place.take_permit();
    }
}

#[tokio::test]
async fn a_busy_provider_is_left_alone_for_as_long_as_it_says() {
    let pace = make_pace(8);
    pace.note_busy(Some(MOMENT * 5));
    assert!(pace.try_enter().is_none());
    let start = Instant::now();
    let first = pace.enter(&mut PaceTicket::default(), Duration::MAX).await;
    assert!(start.elapsed() >= MOMENT * 4);
    // One call shows whether the provider is ready.
    assert!(pace.try_enter().is_none());
    pace.note_answer();
    let second = pace.try_enter().unwrap();
    assert!(pace.try_enter().is_none());
    drop((first, second));
}

#[tokio::test]
async fn a_provider_that_does_not_say_is_left_alone_longer_each_time() {
    let pace = make_pace(8);
    for factor in [1, 2, 4, 8, 12] {
        // Calls that were in flight together count once.
        pace.note_busy(None);
        pace.note_busy(None);
        let waited = wait_to_enter(&pace).await;
        assert!(waited >= MOMENT * factor - MOMENT / 2, "{factor}: {waited:?}");
    }
    pace.note_answer();
    assert_eq!(pace.lock().streak, 0);
}

#[tokio::test]
async fn an_ask_waits_for_pauses_up_to_the_limit_and_then_goes() {
    let pace = make_pace(8);
    let renewing = Arc::clone(&pace);
    let renewal = tokio::spawn(async move {
        loop {
            renewing.note_busy(Some(MOMENT * 10));
            sleep(MOMENT * 2).await;
        }
    });
    sleep(MOMENT / 4).await;
    let waited = wait_to_enter(&pace).await;
    assert!(waited >= MOMENT * 11, "{waited:?}");
    assert!(pace.try_enter().is_none(), "the pause is still on");
    renewal.abort();
    // A wait of an hour is not worth it: the provider's answer is the result.
    let other = make_pace(8);
    other.note_busy(Some(Duration::from_secs(3_600)));
    assert!(other.try_enter().is_some());
}

#[tokio::test]
async fn a_call_that_gives_up_does_not_block_the_next() {
    let pace = make_pace(1);
    let held = pace.try_enter().unwrap();
    let gone = timeout(MOMENT, pace.enter(&mut PaceTicket::default(), Duration::MAX)).await;
    assert!(gone.is_err());
    drop(held);
    assert!(pace.try_enter().is_some());
    // The same for a call that was served and dropped before it noticed.
    let held = pace.try_enter().unwrap();
    let (place, _) = pace.join_queue(&mut PaceTicket::default());
    drop(held);
    drop(place);
    assert!(pace.try_enter().is_some());
}

#[tokio::test]
async fn exhausted_headers_pause_without_a_busy_answer() {
    let pace = make_pace(8);
    pace.note_exhausted(MOMENT * 3);
    let waited = wait_to_enter(&pace).await;
    assert!(waited >= MOMENT * 2, "{waited:?}");
    let both = (pace.try_enter(), pace.try_enter());
    assert!(both.0.is_some() && both.1.is_some(), "the width is not reduced");
}

#[test]
fn a_changed_limit_applies_to_the_next_run_of_a_process() {
    let paces = ProviderPaces::default();
    let limit_of = |limit: Option<u32>| {
        let provider = Provider { max_in_flight: limit, ..sample_provider() };
        paces.for_provider(&provider, TransportKind::Http)
    };
    let (first, raised) = (limit_of(Some(1)), limit_of(Some(8)));
    assert_eq!((first.in_flight_max(), raised.in_flight_max()), (1, 8));
    assert!(Arc::ptr_eq(&first, &limit_of(Some(1))), "runs share the pace of a provider");
}
