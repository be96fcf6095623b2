//! A run: the protocol says what is next, this does it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;
use tokio::time::Instant;

use super::connections::Connections;
use super::journal::Journal;
use super::observer::Observer;
use super::purse::Purse;
use super::pursue::Course;
use super::reading;
use super::resume::unreachable_seat;
use crate::ambient::Ambient;
use crate::domain::ask::Ask;
use crate::domain::change::{Change, EntryKind};
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;
use crate::domain::transcript::{Stop, Transcript};
use crate::error::Error;
use crate::operations;
use crate::prompting::{Prepared, prepare};
use crate::protocols::Step;
use crate::protocols::council::{next, round_batch, verdict_arguments};

/// When a run must end, whatever it has.
#[derive(Debug, Clone)]
pub struct Limits {
    pub wall: Duration,
    /// Becomes true when the person at the terminal has had enough.
    pub interrupted: watch::Receiver<bool>,
}

/// A council at work. One task owns it; all that happens goes through [`Self::note`].
#[derive(Debug)]
pub struct Deliberation {
    pub(super) id: DialogueId,
    pub(super) transcript: Mutex<Transcript>,
    /// Readings that go into the journal with the next entry.
    unwritten: Mutex<Vec<Change>>,
    pub(super) calls: AtomicU32,
    pub(super) connections: Connections,
    pub(super) purse: Purse,
    /// What a whole batch may spend together.
    pub(super) common_purse: Option<Arc<Purse>>,
    journal: Journal,
    pub(super) ambient: Arc<dyn Ambient>,
    observer: Arc<dyn Observer>,
}

/// What runs share.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub journal: Journal,
    pub ambient: Arc<dyn Ambient>,
    pub observer: Arc<dyn Observer>,
    pub common_purse: Option<Arc<Purse>>,
}

impl Deliberation {
    /// A run over a transcript, fresh or loaded: there is no difference.
    pub(super) fn new(
        mut transcript: Transcript,
        connections: Connections,
        surroundings: Surroundings,
    ) -> Self {
        let unwritten = reading::due(&transcript);
        let (id, at) = (transcript.opening.dialogue_id.clone(), transcript.last_entry_at);
        transcript.add(at, &unwritten);
        if !unwritten.is_empty() {
            surroundings.observer.saw(&id, at, &unwritten);
        }
        Self {
            id,
            calls: AtomicU32::new(transcript.next_call_id()),
            purse: Purse::after(transcript.plan.caps, &transcript),
            common_purse: surroundings.common_purse,
            transcript: Mutex::new(transcript),
            unwritten: Mutex::new(unwritten),
            connections,
            journal: surroundings.journal,
            ambient: surroundings.ambient,
            observer: surroundings.observer,
        }
    }

    /// Goes on until the report, an honest stop, the deadline or an interruption.
    pub async fn run(&self, mut limits: Limits) -> Result<Stop, Error> {
        let deadline = Instant::now() + limits.wall;
        let cut = tokio::select! {
            ended = self.go_on() => return ended,
            () = tokio::time::sleep_until(deadline) => Stop::Deadline,
            () = interruption(&mut limits.interrupted) => Stop::Interrupted,
        };
        // What was in flight is dropped by now; the next run will know that it was lost.
        self.note(EntryKind::RunStopped, vec![Change::RunStopped(cut.clone())]).await?;
        Ok(cut)
    }

    /// What is known of the run by now.
    pub fn into_transcript(self) -> Transcript {
        self.transcript.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn go_on(&self) -> Result<Stop, Error> {
        loop {
            let step = next(&self.transcript());
            match step {
                Step::Ask(asks) => self.ask(asks).await?,
                Step::Hold(round) => self.hold(round).await?,
                Step::Weigh(shortcut) => {
                    let change = Change::ShortcutWeighed(shortcut);
                    self.note(EntryKind::ShortcutWeighed, vec![change]).await?;
                }
                Step::Deliver(report) => self.deliver(report).await?,
                Step::Stop(stop) => {
                    let already = self.transcript().stopped.as_ref() == Some(&stop);
                    if !already {
                        let change = Change::RunStopped(stop.clone());
                        self.note(EntryKind::RunStopped, vec![change]).await?;
                    }
                    return Ok(stop);
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
            Ok(sent) => {
                changes.push(sent);
                true
            }
            Err(not_sent) => {
                changes.push(not_sent);
                false
            }
        });
        let kind = match (is_fresh, courses.is_empty()) {
            (true, _) => EntryKind::AsksPrepared,
            (false, false) => EntryKind::CallSent,
            (false, true) => EntryKind::AskNotSent,
        };
        if !changes.is_empty() {
            self.note(kind, changes).await?;
        }
        let pursuits = courses.into_iter().map(|course| self.pursue(course));
        let mut pursuits: FuturesUnordered<_> = pursuits.collect();
        while let Some(pursued) = pursuits.next().await {
            pursued?;
        }
        Ok(())
    }

    /// The way of each ask, and what those that are new will carry.
    fn courses<'a>(&'a self, asks: &'a [Ask]) -> Result<(Vec<Change>, Vec<Course<'a>>), Error> {
        let transcript = self.transcript();
        let (mut prepared, mut courses) = (Vec::new(), Vec::new());
        for ask in asks {
            let transports = self.connections.of(&ask.seat);
            let course = if let Some(asked) = transcript.asked(ask.id) {
                Course::again(&transcript, ask, transports, asked)
            } else {
                let prepared_ask = prepare(&transcript, None, ask);
                let Prepared { messages, condensed } =
                    prepared_ask.ok_or_else(|| unreachable_seat(&ask.seat))?;
                let messages = Arc::new(messages);
                let keeps = transcript.plan.keep_prompts;
                prepared.push(Change::AskPrepared {
                    ask: ask.clone(),
                    messages: keeps.then(|| Arc::clone(&messages)),
                    messages_sha256: (!keeps).then(|| messages.digest()),
                    condensed,
                });
                Course::begin(&transcript, ask, transports, messages)
            };
            // A seat that nothing leads to would be asked for ever.
            courses.push(course.ok_or_else(|| unreachable_seat(&ask.seat))?);
        }
        Ok((prepared, courses))
    }

    /// What a round found enters the record.
    async fn hold(&self, round: u8) -> Result<(), Error> {
        let batch = operations::batch(&round_batch(&self.transcript(), round))?;
        let (id, at, mut changes) = (self.id.clone(), self.ambient.now(), self.due());
        let done = self.journal.run(move |unit| {
            let known = changes.len();
            changes.extend(operations::registering(unit, &batch)?);
            unit.apply(&id, EntryKind::RoundRegistered, at, &changes)?;
            Ok(changes.split_off(known))
        });
        self.take_in(at, &done.await?);
        Ok(())
    }

    /// The report, its round and its verdict, all at once: the end of the run.
    async fn deliver(&self, report: Box<CouncilFinalReport>) -> Result<(), Error> {
        let (batch, verdict) = {
            let transcript = self.transcript();
            (round_batch(&transcript, 3), verdict_arguments(&transcript, &report))
        };
        let batch = operations::batch(&batch)?;
        let (id, at, mut changes) = (self.id.clone(), self.ambient.now(), self.due());
        let done = self.journal.run(move |unit| {
            let known = changes.len();
            // Both are decided before either is written: a refusal leaves nothing half done.
            let registered = operations::registering(unit, &batch)?;
            let mut ending = operations::judging(unit, &verdict)?;
            changes.extend(registered);
            unit.apply(&id, EntryKind::RoundRegistered, at, &changes)?;
            let mut fresh = changes.split_off(known);
            ending.extend([Change::ReportGiven(report), Change::RunStopped(Stop::Done)]);
            unit.apply(&id, EntryKind::VerdictRegistered, at, &ending)?;
            fresh.extend(ending);
            Ok(fresh)
        });
        self.take_in(at, &done.await?);
        Ok(())
    }

    /// Writes an entry, and once it is durable takes it in and tells the observer.
    pub(super) async fn note(&self, kind: EntryKind, fresh: Vec<Change>) -> Result<(), Error> {
        let (at, mut changes) = (self.ambient.now(), self.due());
        let known = changes.len();
        changes.extend(fresh);
        let changes = self.journal.append(&self.id, kind, at, changes).await?;
        self.take_in(at, changes.get(known..).unwrap_or_default());
        Ok(())
    }

    /// Reads a reply that is in the journal by now. What it says follows from it, so it is
    /// enough to write that down with the next entry.
    pub(super) fn read(&self, ask: &Ask) {
        let change = {
            let transcript = self.transcript();
            let Some((reply, _)) = transcript.asked(ask.id).and_then(|asked| asked.reply()) else {
                return;
            };
            Change::ReplyRead { ask: ask.id, reading: reading::read(&transcript, ask, reply) }
        };
        let at = self.transcript().last_entry_at;
        self.take_in(at, std::slice::from_ref(&change));
        lock(&self.unwritten).push(change);
    }

    /// What was read since the last entry; it was taken in when it was read.
    fn due(&self) -> Vec<Change> {
        std::mem::take(&mut *lock(&self.unwritten))
    }

    fn take_in(&self, at: Moment, changes: &[Change]) {
        self.transcript().add(at, changes);
        self.observer.saw(&self.id, at, changes);
    }

    pub(super) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        lock(&self.transcript)
    }

    pub(super) fn next_call(&self) -> u32 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }
}

/// Waits for an interruption; for ever, when nobody can interrupt any more.
async fn interruption(interrupted: &mut watch::Receiver<bool>) {
    if interrupted.wait_for(|is_so| *is_so).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A panic while the lock was held would have ended the task that owns the run.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
