//! `due`: the conclusions that are to be revisited, and what became of them.

use serde::Serialize;
use serde_json::Value;

use super::arguments::read_strictly;
use super::workspace::{Workspace, find};
use crate::domain::catalogue::Due;
use crate::domain::change::{Change, EntryKind};
use crate::domain::conclusion::{Outcome, OutcomeWord};
use crate::domain::dialogue::TerminalState;
use crate::domain::ids::DialogueId;
use crate::domain::limits::{PAGE_MAX, TEXT_CHARS_MAX};
use crate::domain::stretch::Stretch;
use crate::domain::time::Day;
use crate::error::Error;
use crate::record::{not_concluded, read_dialogue_id, unconverged};
use crate::store::transact;

#[derive(Debug, Serialize)]
pub struct AllDue {
    pub status: &'static str,
    pub today: Day,
    pub due: Vec<DueItem>,
    /// Whether there are more than these; record some outcomes to see them.
    pub more: bool,
}

#[derive(Debug, Serialize)]
pub struct DueItem {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub recommendation: String,
    pub review_by: Day,
    /// Negative, when its day is still to come.
    pub days_overdue: i64,
    pub terminal_state: Option<TerminalState>,
}

/// What is past its day, and what falls due within so many days, soonest first.
pub fn due(workspace: &Workspace, within: Stretch) -> Result<AllDue, Error> {
    let today = workspace.ambient.now().day();
    // One more than is told shows whether there are more.
    let mut found = workspace.store.due(today.later(within.days), PAGE_MAX + 1)?;
    let more = found.len() > PAGE_MAX;
    found.truncate(PAGE_MAX);
    let due = found.into_iter().map(|due| item(due, today)).collect();
    Ok(AllDue { status: "success", today, due, more })
}

fn item(due: Due, today: Day) -> DueItem {
    DueItem {
        days_overdue: today.days_since(due.review_by),
        dialogue_id: due.dialogue_id,
        title: due.title,
        recommendation: due.recommendation,
        review_by: due.review_by,
        terminal_state: due.terminal_state,
    }
}

#[derive(Debug, Serialize)]
pub struct OutcomeRecorded {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub outcome: OutcomeWord,
    pub note: Option<String>,
}

/// Records what became of a conclusion. It may be looked at again later.
pub fn record_outcome(workspace: &Workspace, arguments: &Value) -> Result<OutcomeRecorded, Error> {
    let known = ["dialogue_id", "outcome", "note"];
    let (dialogue_id, outcome, note) = read_strictly(arguments, &known, |fields, notes| {
        let note = fields.text("note", TEXT_CHARS_MAX, notes);
        let outcome = fields.required_word("outcome", notes);
        Some((read_dialogue_id(fields, notes)?, outcome?, note))
    })?;
    let note = note.filter(|note| !note.trim().is_empty());
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        let dialogue = find(unit, &dialogue_id)?;
        if !unit.is_concluded(&dialogue_id)? {
            return Err(not_concluded(&dialogue_id).into());
        }
        if dialogue.terminal_state == Some(TerminalState::Unconverged) {
            return Err(unconverged(&dialogue_id).into());
        }
        let change = Change::OutcomeRecorded(Outcome { outcome, note: note.clone() });
        unit.apply(&dialogue_id, EntryKind::OutcomeRecorded, at, &[change])?;
        Ok(OutcomeRecorded { status: "success", dialogue_id, outcome, note })
    })
}
