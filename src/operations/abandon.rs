//! `abandon`: closes a dialogue that will not be concluded. Nothing is deleted.

use serde::Serialize;
use serde_json::Value;

use super::arguments::read_strictly;
use super::workspace::{Workspace, find};
use crate::domain::change::{Change, EntryKind};
use crate::domain::dialogue::DialogueStatus;
use crate::domain::ids::DialogueId;
use crate::domain::limits::TEXT_CHARS_MAX;
use crate::error::Error;
use crate::record::{closed, read_dialogue_id};
use crate::store::transact;

#[derive(Debug, Serialize)]
pub struct Abandoned {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub dialogue_status: DialogueStatus,
}

pub fn abandon(workspace: &Workspace, arguments: &Value) -> Result<Abandoned, Error> {
    let (id, reason) = read_strictly(arguments, &["dialogue_id", "reason"], |fields, notes| {
        let reason = fields.text("reason", TEXT_CHARS_MAX, notes);
        Some((read_dialogue_id(fields, notes)?, reason))
    })?;
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        let dialogue = find(unit, &id)?;
        if dialogue.status.is_closed() {
            return Err(closed(&dialogue).into());
        }
        let status = DialogueStatus::Abandoned;
        let change = Change::StatusSet { status, reason };
        unit.apply(&id, EntryKind::DialogueAbandoned, at, &[change])?;
        Ok(Abandoned { status: "success", dialogue_id: id, dialogue_status: status })
    })
}
