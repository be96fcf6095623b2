//! The loop of a run: ask the protocol for the next step, take it, journal it, repeat.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use plenary_core::model::ask::Ask;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::run_state::{ParseOutcome, RunState, RunStopReason};
use plenary_core::model::time::Moment;
use plenary_core::protocols::protocol::{Protocols, Step};
use plenary_core::protocols::review::redaction::LogRedaction;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::clock::System;
use crate::engine::append::AppliedEntries;
use crate::engine::budget::{Budget, worst_cost_for_bytes};
use crate::engine::call::{CallAttempt, ReserveOutcome};
use crate::engine::call_budget::{BatchShare, CallBudgets, DailyShare};
use crate::engine::daily_budget::DailyBudget;
use crate::engine::interventions::InterventionWatcher;
use crate::engine::journal::JournalWriter;
use crate::engine::live_text::WritingEvent;
use crate::engine::parse_replies::parse_pending_replies;
use crate::engine::process_lock::{ProcessLock, RunClaim};
use crate::engine::run_start::{SeatTransports, abandoned_error};
use crate::error::Error;
use crate::files::allowed_folders::AllowedFolders;
use crate::store::traits::Store;

/// The limits of one start of a run.
#[derive(Debug, Clone)]
pub struct RunLimits {
    pub wall: Duration,
    /// Becomes true when the user interrupts the command.
    pub interrupted: watch::Receiver<bool>,
}

/// A run in this process. One task owns it; every change goes through [`Self::decide`] or
/// [`Self::note`].
#[derive(Debug)]
pub struct Run {
    pub(crate) id: DialogueId,
    pub(crate) state: Mutex<RunState>,
    /// The journal entries that the run state contains.
    pub(crate) known: Mutex<AppliedEntries>,
    /// Parse results that the next entry will contain.
    pub(crate) unwritten: Mutex<Vec<JournalEvent>>,
    pub(crate) connections: SeatTransports,
    pub(crate) budgets: CallBudgets,
    pub(crate) journal: JournalWriter,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ambient: Arc<dyn System>,
    pub(crate) observer: Arc<dyn RunObserver>,
    pub(crate) process_lock: Arc<ProcessLock>,
    pub(crate) redaction: Arc<LogRedaction>,
    pub(crate) protocols: Protocols,
    /// When this start of the run ends at the latest; set when it is driven.
    deadline: OnceLock<Instant>,
    watcher: InterventionWatcher,
    /// Keeps other runs of this process off the dialogue.
    _claim: RunClaim,
}

/// The dependencies of a run.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// The protocols that runs may follow.
    pub protocols: Protocols,
    pub journal: JournalWriter,
    pub process_lock: Arc<ProcessLock>,
    pub store: Arc<dyn Store>,
    pub folders: AllowedFolders,
    pub watcher: InterventionWatcher,
    pub ambient: Arc<dyn System>,
    pub observer: Arc<dyn RunObserver>,
    /// The share of a batch in a common budget.
    pub batch_share: Option<BatchShare>,
    /// The servers' daily budget; none for runs of the command line.
    pub daily_budget: Option<Arc<DailyBudget>>,
    /// What the verdict log must not contain. It is not in the plan, because the journal keeps the
    /// plan.
    pub redaction: Arc<LogRedaction>,
}

impl Run {
    pub fn id(&self) -> &DialogueId {
        &self.id
    }

    /// A run from a run state, new or loaded from this many entries.
    pub(crate) fn new(
        mut state: RunState,
        entries: u64,
        claim: RunClaim,
        connections: SeatTransports,
        context: RunContext,
    ) -> Self {
        let unwritten = parse_pending_replies(&context.protocols, &state);
        let (id, at) = (state.opening.dialogue_id.clone(), state.last_entry_at);
        state.apply_events(at, &unwritten);
        if !unwritten.is_empty() {
            context.observer.on_entry(&id, at, &unwritten);
        }
        let own = Budget::for_resumed_run(state.plan.caps, &state);
        let daily = context.daily_budget.map(|budget| DailyShare { budget, id: id.clone() });
        Self {
            id,
            budgets: CallBudgets::new(own, context.batch_share)
                .with_daily(daily, state.next_call_id()),
            state: Mutex::new(state),
            known: Mutex::new(AppliedEntries::up_to(entries)),
            unwritten: Mutex::new(unwritten),
            connections,
            journal: context.journal,
            store: context.store,
            watcher: context.watcher,
            ambient: context.ambient,
            observer: context.observer,
            process_lock: context.process_lock,
            redaction: context.redaction,
            protocols: context.protocols,
            deadline: OnceLock::new(),
            _claim: claim,
        }
    }

    /// Drives the run until it is done, stops, reaches the deadline or is interrupted.
    pub async fn run(&self, mut limits: RunLimits) -> Result<RunStopReason, Error> {
        let deadline = *self.deadline.get_or_init(|| Instant::now() + limits.wall);
        let cut = tokio::select! {
            ended = self.drive() => return ended,
            () = tokio::time::sleep_until(deadline) => RunStopReason::Deadline,
            () = wait_for_interrupt(&mut limits.interrupted) => RunStopReason::Interrupted,
        };
        // Calls in flight are dropped; the next start records them as lost.
        self.append_entry(JournalEntryKind::RunStopped, self.stop_changes(&cut)).await?;
        Ok(cut)
    }

    /// Time until the deadline.
    pub(crate) fn time_left(&self) -> Duration {
        let left = |deadline: &Instant| deadline.saturating_duration_since(Instant::now());
        self.deadline.get().map_or(Duration::MAX, left)
    }

    /// The run state.
    pub fn into_state(self) -> RunState {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn drive(&self) -> Result<RunStopReason, Error> {
        loop {
            if self.state().is_abandoned {
                return Err(abandoned_error(&self.id).into());
            }
            let step = self.protocols.next_step(&self.state());
            match step {
                Step::Ask(asks) => self.send_asks(asks).await?,
                Step::Append(drafts) => self.append_drafts(drafts).await?,
                Step::Finish => {
                    if let Some(stop) = self.record_stop(RunStopReason::Done).await? {
                        return Ok(stop);
                    }
                }
                Step::Stop(stop) => {
                    if let Some(stop) = self.record_stop(stop).await? {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    /// Records that the run stopped, unless the journal says so already. None if the journal has
    /// grown meanwhile and the protocol must decide again.
    async fn record_stop(&self, stop: RunStopReason) -> Result<Option<RunStopReason>, Error> {
        let already = self.state().stopped.as_ref() == Some(&stop);
        let changes = self.stop_changes(&stop);
        let is_recorded =
            already || self.append_changes(JournalEntryKind::RunStopped, changes).await?;
        Ok(is_recorded.then_some(stop))
    }

    /// Makes all calls concurrently. A stricter ask goes out as soon as a reply cannot be read,
    /// without waiting for the slowest seat.
    async fn send_asks(&self, asks: Vec<Ask>) -> Result<(), Error> {
        let Some(courses) = self.open_calls(&asks).await? else { return Ok(()) };
        let mut sent: BTreeSet<u32> = asks.iter().map(|ask| ask.id).collect();
        let mut pursuits: FuturesUnordered<_> =
            courses.into_iter().map(|course| self.pursue_ask(course)).collect();
        let finished = async {
            while let Some(pursued) = pursuits.next().await {
                let ask = pursued?;
                // The journal may grow meanwhile, by the reply of another seat or an intervention.
                // Then the protocol decides again.
                loop {
                    let again = self.stricter_asks(ask, &sent);
                    if again.is_empty() {
                        break;
                    }
                    if let Some(courses) = self.open_calls(&again).await? {
                        sent.extend(again.iter().map(|ask| ask.id));
                        pursuits.extend(courses.into_iter().map(|course| self.pursue_ask(course)));
                        break;
                    }
                }
            }
            Ok(())
        };
        // A protocol that asks after a stop, for a verdict, waits for the reply.
        if self.state().is_cut_short {
            return finished.await;
        }
        tokio::select! {
            pursued = finished => pursued,
            cut = self.wait_for_stop() => cut,
        }
    }

    /// Drives the calls of an ask to their end; returns the ask's number.
    async fn pursue_ask(&self, course: CallAttempt<'_>) -> Result<u32, Error> {
        let ask = course.ask.id;
        self.drive_call(course).await.map(|()| ask)
    }

    /// The asks that the protocol adds because the reply to this one could not be read.
    fn stricter_asks(&self, ask: u32, sent: &BTreeSet<u32>) -> Vec<Ask> {
        let state = self.state();
        let outcome = state.find_ask(ask).and_then(|asked| asked.parse_outcome.as_ref());
        if !matches!(outcome, Some(ParseOutcome::Unreadable { .. })) {
            return Vec::new();
        }
        let Step::Ask(asks) = self.protocols.next_step(&state) else { return Vec::new() };
        let is_new = |ask: &Ask| ask.retry_reason.is_some() && !sent.contains(&ask.id);
        asks.into_iter().filter(is_new).collect()
    }

    /// Keeps room in the budget for the chair's last call, if these asks must leave it. Its messages
    /// are about as long as theirs.
    fn keep_last_call(&self, asks: &[Ask], courses: &[CallAttempt<'_>]) {
        let mut rules = asks.iter().map(|ask| self.protocols.ask_rules(ask.purpose, ask.round));
        if !rules.any(|rules| rules.is_some_and(|rules| rules.leaves_last_call)) {
            return self.budgets.set_aside(None);
        }
        let state = self.state();
        let chair = state.plan.chairs.first();
        let chair = chair.and_then(|name| state.plan.find_seat(name));
        let bytes = courses.iter().map(|course| course.request.messages.byte_len()).max();
        let kept = chair.zip(bytes).map(|(seat, bytes)| worst_cost_for_bytes(seat, bytes));
        self.budgets.set_aside(kept);
    }

    /// Journals the messages and the calls. It is one entry, because nothing is sent before all of
    /// it is durable. `None` if the journal has grown meanwhile.
    async fn open_calls(&self, asks: &[Ask]) -> Result<Option<Vec<CallAttempt<'_>>>, Error> {
        let (mut changes, mut courses) = self.prepare_calls(asks)?;
        let is_fresh = !changes.is_empty();
        self.keep_last_call(asks, &courses);
        courses.retain_mut(|course| match self.reserve_call(course) {
            ReserveOutcome::Reserved(sent) => {
                changes.push(sent);
                true
            }
            ReserveOutcome::Refused(not_sent) => {
                changes.push(not_sent);
                false
            }
            ReserveOutcome::MustWait => true,
        });
        let kind = match (is_fresh, courses.is_empty()) {
            (true, _) => JournalEntryKind::AsksPrepared,
            (false, false) => JournalEntryKind::CallSent,
            (false, true) => JournalEntryKind::AskNotSent,
        };
        if !changes.is_empty() && !self.append_changes(kind, changes).await? {
            // An intervention arrived first. Nothing was sent, the next asks will include it, and
            // dropping the calls releases their budget.
            return Ok(None);
        }
        Ok(Some(courses))
    }

    /// Waits until the Principal stops the rounds. The caller then drops the calls in flight.
    async fn wait_for_stop(&self) -> Result<(), Error> {
        let mut watcher = self.watcher.clone();
        loop {
            let (is_cut_short, is_ending) = {
                let state = self.state();
                (state.is_cut_short, state.participants.is_some())
            };
            if is_ending {
                // A stop does not apply to the conclusion.
                std::future::pending::<()>().await;
            }
            if is_cut_short {
                return Ok(());
            }
            watcher.changed().await;
            self.sync_journal()?;
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, RunState> {
        lock_mutex(&self.state)
    }
}

/// Waits for an interrupt; forever if its sender is gone.
async fn wait_for_interrupt(interrupted: &mut watch::Receiver<bool>) {
    if interrupted.wait_for(|is_so| *is_so).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A poisoned lock is usable: a panic under the lock ends the task that owns the run.
pub fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Receives every entry once it is durable, in the order of the journal, and the content of a reply
/// as soon as it is parsed.
pub trait RunObserver: Debug + Send + Sync {
    fn on_entry(&self, id: &DialogueId, at: Moment, changes: &[JournalEvent]);

    /// Receives the parts of a reply while a seat writes it. They are never journalled.
    fn on_writing(&self, _event: &WritingEvent) {}
}

/// Ignores all entries.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl RunObserver for NoopObserver {
    fn on_entry(&self, _: &DialogueId, _: Moment, _: &[JournalEvent]) {}
}
