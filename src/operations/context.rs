//! `context`: what the panel of a round may read, as JSON.

use serde_json::Value;

use super::arguments::dialogue_id;
use super::workspace::Workspace;
use crate::domain::dialogue::Dialogue;
use crate::domain::refusal::{Code, Fault, Refusal};
use crate::error::Error;
use crate::record::{Fields, context as rules, no_dialogue};
use crate::store::StoreError;

/// The document as compact JSON: it can be large, so it is written out once.
pub fn context(workspace: &Workspace, arguments: &Value) -> Result<String, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let id = dialogue_id(&fields)?;
    let mut faults = Vec::new();
    let round = fields.integer("round", 0..=i64::from(u16::MAX), &mut faults);
    if fields.boolean("render", &mut faults) {
        let fault = Fault::new(Code::NotSupported, "prompts are not rendered by this version");
        faults.push(fault.field("render").value(true).suggest("leave 'render' out"));
    }
    if !faults.is_empty() {
        return Err(Refusal::new(faults).into());
    }
    let dialogue = workspace.store.dialogue(&id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
    let round = asked_round(&dialogue, round)?;
    let record =
        workspace.store.record_before(&id, round)?.ok_or_else(|| no_dialogue(id.as_str()))?;
    let text = serde_json::to_string(&rules::context(&record, round));
    Ok(text.map_err(StoreError::Unwritable)?)
}

/// The round asked for; the next one when none was.
fn asked_round(dialogue: &Dialogue, round: Option<i64>) -> Result<u8, Fault> {
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    let Some(round) = round else { return Ok(next) };
    let known = u8::try_from(round).ok().filter(|round| (first..=next).contains(round));
    known.ok_or_else(|| {
        let message = format!("round {round} has no context yet: the next round is {next}");
        Fault::new(Code::InvalidRound, message).field("round").value(round)
    })
}
