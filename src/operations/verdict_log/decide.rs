//! `override`: a person decides otherwise than the gate did. Both are kept.

use serde::Serialize;
use serde_json::Value;

use super::super::arguments::read_strictly;
use super::super::workspace::Workspace;
use crate::domain::change::{Change, EntryKind};
use crate::domain::gate::{Decision, GateVerdict, LoggedVerdict, Override};
use crate::domain::ids::DialogueId;
use crate::domain::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::store::{Unit, transact};

/// Enough to choose from.
const OPTIONS_MAX: usize = 20;

#[derive(Debug, Serialize)]
pub struct Overridden {
    pub status: &'static str,
    pub verdict_id: String,
    pub dialogue_id: DialogueId,
    pub artifact: String,
    pub artifact_type: String,
    /// What the gate decided.
    pub gate: GateVerdict,
    /// What stood until now.
    pub stood: GateVerdict,
    /// What stands from now on.
    pub stands: Decision,
    pub why: String,
}

/// Records a decision over a verdict, which is named by its id, or by its dialogue's where that
/// has but one. A later decision takes the place of an earlier one.
pub fn override_verdict(workspace: &Workspace, arguments: &Value) -> Result<Overridden, Error> {
    let known = ["verdict_id", "decision", "why"];
    let (named, decision, why) = read_strictly(arguments, &known, |fields, notes| {
        let named = fields.required_text("verdict_id", LINE_CHARS_MAX, notes);
        let decision = fields.required_word("decision", notes);
        let why = fields.required_text("why", TEXT_CHARS_MAX, notes);
        Some((named?, decision?, why?))
    })?;
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        let found = find(unit, &named)?;
        let word = Override { verdict_id: found.verdict_id.clone(), decision, why: why.clone() };
        unit.apply(&found.dialogue_id, EntryKind::Overridden, at, &[Change::Overridden(word)])?;
        Ok(Overridden {
            status: "success",
            stood: found.standing(),
            stands: decision,
            why,
            gate: found.row.adjudicator.final_verdict,
            artifact: found.row.artifact,
            artifact_type: found.row.artifact_type,
            verdict_id: found.verdict_id,
            dialogue_id: found.dialogue_id,
        })
    })
}

fn find(unit: &mut dyn Unit, named: &str) -> Result<LoggedVerdict, Error> {
    if let Some(found) = unit.logged(named)? {
        return Ok(found);
    }
    let Ok(dialogue) = named.parse::<DialogueId>() else { return Err(not_found(named).into()) };
    let verdicts = unit.verdicts_logged(&dialogue, OPTIONS_MAX)?;
    match verdicts.as_slice() {
        [] => Err(not_found(named).into()),
        [only] => Ok(unit.logged(only)?.ok_or_else(|| not_found(named))?),
        several => {
            let message = format!("dialogue '{dialogue}' has more than one verdict");
            let fault = Fault::new(Code::InvalidEnum, message).field("verdict_id").value(named);
            let hint = format!("name one of them: {}", several.join(", "));
            Err(fault.options(several).suggest(hint).into())
        }
    }
}

fn not_found(named: &str) -> Fault {
    Fault::new(Code::VerdictNotFound, "no verdict of the log has this id")
        .field("verdict_id")
        .value(named)
        .suggest("`plenary log tail` shows the last verdicts with their ids")
}
