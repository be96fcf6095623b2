//! `verdict`: records what was decided.

use serde::Serialize;
use serde_json::Value;

use super::workspace::{Workspace, find, refuse_review};
use crate::domain::change::{Change, EntryKind};
use crate::domain::dialogue::DialogueStatus;
use crate::domain::ids::{DialogueId, EntityId, VerdictId};
use crate::error::Error;
use crate::record::Warning;
use crate::record::verdict::{self as rules, Decision, Request};
use crate::store::{Unit, transact};

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
        refuse_review(unit, id)?;
        let decision = decide(unit, &request)?;
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

/// What a verdict changes, for those who write it down together with other things.
pub(crate) fn judging(unit: &mut dyn Unit, arguments: &Value) -> Result<Vec<Change>, Error> {
    let (request, _) = rules::read(arguments)?;
    Ok(decide(unit, &request)?.changes)
}

fn decide(unit: &mut dyn Unit, request: &Request) -> Result<Decision, Error> {
    let dialogue = find(unit, &request.dialogue_id)?;
    let facts = unit.facts(&dialogue, &request.mentions())?;
    Ok(rules::decide(request, &dialogue, &facts)?)
}
