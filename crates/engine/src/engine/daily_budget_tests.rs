//! A day's money over all runs: reserved, settled, read back from the journal, new the next day.

use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt;
use plenary_core::model::ask::{
    CallCost, CallDispatch, CallErrorType, CallFailure, CostSource, FinishReason, ModelReply,
    TransportKind,
};
use plenary_core::model::dialogue::{DialogueOpening, ProtocolKind};
use plenary_core::model::intervention::DirectiveRestatement;
use plenary_core::model::journal::JournalEntryKind;
use plenary_core::model::time::Moment;

use super::*;
use crate::store::sqlite::store::SqliteStore;
use crate::store::traits::in_transaction;

/// A clock that a test sets, by hours from the first of the month.
#[derive(Debug, Default)]
struct Hours(AtomicU32);

impl System for Hours {
    fn now(&self) -> Moment {
        let hours = self.0.load(Ordering::Relaxed);
        format!("2026-02-{:02}T{:02}:30:00Z", 2 + hours / 24, hours % 24).parse().unwrap()
    }

    fn random_u64(&self) -> u64 {
        7
    }
}

/// A store with one dialogue, and its clock.
struct Case {
    store: Arc<dyn Store>,
    hours: Arc<Hours>,
    id: DialogueId,
}

impl Case {
    fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
        let case = Self { store, hours: Arc::default(), id: "talk".parse().unwrap() };
        let opening = DialogueOpening {
            dialogue_id: case.id.clone(),
            title: "Talk".to_owned(),
            question: None,
            background: None,
            protocol: ProtocolKind::Council,
            rehearsal: false,
            convergence_percent: 100,
            panel_seed: None,
            output_dir: "talk".to_owned(),
            calibrated: false,
            domain_id: None,
        };
        case.write(JournalEntryKind::DialogueCreated, JournalEvent::DialogueOpened(opening));
        case
    }

    fn write(&self, kind: JournalEntryKind, change: JournalEvent) {
        let at = self.hours.now();
        let written: Result<u64, StoreError> = in_transaction(self.store.as_ref(), |unit| {
            unit.append_entry(&self.id, kind, at, &[change])
        });
        written.unwrap();
    }

    /// A server that starts on this store.
    fn server(&self, limit: u64) -> DailyBudget {
        let daily = DailyBudget::new(Arc::clone(&self.store), self.hours.clone());
        daily.set_limit(Some(limit));
        daily
    }

    fn send(&self, call: u32, usd_micros: u64) {
        let sending = CallDispatch {
            call,
            ask: 1,
            transport: TransportKind::Http,
            attempt: 1,
            reserved: usd(usd_micros),
            fallback: None,
            repeats: None,
            without: Vec::new(),
        };
        self.write(JournalEntryKind::CallSent, JournalEvent::CallSent(sending));
    }

    fn reply(&self, call: u32, usd_micros: u64) {
        let reply = reply(usd_micros);
        self.write(JournalEntryKind::ReplyKept, JournalEvent::ReplyKept { call, reply });
    }

    fn fail(&self, call: u32, error_type: CallErrorType) {
        let failure = CallFailure {
            error_type,
            message: String::new(),
            latency_ms: 1,
            refused: None,
            estimated: None,
            arrived: None,
        };
        let change = JournalEvent::CallFailed { call, failure, gave_up: true };
        self.write(JournalEntryKind::CallFailed, change);
    }

    fn direct(&self, text: &str, usd_micros: u64, confirmed: bool) {
        let restatement = Some(DirectiveRestatement {
            seat: "ann".parse().unwrap(),
            sentence: "So it is.".to_owned(),
            reply: reply(usd_micros),
        });
        let intervention =
            Intervention::Directive { text: text.to_owned(), restatement, confirmed };
        self.write(
            JournalEntryKind::Intervened,
            JournalEvent::Intervened { round: 1, intervention },
        );
    }
}

fn reply(usd_micros: u64) -> ModelReply {
    ModelReply {
        text: String::new(),
        usage: None,
        model: None,
        finish: FinishReason::Stop,
        cost: CallCost { usd_micros: Some(usd_micros), source: CostSource::Reported },
        latency_ms: 1,
        structured: false,
        first_byte_ms: None,
    }
}

fn usd(usd_micros: u64) -> BudgetReservation {
    BudgetReservation { usd_micros: Some(usd_micros), tokens: 1 }
}

/// Whether this much is left, and no more.
#[track_caller]
fn check_left(daily: &DailyBudget, left: u64) {
    assert_eq!(daily.reserve_restatement(usd(left + 1)), Err(BudgetShortage::ServerMoney));
    assert_eq!(daily.reserve_restatement(usd(left)), Ok(()), "{left} are left");
    daily.release_restatement(usd(left));
}

#[test]
fn calls_of_all_runs_are_reserved_settled_and_given_back() {
    let case = Case::new();
    let daily = case.server(100);
    let other: DialogueId = "other".parse().unwrap();
    daily.reserve(&case.id, 1, usd(60)).unwrap();
    assert_eq!(daily.reserve(&other, 1, usd(41)), Err(NotReserved::MustWait));
    daily.reserve(&other, 1, usd(40)).unwrap();
    daily.settle(&case.id, 1, usd(10));
    check_left(&daily, 50);
    daily.release_call(&other, 1);
    check_left(&daily, 90);
    // More than was set aside counts too.
    daily.settle(&case.id, 1, usd(150));
    daily.finish_call();
    daily.finish_call();
    let refused = NotReserved::Refused(BudgetShortage::ServerMoney);
    assert_eq!(daily.reserve(&other, 2, usd(0)), Err(refused));
}

#[tokio::test]
async fn a_call_waits_for_what_calls_in_flight_give_back_and_for_nothing_else() {
    let case = Case::new();
    let daily = case.server(100);
    daily.reserve(&case.id, 1, usd(80)).unwrap();
    let mut second = std::pin::pin!(daily.reserve_or_wait(&case.id, 2, usd(60)));
    assert!(second.as_mut().now_or_never().is_none(), "the first call may give enough back");
    daily.settle(&case.id, 1, usd(10));
    daily.finish_call();
    assert_eq!(second.await, Ok(()));
    let mut third = std::pin::pin!(daily.reserve_or_wait(&case.id, 3, usd(60)));
    assert!(third.as_mut().now_or_never().is_none());
    daily.finish_call();
    assert_eq!(third.await, Err(BudgetShortage::ServerMoney), "nothing more can come back");
}

#[test]
fn a_call_that_the_journal_holds_is_counted_once() {
    let case = Case::new();
    let daily = case.server(100);
    daily.reserve(&case.id, 1, usd(60)).unwrap();
    case.send(1, 60);
    check_left(&daily, 40);
    daily.settle(&case.id, 1, usd(20));
    case.reply(1, 20);
    check_left(&daily, 80);
}

#[test]
fn a_server_that_starts_again_counts_what_the_store_holds_of_today() {
    let case = Case::new();
    case.send(1, 30);
    case.reply(1, 12);
    case.send(2, 20);
    case.fail(2, CallErrorType::Auth);
    case.send(3, 7);
    case.fail(3, CallErrorType::Timeout);
    // In flight, or lost with its process: the worst counts.
    case.send(4, 5);
    check_left(&case.server(100), 100 - 12 - 7 - 5);
    // Another server on the same store writes on.
    let daily = case.server(100);
    check_left(&daily, 76);
    case.send(5, 6);
    check_left(&daily, 70);
}

#[test]
fn a_new_day_has_its_own_money() {
    let case = Case::new();
    let daily = case.server(100);
    case.send(1, 100);
    check_left(&daily, 0);
    case.hours.0.store(23, Ordering::Relaxed);
    check_left(&daily, 0);
    case.hours.0.store(24, Ordering::Relaxed);
    check_left(&daily, 100);
    // What was sent yesterday belongs to yesterday, also when its reply comes today.
    case.reply(1, 90);
    check_left(&daily, 100);
    check_left(&case.server(100), 100);
    case.send(2, 1);
    check_left(&daily, 99);
    check_left(&case.server(100), 99);
}

#[test]
fn a_restatement_is_paid_for_once() {
    let case = Case::new();
    let daily = case.server(100);
    case.direct("Only managed services", 10, false);
    check_left(&daily, 90);
    case.direct("Only managed services", 10, true);
    check_left(&daily, 90);
    case.direct("And at once", 5, true);
    check_left(&daily, 85);
    check_left(&case.server(100), 85);
}

#[test]
fn without_a_limit_nothing_is_refused_and_a_limit_holds_from_when_it_is_set() {
    let case = Case::new();
    let daily = case.server(0);
    daily.set_limit(None);
    daily.reserve(&case.id, 1, usd(1_000_000)).unwrap();
    case.send(1, 1_000_000);
    daily.set_limit(Some(1_000_001));
    check_left(&daily, 1);
    // A price that is not known cannot be held against the limit.
    daily.reserve(&case.id, 2, BudgetReservation { usd_micros: None, tokens: 9 }).unwrap();
}
