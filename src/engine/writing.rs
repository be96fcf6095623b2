//! Appends changes to the journal and applies them to the run state.
//!
//! **Invariant:** a decision rests on the whole journal. The engine rejects changes that follow
//! from a decision if the journal has grown since (optimistic concurrency). Facts, such as a
//! reply, are appended in any case.

use std::cmp::Ordering;

use super::deliberation::{Run, lock_mutex};
use super::journal::WrittenEntries;
use super::reading;
use crate::domain::ask::Ask;
use crate::domain::change::{JournalEntry, JournalEntryKind, JournalEvent};
use crate::domain::intervention::is_confirmation;
use crate::domain::time::Moment;
use crate::domain::transcript::AskState;
use crate::error::Error;
use crate::store::{StoreError, StoreTransaction};

impl Run {
    /// Appends a decision, unless the journal has grown since; then applies the new entries and
    /// returns false, and the protocol must decide again.
    pub(super) async fn append_if_current(
        &self,
        work: impl FnOnce(
            &mut dyn StoreTransaction,
            Moment,
            Vec<JournalEvent>,
        ) -> Result<WrittenEntries, Error>
        + Send
        + 'static,
    ) -> Result<bool, Error> {
        let (at, due, upto) =
            (self.ambient.now(), self.take_unwritten(), lock_mutex(&self.known).upto);
        let (id, told) = (self.id.clone(), due.clone());
        let written = self.journal.run_work(move |unit| {
            match unit.count_entries(&id)?.cmp(&upto) {
                Ordering::Equal => {}
                Ordering::Greater => return Ok(WrittenEntries::default()),
                // The store lost entries: the file was replaced, or a write was not durable.
                Ordering::Less => {
                    let text = format!("{id}: entries that were written are gone");
                    return Err(StoreError::Malformed { what: "journal", text }.into());
                }
            }
            let known = due.len();
            let written = work(unit, at, due)?;
            let changes = written.changes.into_iter().skip(known).collect();
            Ok(WrittenEntries { changes, ..written })
        });
        let written = written.await?;
        if written.entries == 0 {
            lock_mutex(&self.unwritten).splice(0..0, told);
            self.sync_journal()?;
            return Ok(false);
        }
        self.apply_written(at, &written);
        Ok(true)
    }

    /// The same, for one entry of plain changes.
    pub(super) async fn append_changes(
        &self,
        kind: JournalEntryKind,
        fresh: Vec<JournalEvent>,
    ) -> Result<bool, Error> {
        let id = self.id.clone();
        self.append_if_current(move |unit, at, mut changes| {
            changes.extend(fresh);
            let seq = unit.append_entry(&id, kind, at, &changes)?;
            Ok(WrittenEntries::one_entry(seq, changes))
        })
        .await
    }

    /// Appends an entry in any case and applies it once it is durable.
    pub(super) async fn append_entry(
        &self,
        kind: JournalEntryKind,
        fresh: Vec<JournalEvent>,
    ) -> Result<(), Error> {
        let (at, mut changes) = (self.ambient.now(), self.take_unwritten());
        let known = changes.len();
        changes.extend(fresh);
        let mut written = self.journal.append_entry(&self.id, kind, at, changes).await?;
        written.changes.drain(..known);
        self.apply_written(at, &written);
        Ok(())
    }

    /// Applies entries of other processes and of dropped calls.
    pub(super) fn sync_journal(&self) -> Result<(), Error> {
        let upto = lock_mutex(&self.known).upto;
        for JournalEntry { seq, at, events: mut changes, .. } in
            self.store.load_entries(&self.id, upto)?
        {
            // An entry of this run may be among them, with parse results that are applied already.
            changes.retain(|change| !self.is_parsed(change));
            self.apply_written(at, &WrittenEntries::one_entry(seq, changes));
        }
        let (due, at) = {
            let transcript = self.state();
            (reading::parse_pending_replies(&self.protocols, &transcript), transcript.last_entry_at)
        };
        self.publish_changes(at, &due);
        lock_mutex(&self.unwritten).extend(due);
        Ok(())
    }

    /// Parses a reply that is in the journal. The result follows from the reply, so it is
    /// journalled with the next entry.
    pub(super) fn parse_reply_of(&self, ask: &Ask) {
        let (at, change) = {
            let transcript = self.state();
            let asked = transcript.find_ask(ask.id).filter(|asked| asked.parse_outcome.is_none());
            let Some((reply, at)) = asked.and_then(AskState::last_reply) else { return };
            let reading = reading::parse_reply(&self.protocols, &transcript, ask, reply, at);
            (transcript.last_entry_at, JournalEvent::ReplyParsed { ask: ask.id, reading })
        };
        self.publish_changes(at, std::slice::from_ref(&change));
        lock_mutex(&self.unwritten).push(change);
    }

    /// Whether this change is the result of a reply that is parsed already.
    fn is_parsed(&self, change: &JournalEvent) -> bool {
        let JournalEvent::ReplyParsed { ask, .. } = change else { return false };
        self.state().find_ask(*ask).is_some_and(|asked| asked.parse_outcome.is_some())
    }

    /// The parse results since the last entry; the run state contains them already.
    fn take_unwritten(&self) -> Vec<JournalEvent> {
        std::mem::take(&mut *lock_mutex(&self.unwritten))
    }

    fn apply_written(&self, at: Moment, written: &WrittenEntries) {
        let first = written.last + 1 - written.entries;
        // All of them or none: entries of one transaction are neighbours.
        let is_news =
            (first..=written.last).fold(false, |_, seq| lock_mutex(&self.known).insert_entry(seq));
        if is_news {
            self.charge(&written.changes);
            self.publish_changes(at, &written.changes);
        }
    }

    /// What others spent in the name of the run is gone from its budgets.
    fn charge(&self, changes: &[JournalEvent]) {
        for change in changes {
            let JournalEvent::Intervened { intervention, .. } = change else { continue };
            let is_paid = is_confirmation(intervention, &self.state().interventions);
            let Some(restated) = intervention.restatement().filter(|_| !is_paid) else { continue };
            self.budgets.charge(restated);
        }
    }

    fn publish_changes(&self, at: Moment, changes: &[JournalEvent]) {
        if !changes.is_empty() {
            self.state().apply_events(at, changes);
            self.observer.on_entry(&self.id, at, changes);
        }
    }
}
