//! Writes the entries that a protocol asks for, each step in one transaction.

use super::deliberation::Run;
use super::journal::WrittenEntries;
use crate::domain::change::JournalEvent;
use crate::domain::dialogue::DialogueStatus;
use crate::domain::gate::LogRow;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::RunStopReason;
use crate::error::Error;
use crate::operations;
use crate::protocols::{EntryDraft, EntryPart};
use crate::store::StoreTransaction;

impl Run {
    /// Writes entries, unless the journal has grown since the protocol decided on them.
    pub(super) async fn append_drafts(&self, drafts: Vec<EntryDraft>) -> Result<(), Error> {
        let drafts = self.complete_drafts(drafts)?;
        let id = self.id.clone();
        self.append_if_current(move |unit, at, mut changes| {
            let mut decided = Vec::with_capacity(drafts.len());
            for EntryDraft { kind, parts } in drafts {
                decided.push((kind, decide_parts(unit, &id, parts)?));
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
    pub(super) fn stop_changes(&self, stop: &RunStopReason) -> Vec<JournalEvent> {
        let transcript = self.state();
        let protocol = self.protocols.of_run(&transcript);
        let parts = protocol.map(|protocol| protocol.on_stop(&transcript, stop));
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

/// The changes of one entry. Nothing is written yet.
fn decide_parts(
    unit: &mut dyn StoreTransaction,
    id: &DialogueId,
    parts: Vec<EntryPart>,
) -> Result<Vec<JournalEvent>, Error> {
    let mut changes = Vec::new();
    for part in parts {
        match part {
            EntryPart::Batch(batch) => changes.extend(operations::batch_changes(unit, &batch)?),
            EntryPart::Verdict { request, sets_status } => {
                let mut judged = operations::verdict_changes(unit, &request)?;
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
