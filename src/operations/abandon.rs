//! `abandon`: closes a dialogue that will not be concluded. Nothing is deleted.

use serde::Serialize;

use super::workspace::{Workspace, find};
use crate::domain::change::{Change, EntryKind};
use crate::domain::dialogue::DialogueStatus;
use crate::domain::ids::DialogueId;
use crate::error::Error;
use crate::record::closed;
use crate::store::transact;

#[derive(Debug, Serialize)]
pub struct Abandoned {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub dialogue_status: DialogueStatus,
}

pub fn abandon(
    workspace: &Workspace,
    id: &DialogueId,
    reason: Option<&str>,
) -> Result<Abandoned, Error> {
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        let dialogue = find(unit, id)?;
        if dialogue.status.is_closed() {
            return Err(closed(&dialogue).into());
        }
        let status = DialogueStatus::Abandoned;
        let change = Change::StatusSet { status, reason: reason.map(str::to_owned) };
        unit.apply(id, EntryKind::DialogueAbandoned, at, &[change])?;
        Ok(Abandoned { status: "success", dialogue_id: id.clone(), dialogue_status: status })
    })
}
