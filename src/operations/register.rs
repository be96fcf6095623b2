//! `register`: a whole round, in one transaction.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::arguments::digest;
use super::workspace::{Workspace, find_open, refuse_review};
use crate::domain::change::{Change, EntryKind};
use crate::error::Error;
use crate::record::register::{self as rules, Answer, Batch, Decision};
use crate::store::{Unit, transact};

/// What `extract` prints of a batch, and of the replies that it was read from.
const AROUND_A_BATCH: [&str; 5] = ["batch", "status", "verdicts", "markers", "warnings"];

/// The same batch again gets the first answer again, with `replayed: true`.
pub fn register(workspace: &Workspace, arguments: &Value) -> Result<Answer, Error> {
    registered(workspace, arguments).map_err(Error::of_batch)
}

fn registered(workspace: &Workspace, arguments: &Value) -> Result<Answer, Error> {
    let batch = batch(&unwrapped(arguments))?;
    let at = workspace.ambient.now();
    transact(workspace.store.as_ref(), |unit| {
        if let Some(answer) = answered_before(unit, &batch)? {
            return Ok(answer.replayed());
        }
        refuse_review(unit, &batch.dialogue_id)?;
        let decision = decide(unit, &batch)?;
        unit.apply(&batch.dialogue_id, EntryKind::RoundRegistered, at, &decision.changes)?;
        Ok(decision.answer)
    })
}

/// A batch that stands in the document that `extract` prints, taken out of it. What the Judge adds
/// may stand beside it: the dialogue, the scores, the summary.
pub fn unwrapped(arguments: &Value) -> Cow<'_, Value> {
    let (Some(Value::Object(batch)), Value::Object(around)) = (arguments.get("batch"), arguments)
    else {
        return Cow::Borrowed(arguments);
    };
    let added = around.iter().filter(|(name, _)| !AROUND_A_BATCH.contains(&name.as_str()));
    let whole: Map<String, Value> =
        batch.iter().chain(added).map(|(name, value)| (name.clone(), value.clone())).collect();
    Cow::Owned(whole.into())
}

/// A batch, read before anybody waits for the store.
pub(crate) fn batch(arguments: &Value) -> Result<Batch, Error> {
    Ok(rules::read(arguments, digest(arguments))?)
}

/// What a batch changes, for those who write it down together with other things.
pub(crate) fn registering(unit: &mut dyn Unit, batch: &Batch) -> Result<Vec<Change>, Error> {
    Ok(decide(unit, batch)?.changes)
}

fn decide(unit: &mut dyn Unit, batch: &Batch) -> Result<Decision, Error> {
    let dialogue = find_open(unit, &batch.dialogue_id)?;
    let facts = unit.facts(&dialogue, &batch.mentions())?;
    Ok(rules::decide(batch, &dialogue, &facts)?)
}

fn answered_before(unit: &mut dyn Unit, batch: &Batch) -> Result<Option<Answer>, Error> {
    let Some(round) = batch.round() else { return Ok(None) };
    let registration = unit.registration(&batch.dialogue_id, round)?;
    let same = registration.filter(|registration| registration.batch_sha256 == batch.sha256);
    Ok(same.map(|registration| registration.answer))
}
