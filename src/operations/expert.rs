//! `expert`: creates an expert mid-dialogue.

use serde::Serialize;
use serde_json::Value;

use super::workspace::{Workspace, find_open, refuse_review};
use crate::domain::change::EntryKind;
use crate::domain::expert::Profile;
use crate::domain::facts::Mentions;
use crate::error::Error;
use crate::record::{Warning, expert as rules};
use crate::store::transact;

#[derive(Debug, Serialize)]
pub struct ExpertCreated {
    pub status: &'static str,
    pub expert: Profile,
    pub warnings: Vec<Warning>,
}

pub fn create_expert(workspace: &Workspace, arguments: &Value) -> Result<ExpertCreated, Error> {
    let (request, warnings) = rules::read(arguments)?;
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        refuse_review(unit, &request.dialogue_id)?;
        let dialogue = find_open(unit, &request.dialogue_id)?;
        let facts = unit.facts(&dialogue, &Mentions::default())?;
        let (expert, changes) = rules::decide(&request, &dialogue, &facts)?;
        unit.apply(&request.dialogue_id, EntryKind::ExpertCreated, at, &changes)?;
        Ok(ExpertCreated { status: "success", expert, warnings })
    })
}
