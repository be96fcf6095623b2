//! Appends changes to the journal and applies them to the run state.
//!
//! **Invariant:** a decision rests on the whole journal. The engine rejects changes that follow
//! from a decision if the journal has grown since (optimistic concurrency). Facts, such as a
//! reply, are appended in any case.

use std::cmp::Ordering;

use super::deliberation::{Deliberation, lock};
use super::journal::Written;
use super::reading;
use crate::domain::ask::Ask;
use crate::domain::change::{Change, Entry, EntryKind};
use crate::domain::intervention::is_confirmation;
use crate::domain::time::Moment;
use crate::domain::transcript::Asked;
use crate::error::Error;
use crate::store::{StoreError, Unit};

impl Deliberation {
    /// Appends a decision, unless the journal has grown since; then applies the new entries and
    /// returns false, and the protocol must decide again.
    pub(super) async fn decide(
        &self,
        work: impl FnOnce(&mut dyn Unit, Moment, Vec<Change>) -> Result<Written, Error> + Send + 'static,
    ) -> Result<bool, Error> {
        let (at, due, upto) = (self.ambient.now(), self.due(), lock(&self.known).upto);
        let (id, told) = (self.id.clone(), due.clone());
        let written = self.journal.run(move |unit| {
            match unit.entry_count(&id)?.cmp(&upto) {
                Ordering::Equal => {}
                Ordering::Greater => return Ok(Written::default()),
                // The store lost entries: the file was replaced, or a write was not durable.
                Ordering::Less => {
                    let text = format!("{id}: entries that were written are gone");
                    return Err(StoreError::Malformed { what: "journal", text }.into());
                }
            }
            let known = due.len();
            let written = work(unit, at, due)?;
            let changes = written.changes.into_iter().skip(known).collect();
            Ok(Written { changes, ..written })
        });
        let written = written.await?;
        if written.entries == 0 {
            lock(&self.unwritten).splice(0..0, told);
            self.catch_up()?;
            return Ok(false);
        }
        self.take_in(at, &written);
        Ok(true)
    }

    /// The same, for one entry of plain changes.
    pub(super) async fn write(&self, kind: EntryKind, fresh: Vec<Change>) -> Result<bool, Error> {
        let id = self.id.clone();
        self.decide(move |unit, at, mut changes| {
            changes.extend(fresh);
            let seq = unit.apply(&id, kind, at, &changes)?;
            Ok(Written::one(seq, changes))
        })
        .await
    }

    /// Appends an entry in any case and applies it once it is durable.
    pub(super) async fn note(&self, kind: EntryKind, fresh: Vec<Change>) -> Result<(), Error> {
        let (at, mut changes) = (self.ambient.now(), self.due());
        let known = changes.len();
        changes.extend(fresh);
        let mut written = self.journal.append(&self.id, kind, at, changes).await?;
        written.changes.drain(..known);
        self.take_in(at, &written);
        Ok(())
    }

    /// Applies entries of other processes and of dropped calls.
    pub(super) fn catch_up(&self) -> Result<(), Error> {
        let upto = lock(&self.known).upto;
        for Entry { seq, at, mut changes, .. } in self.store.entries(&self.id, upto)? {
            // An entry of this run may be among them, with parse results that are applied already.
            changes.retain(|change| !self.has_read(change));
            self.take_in(at, &Written::one(seq, changes));
        }
        let (due, at) = {
            let transcript = self.transcript();
            (reading::due(&self.protocols, &transcript), transcript.last_entry_at)
        };
        self.tell(at, &due);
        lock(&self.unwritten).extend(due);
        Ok(())
    }

    /// Parses a reply that is in the journal. The result follows from the reply, so it is
    /// journalled with the next entry.
    pub(super) fn read(&self, ask: &Ask) {
        let (at, change) = {
            let transcript = self.transcript();
            let asked = transcript.asked(ask.id).filter(|asked| asked.reading.is_none());
            let Some((reply, at)) = asked.and_then(Asked::reply) else { return };
            let reading = reading::read(&self.protocols, &transcript, ask, reply, at);
            (transcript.last_entry_at, Change::ReplyRead { ask: ask.id, reading })
        };
        self.tell(at, std::slice::from_ref(&change));
        lock(&self.unwritten).push(change);
    }

    /// Whether this change is the result of a reply that is parsed already.
    fn has_read(&self, change: &Change) -> bool {
        let Change::ReplyRead { ask, .. } = change else { return false };
        self.transcript().asked(*ask).is_some_and(|asked| asked.reading.is_some())
    }

    /// The parse results since the last entry; the run state contains them already.
    fn due(&self) -> Vec<Change> {
        std::mem::take(&mut *lock(&self.unwritten))
    }

    fn take_in(&self, at: Moment, written: &Written) {
        let first = written.last + 1 - written.entries;
        // All of them or none: entries of one transaction are neighbours.
        let is_news = (first..=written.last).fold(false, |_, seq| lock(&self.known).learn(seq));
        if is_news {
            self.charge(&written.changes);
            self.tell(at, &written.changes);
        }
    }

    /// What others spent in the name of the run is gone from its budgets.
    fn charge(&self, changes: &[Change]) {
        for change in changes {
            let Change::Intervened { intervention, .. } = change else { continue };
            let is_paid = is_confirmation(intervention, &self.transcript().interventions);
            let Some(restated) = intervention.restatement().filter(|_| !is_paid) else { continue };
            self.budgets.charge(restated);
        }
    }

    fn tell(&self, at: Moment, changes: &[Change]) {
        if !changes.is_empty() {
            self.transcript().add(at, changes);
            self.observer.on_entry(&self.id, at, changes);
        }
    }
}
