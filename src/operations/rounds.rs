//! Operations of the Judge on rounds: register one, read the progress, record the verdict.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::project::{Project, find_dialogue, find_open_dialogue, refuse_review};
use crate::domain::change::{Change, EntryKind};
use crate::domain::dialogue::DialogueStatus;
use crate::domain::digest::canonical_sha256;
use crate::domain::ids::{DialogueId, EntityId, VerdictId};
use crate::error::Error;
use crate::record::convergence::{self, Progress};
use crate::record::register::{self as register_rules, Answer, Batch, Decision};
use crate::record::verdict::{self as verdict_rules, VerdictRequest};
use crate::record::{OperationRequest, Warning, no_dialogue, read_request};
use crate::store::{Unit, transact};

/// Keys of the document that `extract` prints around a batch.
const AROUND_A_BATCH: [&str; 5] = ["batch", "status", "verdicts", "markers", "warnings"];

/// Registers a round in one transaction. The same batch again returns the first answer with
/// `replayed: true`.
pub fn register(project: &Project, arguments: &Value) -> Result<Answer, Error> {
    register_batch(project, arguments).map_err(Error::of_batch)
}

fn register_batch(project: &Project, arguments: &Value) -> Result<Answer, Error> {
    let arguments = unwrapped(arguments);
    let batch = register_rules::read(&arguments, canonical_sha256(&arguments))?;
    let at = project.ambient.now();
    transact(project.store.as_ref(), |unit| {
        if let Some(answer) = answered_before(unit, &batch)? {
            return Ok(answer.replayed());
        }
        refuse_review(unit, &batch.dialogue_id)?;
        let decision = decide_batch(unit, &batch)?;
        unit.apply(&batch.dialogue_id, EntryKind::RoundRegistered, at, &decision.changes)?;
        Ok(decision.answer)
    })
}

/// Takes a batch out of the document that `extract` prints. The Judge may add fields beside it: the
/// dialogue, the scores, the summary.
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

/// Changes of a batch, for a caller that writes them with others in one entry.
pub(crate) fn registering(unit: &mut dyn Unit, batch: &Batch) -> Result<Vec<Change>, Error> {
    Ok(decide_batch(unit, batch)?.changes)
}

fn decide_batch(unit: &mut dyn Unit, batch: &Batch) -> Result<Decision, Error> {
    let dialogue = find_open_dialogue(unit, &batch.dialogue_id)?;
    let facts = unit.facts(&dialogue, &batch.mentions())?;
    Ok(register_rules::decide(batch, &dialogue, &facts)?)
}

fn answered_before(unit: &mut dyn Unit, batch: &Batch) -> Result<Option<Answer>, Error> {
    let Some(round) = batch.round() else { return Ok(None) };
    let registration = unit.registration(&batch.dialogue_id, round)?;
    let same = registration.filter(|registration| registration.batch_sha256 == batch.sha256);
    Ok(same.map(|registration| registration.answer))
}

/// Arguments of `progress`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ProgressRequest {
    dialogue_id: DialogueId,
}

impl OperationRequest for ProgressRequest {}

pub fn progress(project: &Project, arguments: &Value) -> Result<Progress, Error> {
    let (ProgressRequest { dialogue_id: id }, warnings) = read_request(arguments)?;
    let pulse = project.store.pulse(&id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
    Ok(Progress { warnings, ..convergence::progress(&pulse) })
}

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

pub fn give_verdict(project: &Project, arguments: &Value) -> Result<VerdictRegistered, Error> {
    let (request, mut warnings) = read_request::<VerdictRequest>(arguments)?;
    let at = project.ambient.now();
    transact(project.store.as_ref(), |unit| {
        let id = &request.dialogue_id;
        refuse_review(unit, id)?;
        let decision = decide_verdict(unit, &request)?;
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

/// Changes of a verdict, for a caller that writes them with others in one entry.
pub(crate) fn judging(unit: &mut dyn Unit, request: &VerdictRequest) -> Result<Vec<Change>, Error> {
    Ok(decide_verdict(unit, request)?.changes)
}

fn decide_verdict(
    unit: &mut dyn Unit,
    request: &VerdictRequest,
) -> Result<verdict_rules::Decision, Error> {
    let dialogue = find_dialogue(unit, &request.dialogue_id)?;
    let facts = unit.facts(&dialogue, &request.mentions())?;
    Ok(verdict_rules::decide(request, &dialogue, &facts)?)
}
