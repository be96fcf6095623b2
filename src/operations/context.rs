//! `context`: what the panel of a round may read, as JSON.

use serde_json::Value;

use super::arguments::read;
use super::workspace::Workspace;
use crate::domain::dialogue::Dialogue;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::shown::{Shown, show};
use crate::error::Error;
use crate::record::{context as rules, no_dialogue, read_dialogue_id};
use crate::store::StoreError;

/// The document as compact JSON: it can be large, so it is written out once.
pub fn context(workspace: &Workspace, arguments: &Value) -> Result<String, Error> {
    let (id, round) = read(arguments, &["dialogue_id", "round", "render"], |fields, notes| {
        let round = fields.integer("round", 0..=i64::from(u16::MAX), notes);
        if fields.boolean("render", notes) {
            let fault = Fault::new(Code::NotSupported, "prompts are not rendered by this version");
            notes.fault(fault.field("render").value(true).suggest("leave 'render' out"));
        }
        Some((read_dialogue_id(fields, notes)?, round))
    })?;
    let missing = || no_dialogue(id.as_str());
    let dialogue = workspace.store.dialogue(&id)?.ok_or_else(missing)?;
    let round = asked_round(&dialogue, round)?;
    let mut context = rules::Context::new(round);
    let mut add = |record: &Record, shown: &Shown<'_>| context.add(record, shown);
    let record = if round == dialogue.next_round() {
        workspace.store.show_before(&id, round, &mut add)?.ok_or_else(missing)?
    } else {
        // Nobody at that table knew what came later.
        let record = workspace.store.record(&id)?.ok_or_else(missing)?.rewound(round);
        show(&record, &mut add).map_err(StoreError::Unwritable)?;
        record
    };
    Ok(context.finish(&record).map_err(StoreError::Unwritable)?)
}

/// The round asked for; the next one when none was.
fn asked_round(dialogue: &Dialogue, round: Option<i64>) -> Result<u8, Fault> {
    // After the last round there is still something to read, if nothing to prepare.
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    let Some(round) = round else { return Ok(next) };
    let known = u8::try_from(round).ok().filter(|round| (first..=next).contains(round));
    known.ok_or_else(|| {
        let message = format!("round {round} has no context yet: the next round is {next}");
        Fault::new(Code::InvalidRound, message).field("round").value(round)
    })
}
