//! The loop of a run: ask the protocol for the next step, take it, journal it, repeat.

use std::sync::atomic::{self, AtomicU32};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;
use tokio::time::Instant;

use super::budget::Budget;
use super::call_budget::{BatchShare, CallBudgets, DailyShare};
use super::daily_budget::DailyBudget;
use super::interventions::InterventionWatcher;
use super::journal::Journal;
use super::known::AppliedEntries;
use super::observer::RunObserver;
use super::process_lock::{ProcessLock, RunClaim};
use super::pursue::Departure;
use super::reading;
use super::run_start::SeatTransports;
use super::run_start::abandoned;
use crate::ambient::Ambient;
use crate::domain::ask::Ask;
use crate::domain::change::{Change, EntryKind};
use crate::domain::gate::Redaction;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::{Stop, Transcript};
use crate::error::Error;
use crate::files::Folders;
use crate::protocols::{Protocols, Step};
use crate::store::Store;

/// The limits of one start of a run.
#[derive(Debug, Clone)]
pub struct Limits {
    pub wall: Duration,
    /// Becomes true when the user interrupts the command.
    pub interrupted: watch::Receiver<bool>,
}

/// A run in this process. One task owns it; every change goes through [`Self::decide`] or
/// [`Self::note`].
#[derive(Debug)]
pub struct Deliberation {
    pub(super) id: DialogueId,
    pub(super) transcript: Mutex<Transcript>,
    /// The journal entries that the run state contains.
    pub(super) known: Mutex<AppliedEntries>,
    /// Parse results that the next entry will contain.
    pub(super) unwritten: Mutex<Vec<Change>>,
    pub(super) calls: AtomicU32,
    pub(super) connections: SeatTransports,
    pub(super) budgets: CallBudgets,
    pub(super) journal: Journal,
    pub(super) store: Arc<dyn Store>,
    pub(super) ambient: Arc<dyn Ambient>,
    pub(super) observer: Arc<dyn RunObserver>,
    pub(super) redaction: Arc<Redaction>,
    pub(super) protocols: Protocols,
    watcher: InterventionWatcher,
    /// Keeps other runs of this process off the dialogue.
    _claim: RunClaim,
}

/// The dependencies of a run.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// The protocols that runs may follow.
    pub protocols: Protocols,
    pub journal: Journal,
    pub process_lock: Arc<ProcessLock>,
    pub store: Arc<dyn Store>,
    pub folders: Folders,
    pub watcher: InterventionWatcher,
    pub ambient: Arc<dyn Ambient>,
    pub observer: Arc<dyn RunObserver>,
    /// The share of a batch in a common budget.
    pub batch_share: Option<BatchShare>,
    /// The servers' daily budget; none for runs of the command line.
    pub daily_budget: Option<Arc<DailyBudget>>,
    /// What the verdict log must not contain. It is not in the plan, because the journal keeps the
    /// plan.
    pub redaction: Arc<Redaction>,
}

impl Deliberation {
    pub fn id(&self) -> &DialogueId {
        &self.id
    }

    /// A run from a run state, new or loaded from this many entries.
    pub(super) fn new(
        mut transcript: Transcript,
        entries: u64,
        claim: RunClaim,
        connections: SeatTransports,
        context: RunContext,
    ) -> Self {
        let unwritten = reading::due(&context.protocols, &transcript);
        let (id, at) = (transcript.opening.dialogue_id.clone(), transcript.last_entry_at);
        transcript.add(at, &unwritten);
        if !unwritten.is_empty() {
            context.observer.on_entry(&id, at, &unwritten);
        }
        let own = Budget::for_resumed_run(transcript.plan.caps, &transcript);
        let daily = context.daily_budget.map(|budget| DailyShare { budget, id: id.clone() });
        Self {
            id,
            calls: AtomicU32::new(transcript.next_call_id()),
            budgets: CallBudgets::new(own, context.batch_share).with_daily(daily),
            transcript: Mutex::new(transcript),
            known: Mutex::new(AppliedEntries::upto(entries)),
            unwritten: Mutex::new(unwritten),
            connections,
            journal: context.journal,
            store: context.store,
            watcher: context.watcher,
            ambient: context.ambient,
            observer: context.observer,
            redaction: context.redaction,
            protocols: context.protocols,
            _claim: claim,
        }
    }

    /// Drives the run until it is done, stops, reaches the deadline or is interrupted.
    pub async fn run(&self, mut limits: Limits) -> Result<Stop, Error> {
        let deadline = Instant::now() + limits.wall;
        let cut = tokio::select! {
            ended = self.go_on() => return ended,
            () = tokio::time::sleep_until(deadline) => Stop::Deadline,
            () = interruption(&mut limits.interrupted) => Stop::Interrupted,
        };
        // Calls in flight are dropped; the next start records them as lost.
        self.note(EntryKind::RunStopped, self.stopping(&cut)).await?;
        Ok(cut)
    }

    /// The run state.
    pub fn into_transcript(self) -> Transcript {
        self.transcript.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn go_on(&self) -> Result<Stop, Error> {
        loop {
            if self.transcript().is_abandoned {
                return Err(abandoned(&self.id).into());
            }
            let step = self.protocols.next(&self.transcript());
            match step {
                Step::Ask(asks) => self.ask(asks).await?,
                Step::Append(drafts) => self.append(drafts).await?,
                Step::Finish => {
                    if let Some(stop) = self.record_stop(Stop::Done).await? {
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
    async fn record_stop(&self, stop: Stop) -> Result<Option<Stop>, Error> {
        let already = self.transcript().stopped.as_ref() == Some(&stop);
        let changes = self.stopping(&stop);
        let is_recorded = already || self.write(EntryKind::RunStopped, changes).await?;
        Ok(is_recorded.then_some(stop))
    }

    /// Journals the messages and the calls, then makes all calls concurrently. It is one entry,
    /// because nothing is sent before all of it is durable.
    async fn ask(&self, asks: Vec<Ask>) -> Result<(), Error> {
        let (mut changes, mut courses) = self.courses(&asks)?;
        let is_fresh = !changes.is_empty();
        courses.retain_mut(|course| match self.set_out(course) {
            Departure::Sent(sent) => {
                changes.push(sent);
                true
            }
            Departure::NotSent(not_sent) => {
                changes.push(not_sent);
                false
            }
            Departure::Waits => true,
        });
        let kind = match (is_fresh, courses.is_empty()) {
            (true, _) => EntryKind::AsksPrepared,
            (false, false) => EntryKind::CallSent,
            (false, true) => EntryKind::AskNotSent,
        };
        if !changes.is_empty() && !self.write(kind, changes).await? {
            // An intervention arrived first. Nothing was sent, the next asks will include it, and
            // dropping the calls releases their budget.
            return Ok(());
        }
        let pursuits = courses.into_iter().map(|course| self.pursue(course));
        let pursuits: FuturesUnordered<_> = pursuits.collect();
        tokio::select! {
            pursued = settled(pursuits) => pursued,
            cut = self.cut_short() => cut,
        }
    }

    /// Waits until the Principal stops the rounds. The caller then drops the calls in flight.
    async fn cut_short(&self) -> Result<(), Error> {
        let mut watcher = self.watcher.clone();
        loop {
            let (is_cut_short, is_ending) = {
                let transcript = self.transcript();
                (transcript.is_cut_short, transcript.participants.is_some())
            };
            if is_ending {
                // A stop does not apply to the conclusion.
                std::future::pending::<()>().await;
            }
            if is_cut_short {
                return Ok(());
            }
            watcher.changed().await;
            self.catch_up()?;
        }
    }

    pub(super) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        lock(&self.transcript)
    }

    pub(super) fn next_call(&self) -> u32 {
        self.calls.fetch_add(1, atomic::Ordering::Relaxed)
    }
}

async fn settled(
    mut pursuits: FuturesUnordered<impl Future<Output = Result<(), Error>>>,
) -> Result<(), Error> {
    while let Some(pursued) = pursuits.next().await {
        pursued?;
    }
    Ok(())
}

/// Waits for an interrupt; forever if its sender is gone.
async fn interruption(interrupted: &mut watch::Receiver<bool>) {
    if interrupted.wait_for(|is_so| *is_so).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A poisoned lock is usable: a panic under the lock ends the task that owns the run.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
