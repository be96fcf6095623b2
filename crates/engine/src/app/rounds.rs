//! Operations of the Judge on rounds: register one, read the progress, record the verdict.

use std::borrow::Cow;

use plenary_core::dialogue::diagnostics::{RequestWarning, dialogue_not_found};
use plenary_core::dialogue::progress::{DialogueProgress, compute_progress};
use plenary_core::dialogue::register::batch::{RegisterAnswer, RegisterBatch};
use plenary_core::dialogue::register::parse::parse_batch;
use plenary_core::dialogue::request::OperationRequest;
use plenary_core::dialogue::verdict::parse::VerdictRequest;
use plenary_core::model::dialogue::DialogueStatus;
use plenary_core::model::hash::canonical_sha256;
use plenary_core::model::ids::{DialogueId, EntityId, VerdictId};
use plenary_core::model::journal::JournalEntryKind;
use plenary_core::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::dialogue_ids::{read_resolved, resolve_arguments};
use crate::app::project::{Project, refuse_review};
use crate::engine::record_changes::{decide_batch, judge_dialogue};
use crate::error::Error;
use crate::store::traits::{StoreTransaction, in_transaction};

/// Keys of the document that `extract` prints around a batch.
const AROUND_A_BATCH: [&str; 5] = ["batch", "status", "verdicts", "markers", "warnings"];

/// Registers a round in one transaction. The same batch again returns the first answer with
/// `replayed: true`.
pub fn register_round(project: &Project, arguments: &Value) -> Result<RegisterAnswer, Error> {
    register_batch(project, arguments).map_err(Error::of_batch)
}

fn register_batch(project: &Project, arguments: &Value) -> Result<RegisterAnswer, Error> {
    let arguments = unwrap_batch(arguments)?;
    let arguments = resolve_arguments(project.store.as_ref(), &arguments)?;
    let batch = parse_batch(&arguments, canonical_sha256(&arguments))?;
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        if let Some(answer) = answered_before(unit, &batch)? {
            return Ok(answer.mark_replayed());
        }
        refuse_review(unit, &batch.dialogue_id)?;
        let decision = decide_batch(unit, &batch)?;
        unit.append_entry(
            &batch.dialogue_id,
            JournalEntryKind::RoundRegistered,
            at,
            &decision.changes,
        )?;
        Ok(decision.answer)
    })
}

/// Takes a batch out of the document that `extract` prints. The Judge may add fields beside it: the
/// dialogue, the scores, the summary.
///
/// # Errors
/// A field with different values in both places: one of them would be lost.
pub fn unwrap_batch(arguments: &Value) -> Result<Cow<'_, Value>, ValidationErrors> {
    let inner = arguments.get("batch").filter(|inner| !inner.is_null());
    let (Some(inner), Value::Object(around)) = (inner, arguments) else {
        return Ok(Cow::Borrowed(arguments));
    };
    let Value::Object(batch) = inner else {
        let fault = ValidationError::new(ErrorCode::InvalidType, "field 'batch' must be an object");
        return Err(fault.with_field("batch").into());
    };
    let added = around.iter().filter(|(name, _)| !AROUND_A_BATCH.contains(&name.as_str()));
    let is_other = |(name, value): &(&String, &Value)| {
        batch.get(name.as_str()).is_some_and(|inner| inner != *value)
    };
    let faults: Vec<ValidationError> =
        added.clone().filter(is_other).map(|(name, _)| stated_twice(name)).collect();
    if !faults.is_empty() {
        return Err(ValidationErrors::new(faults));
    }
    let whole: Map<String, Value> =
        batch.iter().chain(added).map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Cow::Owned(whole.into()))
}

fn stated_twice(name: &str) -> ValidationError {
    let message = format!("'{name}' stands in the batch and beside it, with different values");
    ValidationError::new(ErrorCode::NotSupported, message)
        .with_field(name)
        .with_suggestion("state it once: add your own items to those of the batch")
}

fn answered_before(
    unit: &mut dyn StoreTransaction,
    batch: &RegisterBatch,
) -> Result<Option<RegisterAnswer>, Error> {
    let Some(round) = batch.round_number() else { return Ok(None) };
    let registration = unit.find_registration(&batch.dialogue_id, round)?;
    let same = registration.filter(|registration| registration.batch_sha256 == batch.sha256);
    Ok(same.map(|registration| registration.answer))
}

/// Arguments of `progress`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ProgressRequest {
    dialogue_id: DialogueId,
}

impl OperationRequest for ProgressRequest {}

pub fn read_progress(project: &Project, arguments: &Value) -> Result<DialogueProgress, Error> {
    let (ProgressRequest { dialogue_id: id }, warnings) = read_resolved(project, arguments)?;
    let pulse = project.store.load_progress(&id)?.ok_or_else(|| dialogue_not_found(id.as_str()))?;
    Ok(DialogueProgress { warnings, ..compute_progress(&pulse) })
}

#[derive(Debug, Serialize)]
pub struct VerdictRegistered {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub verdict_id: VerdictId,
    pub dialogue_status: DialogueStatus,
    pub adopted: Vec<EntityId>,
    pub tensions_resolved: Vec<EntityId>,
    pub warnings: Vec<RequestWarning>,
}

pub fn give_verdict(project: &Project, arguments: &Value) -> Result<VerdictRegistered, Error> {
    let (request, mut warnings) = read_resolved::<VerdictRequest>(project, arguments)?;
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        let id = &request.dialogue_id;
        refuse_review(unit, id)?;
        let decision = judge_dialogue(unit, &request)?;
        unit.append_entry(id, JournalEntryKind::VerdictRegistered, at, &decision.changes)?;
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
