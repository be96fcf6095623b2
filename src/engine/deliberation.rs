//! A run: the protocol says what is next, this does it.

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
use crate::protocols::{Step, next};
use crate::store::Store;

/// When a run must end, whatever it has.
#[derive(Debug, Clone)]
pub struct Limits {
    pub wall: Duration,
    /// Becomes true when the person at the terminal has had enough.
    pub interrupted: watch::Receiver<bool>,
}

/// A run at work. One task owns it; all that happens goes through [`Self::decide`] or
/// [`Self::note`].
#[derive(Debug)]
pub struct Deliberation {
    pub(super) id: DialogueId,
    pub(super) transcript: Mutex<Transcript>,
    /// The entries that the transcript has taken in.
    pub(super) known: Mutex<AppliedEntries>,
    /// Readings that go into the journal with the next entry.
    pub(super) unwritten: Mutex<Vec<Change>>,
    pub(super) calls: AtomicU32,
    pub(super) connections: SeatTransports,
    pub(super) budgets: CallBudgets,
    pub(super) journal: Journal,
    pub(super) store: Arc<dyn Store>,
    pub(super) ambient: Arc<dyn Ambient>,
    pub(super) observer: Arc<dyn RunObserver>,
    pub(super) redaction: Arc<Redaction>,
    watcher: InterventionWatcher,
    /// No other run of this process works on the dialogue meanwhile.
    _claim: RunClaim,
}

/// What runs share.
#[derive(Debug, Clone)]
pub struct RunContext {
    pub journal: Journal,
    pub process_lock: Arc<ProcessLock>,
    pub store: Arc<dyn Store>,
    pub folders: Folders,
    pub watcher: InterventionWatcher,
    pub ambient: Arc<dyn Ambient>,
    pub observer: Arc<dyn RunObserver>,
    /// Of what a whole batch may spend together.
    pub batch_share: Option<BatchShare>,
    /// What servers may spend in a day; nothing, where no server works on the runs.
    pub daily_budget: Option<Arc<DailyBudget>>,
    /// What must not be in the verdict log. It is no part of the plan: the journal keeps that.
    pub redaction: Arc<Redaction>,
}

impl Deliberation {
    pub fn id(&self) -> &DialogueId {
        &self.id
    }

    /// A run over a transcript, fresh or loaded: there is no difference. It was read from this
    /// many entries.
    pub(super) fn new(
        mut transcript: Transcript,
        entries: u64,
        claim: RunClaim,
        connections: SeatTransports,
        context: RunContext,
    ) -> Self {
        let unwritten = reading::due(&transcript);
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
            _claim: claim,
        }
    }

    /// Goes on until the end, an honest stop, the deadline or an interruption.
    pub async fn run(&self, mut limits: Limits) -> Result<Stop, Error> {
        let deadline = Instant::now() + limits.wall;
        let cut = tokio::select! {
            ended = self.go_on() => return ended,
            () = tokio::time::sleep_until(deadline) => Stop::Deadline,
            () = interruption(&mut limits.interrupted) => Stop::Interrupted,
        };
        // What was in flight is dropped by now; the next run will know that it was lost.
        self.note(EntryKind::RunStopped, self.stopping(&cut)).await?;
        Ok(cut)
    }

    /// What is known of the run by now.
    pub fn into_transcript(self) -> Transcript {
        self.transcript.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn go_on(&self) -> Result<Stop, Error> {
        loop {
            if self.transcript().is_abandoned {
                return Err(abandoned(&self.id).into());
            }
            let step = next(&self.transcript());
            match step {
                Step::Ask(asks) => self.ask(asks).await?,
                Step::Hold(round) => self.hold(round).await?,
                Step::Weigh(shortcut) => {
                    let change = Change::ShortcutWeighed(shortcut);
                    self.write(EntryKind::ShortcutWeighed, vec![change]).await?;
                }
                Step::Deliver(report) => self.deliver(report).await?,
                Step::Rule(ruling) => self.rule(ruling).await?,
                Step::Conclude => self.conclude().await?,
                Step::End(ending) => self.end(ending).await?,
                Step::Stop(stop) => {
                    let already = self.transcript().stopped.as_ref() == Some(&stop);
                    let changes = self.stopping(&stop);
                    if already || self.write(EntryKind::RunStopped, changes).await? {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    /// Writes down what each seat will see and that it is called, then pursues all of them
    /// at once. It is one entry, because nothing is sent before all of it is durable.
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
            // An intervention came first: nothing was sent, and the next asks will include it. What
            // was set aside is free again with the courses.
            return Ok(());
        }
        let pursuits = courses.into_iter().map(|course| self.pursue(course));
        let pursuits: FuturesUnordered<_> = pursuits.collect();
        tokio::select! {
            pursued = settled(pursuits) => pursued,
            cut = self.cut_short() => cut,
        }
    }

    /// Waits until the Principal has had enough of the rounds. What is in flight is dropped then.
    async fn cut_short(&self) -> Result<(), Error> {
        let mut watcher = self.watcher.clone();
        loop {
            let (is_cut_short, is_ending) = {
                let transcript = self.transcript();
                (transcript.is_cut_short, transcript.participants.is_some())
            };
            if is_ending {
                // There is nothing left to cut.
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

/// Waits for an interruption; for ever, when nobody can interrupt any more.
async fn interruption(interrupted: &mut watch::Receiver<bool>) {
    if interrupted.wait_for(|is_so| *is_so).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A panic while the lock was held would have ended the task that owns the run.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
