//! Writes the entries that a protocol asks for, each step in one transaction.

use super::deliberation::Deliberation;
use super::journal::Written;
use crate::domain::change::Change;
use crate::domain::dialogue::DialogueStatus;
use crate::domain::gate::LogRow;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Stop;
use crate::error::Error;
use crate::operations;
use crate::protocols::{EntryDraft, EntryPart};
use crate::store::Unit;

impl Deliberation {
    /// Writes entries, unless the journal has grown since the protocol decided on them.
    pub(super) async fn append(&self, drafts: Vec<EntryDraft>) -> Result<(), Error> {
        let drafts = self.complete(drafts)?;
        let id = self.id.clone();
        self.decide(move |unit, at, mut changes| {
            let mut decided = Vec::with_capacity(drafts.len());
            for EntryDraft { kind, parts } in drafts {
                decided.push((kind, decide_parts(unit, &id, parts)?));
            }
            let (entries, mut last, mut known) = (decided.len() as u64, 0, 0);
            for (kind, fresh) in decided {
                changes.extend(fresh);
                last = unit.apply(&id, kind, at, changes.get(known..).unwrap_or_default())?;
                known = changes.len();
            }
            Ok(Written { entries, last, changes })
        })
        .await?;
        Ok(())
    }

    /// The changes that record a stop, with those that the protocol adds.
    pub(super) fn stopping(&self, stop: &Stop) -> Vec<Change> {
        let transcript = self.transcript();
        let protocol = self.protocols.of_run(&transcript);
        let parts = protocol.map(|protocol| protocol.on_stop(&transcript, stop));
        let lines = parts.unwrap_or_default().into_iter().filter_map(|part| match part {
            EntryPart::LogLine(line) => Some(self.logged(*line)),
            EntryPart::Change(change) => Some(*change),
            // A stop decides nothing, so it has no batch and no verdict.
            EntryPart::Batch(_)
            | EntryPart::Verdict { .. }
            | EntryPart::FromRecord(_)
            | EntryPart::Converge => None,
        });
        lines.chain([Change::RunStopped(stop.clone())]).collect()
    }

    /// Replaces the parts that need the clock, the settings or the record by plain changes.
    fn complete(&self, mut drafts: Vec<EntryDraft>) -> Result<Vec<EntryDraft>, Error> {
        for part in drafts.iter_mut().flat_map(|draft| &mut draft.parts) {
            match part {
                EntryPart::LogLine(line) => {
                    *part = EntryPart::change(self.logged(line.as_ref().clone()));
                }
                EntryPart::FromRecord(change) => {
                    let from_record = *change;
                    let change = from_record(&self.transcript(), &self.record()?);
                    *part = EntryPart::change(change);
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
    fn logged(&self, line: LogRow) -> Change {
        let line = LogRow { ts: self.ambient.now(), ..line };
        Change::VerdictLogged(Box::new(self.redaction.apply(&line)))
    }
}

/// The changes of one entry. Nothing is written yet.
fn decide_parts(
    unit: &mut dyn Unit,
    id: &DialogueId,
    parts: Vec<EntryPart>,
) -> Result<Vec<Change>, Error> {
    let mut changes = Vec::new();
    for part in parts {
        match part {
            EntryPart::Batch(batch) => changes.extend(operations::registering(unit, &batch)?),
            EntryPart::Verdict { request, sets_status } => {
                let mut judged = operations::judging(unit, &request)?;
                judged.retain(|one| sets_status || !matches!(one, Change::StatusSet { .. }));
                changes.extend(judged);
            }
            EntryPart::Change(change) => changes.push(*change),
            EntryPart::Converge => {
                let dialogue = unit.dialogue(id)?;
                if !dialogue.is_some_and(|dialogue| dialogue.status.is_closed()) {
                    let status = DialogueStatus::Converged;
                    changes.push(Change::StatusSet { status, reason: None });
                }
            }
            // Completed before the transaction.
            EntryPart::LogLine(_) | EntryPart::FromRecord(_) => {}
        }
    }
    Ok(changes)
}
