//! Appends changes to the journal and applies them to the run state.
//!
//! **Invariant:** a decision rests on the whole journal. The engine rejects changes that follow
//! from a decision if the journal has grown since (optimistic concurrency). Facts, such as a
//! reply, are appended in any case.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use plenary_core::model::ask::{Ask, AskState};
use plenary_core::model::dialogue::DialogueStatus;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::is_confirmation;
use plenary_core::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use plenary_core::model::run_state::RunStopReason;
use plenary_core::model::time::Moment;
use plenary_core::model::validation_error::ValidationErrors;
use plenary_core::protocols::protocol::{EntryDraft, EntryPart};
use plenary_core::protocols::review::log_row::LogRow;

use crate::engine::journal::WrittenEntries;
use crate::engine::parse_replies::{parse_pending_replies, parse_reply};
use crate::engine::record_changes::{decide_batch, judge_dialogue};
use crate::engine::run::{Run, lock_mutex};
use crate::error::Error;
use crate::store::error::StoreError;
use crate::store::traits::StoreTransaction;

impl Run {
    /// Appends a decision, unless the journal has grown since; then applies the new entries and
    /// returns false, and the protocol must decide again.
    pub(crate) async fn append_if_current(
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
        let (id, result) = (self.id.clone(), due.clone());
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
            lock_mutex(&self.unwritten).splice(0..0, result);
            self.sync_journal()?;
            return Ok(false);
        }
        self.apply_written(at, &written);
        Ok(true)
    }

    /// The same, for one entry of plain changes.
    pub(crate) async fn append_changes(
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
    pub(crate) async fn append_entry(
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
    pub(crate) fn sync_journal(&self) -> Result<(), Error> {
        let upto = lock_mutex(&self.known).upto;
        for JournalEntry { seq, at, events: mut changes, .. } in
            self.store.load_entries(&self.id, upto)?
        {
            // An entry of this run may be among them, with parse results that are applied already.
            changes.retain(|change| !self.is_parsed(change));
            self.apply_written(at, &WrittenEntries::one_entry(seq, changes));
        }
        let (due, at) = {
            let state = self.state();
            (parse_pending_replies(&self.protocols, &state), state.last_entry_at)
        };
        self.publish_changes(at, &due);
        lock_mutex(&self.unwritten).extend(due);
        Ok(())
    }

    /// Parses a reply that is in the journal. The result follows from the reply, so it is
    /// journalled with the next entry.
    pub(crate) fn parse_reply_of(&self, ask: &Ask) {
        let (at, change) = {
            let state = self.state();
            let asked = state.find_ask(ask.id).filter(|asked| asked.parse_outcome.is_none());
            let Some((reply, at)) = asked.and_then(AskState::last_reply) else { return };
            let reading = parse_reply(&self.protocols, &state, ask, reply, at);
            (state.last_entry_at, JournalEvent::ReplyParsed { ask: ask.id, reading })
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

/// The numbers of applied entries, which arrive in any order.
#[derive(Debug, Default)]
pub(crate) struct AppliedEntries {
    /// Every entry up to this one.
    pub upto: u64,
    beyond: BTreeSet<u64>,
}

impl AppliedEntries {
    pub(crate) fn up_to(last: u64) -> Self {
        Self { upto: last, beyond: BTreeSet::new() }
    }

    /// Whether this entry is news.
    pub(crate) fn insert_entry(&mut self, seq: u64) -> bool {
        let is_news = seq > self.upto && self.beyond.insert(seq);
        while self.beyond.remove(&(self.upto + 1)) {
            self.upto += 1;
        }
        is_news
    }
}

impl Run {
    /// Writes entries, unless the journal has grown since the protocol decided on them.
    pub(crate) async fn append_drafts(&self, drafts: Vec<EntryDraft>) -> Result<(), Error> {
        let drafts = self.complete_drafts(drafts)?;
        let id = self.id.clone();
        self.append_if_current(move |unit, at, mut changes| {
            let mut decided = Vec::with_capacity(drafts.len());
            for EntryDraft { kind, parts, refusable_by } in drafts {
                match (decide_parts(unit, &id, parts), refusable_by) {
                    (Ok(fresh), _) => decided.push((kind, fresh)),
                    // The seat whose reply led here fixes it.
                    (Err(Error::Refused(faults)), Some(ask)) => {
                        let reason = describe_faults(&faults);
                        let refused = vec![JournalEvent::BatchRefused { ask, reason }];
                        decided = vec![(JournalEntryKind::BatchRefused, refused)];
                        break;
                    }
                    (Err(error), _) => return Err(error),
                }
            }
            let (entries, mut last, mut known) = (decided.len() as u64, 0, 0);
            for (kind, fresh) in decided {
                changes.extend(fresh);
                last =
                    unit.append_entry(&id, kind, at, changes.get(known..).unwrap_or_default())?;
                known = changes.len();
            }
            Ok(WrittenEntries { entries, last, changes })
        })
        .await?;
        Ok(())
    }

    /// The changes that record a stop, with those that the protocol adds.
    pub(crate) fn stop_changes(&self, stop: &RunStopReason) -> Vec<JournalEvent> {
        let state = self.state();
        let protocol = self.protocols.of_run(&state);
        let parts = protocol.map(|protocol| protocol.on_stop(&state, stop));
        let lines = parts.unwrap_or_default().into_iter().filter_map(|part| match part {
            EntryPart::LogLine(line) => Some(self.log_line(*line)),
            EntryPart::Change(change) => Some(*change),
            // A stop decides nothing, so it has no batch and no verdict.
            EntryPart::Batch(_)
            | EntryPart::Verdict { .. }
            | EntryPart::FromRecord(_)
            | EntryPart::Converge => None,
        });
        lines.chain([JournalEvent::RunStopped(stop.clone())]).collect()
    }

    /// Replaces the parts that need the clock, the settings or the record by plain changes.
    fn complete_drafts(&self, mut drafts: Vec<EntryDraft>) -> Result<Vec<EntryDraft>, Error> {
        for part in drafts.iter_mut().flat_map(|draft| &mut draft.parts) {
            match part {
                EntryPart::LogLine(line) => {
                    *part = EntryPart::from_change(self.log_line(line.as_ref().clone()));
                }
                EntryPart::FromRecord(change) => {
                    let from_record = *change;
                    let change = from_record(&self.state(), &self.load_record()?);
                    *part = EntryPart::from_change(change);
                }
                EntryPart::Batch(_)
                | EntryPart::Verdict { .. }
                | EntryPart::Change(_)
                | EntryPart::Converge => {}
            }
        }
        Ok(drafts)
    }

    /// A line of the verdict log, with its time and without what must not be in it.
    fn log_line(&self, line: LogRow) -> JournalEvent {
        let line = LogRow { ts: self.ambient.now(), ..line };
        JournalEvent::VerdictLogged(Box::new(self.redaction.redact_row(&line)))
    }
}

/// All errors of a refused entry, for the seat that fixes it.
fn describe_faults(faults: &ValidationErrors) -> String {
    let messages: Vec<&str> = faults.errors.iter().map(|fault| fault.message.as_str()).collect();
    messages.join("; ")
}

/// The changes of one entry. Nothing is written yet.
fn decide_parts(
    unit: &mut dyn StoreTransaction,
    id: &DialogueId,
    parts: Vec<EntryPart>,
) -> Result<Vec<JournalEvent>, Error> {
    let mut changes = Vec::new();
    for part in parts {
        match part {
            EntryPart::Batch(batch) => changes.extend(decide_batch(unit, &batch)?.changes),
            EntryPart::Verdict { request, sets_status } => {
                let mut judged = judge_dialogue(unit, &request)?.changes;
                judged.retain(|one| sets_status || !matches!(one, JournalEvent::StatusSet { .. }));
                changes.extend(judged);
            }
            EntryPart::Change(change) => changes.push(*change),
            EntryPart::Converge => {
                let dialogue = unit.load_dialogue(id)?;
                if !dialogue.is_some_and(|dialogue| dialogue.status.is_closed()) {
                    let status = DialogueStatus::Converged;
                    changes.push(JournalEvent::StatusSet { status, reason: None });
                }
            }
            // Completed before the transaction.
            EntryPart::LogLine(_) | EntryPart::FromRecord(_) => {}
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_news_once_in_whichever_order() {
        let mut known = AppliedEntries::up_to(3);
        let news: Vec<bool> = [3, 6, 4, 6, 4].map(|seq| known.insert_entry(seq)).to_vec();
        assert_eq!((news, known.upto), (vec![false, true, true, false, false], 4));
        assert!(known.insert_entry(5));
        assert_eq!((known.upto, known.beyond.len()), (6, 0));
    }
}
