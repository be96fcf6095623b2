//! `verdict`: records what was decided.

use serde::Serialize;
use serde_json::Value;

use super::workspace::{Workspace, find};
use crate::domain::change::EntryKind;
use crate::domain::dialogue::DialogueStatus;
use crate::domain::ids::{DialogueId, EntityId, VerdictId};
use crate::error::Error;
use crate::record::{Warning, verdict as rules};
use crate::store::transact;

#[derive(Debug, Serialize)]
pub struct VerdictRegistered {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub verdict_id: VerdictId,
    pub dialogue_status: DialogueStatus,
    pub adopted: Vec<EntityId>,
    pub tensions_resolved: Vec<EntityId>,
    pub warnings: Vec<Warning>,
}

pub fn give_verdict(workspace: &Workspace, arguments: &Value) -> Result<VerdictRegistered, Error> {
    let (request, mut warnings) = rules::read(arguments)?;
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        let id = &request.dialogue_id;
        let dialogue = find(unit, id)?;
        let facts = unit.facts(&dialogue, &request.mentions())?;
        let decision = rules::decide(&request, &dialogue, &facts)?;
        unit.apply(id, EntryKind::VerdictRegistered, at, &decision.changes)?;
        warnings.extend(decision.warnings);
        Ok(VerdictRegistered {
            status: "success",
            dialogue_id: id.clone(),
            verdict_id: decision.verdict.verdict_id,
            dialogue_status: decision.dialogue_status,
            adopted: decision.adopted,
            tensions_resolved: decision.tensions_resolved,
            warnings,
        })
    })
}
