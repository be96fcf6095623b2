//! Decides what a batch or a verdict changes in the record, inside a transaction, and the id of a new
//! dialogue. Runs and the operations of a Judge both use it.

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::dialogue::register::batch::RegisterBatch;
use plenary_core::dialogue::register::decide::{RegisterDecision, decide_registration};
use plenary_core::dialogue::verdict::decide::{VerdictDecision, decide_verdict};
use plenary_core::dialogue::verdict::parse::VerdictRequest;
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::text::slugify_title;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};

use crate::error::Error;
use crate::store::error::StoreError;
use crate::store::traits::StoreTransaction;

/// Finds a dialogue, or returns the error that there is none.
pub(crate) fn find_dialogue(
    unit: &mut dyn StoreTransaction,
    id: &DialogueId,
) -> Result<Dialogue, Error> {
    unit.load_dialogue(id)?.ok_or_else(|| dialogue_not_found(id.as_str()).into())
}

/// Finds a dialogue that can still be added to. Once its conclusion has begun it cannot: the
/// conclusion depends on the record that the Synthesizer saw.
pub(crate) fn find_open_dialogue(
    unit: &mut dyn StoreTransaction,
    id: &DialogueId,
) -> Result<Dialogue, Error> {
    let dialogue = find_dialogue(unit, id)?;
    if unit.is_ending(id)? {
        let message = format!("the conclusion of '{id}' has begun, so its record is closed");
        let fault = ValidationError::new(ErrorCode::DialogueClosed, message);
        let hint = format!("`plenary resume {id}` continues it, `plenary show {id}` shows it");
        return Err(fault.with_suggestion(hint).into());
    }
    Ok(dialogue)
}

/// Decides the registration of a batch. Nothing is written yet.
pub(crate) fn decide_batch(
    unit: &mut dyn StoreTransaction,
    batch: &RegisterBatch,
) -> Result<RegisterDecision, Error> {
    let dialogue = find_open_dialogue(unit, &batch.dialogue_id)?;
    let facts = unit.look_up_record(&dialogue, &batch.lookup_request())?;
    Ok(decide_registration(batch, &dialogue, &facts)?)
}

/// Decides the verdict of a Judge. Nothing is written yet.
pub(crate) fn judge_dialogue(
    unit: &mut dyn StoreTransaction,
    request: &VerdictRequest,
) -> Result<VerdictDecision, Error> {
    let dialogue = find_dialogue(unit, &request.dialogue_id)?;
    let facts = unit.look_up_record(&dialogue, &request.lookup_request())?;
    Ok(decide_verdict(request, &dialogue, &facts)?)
}

/// Id from the slug of the title and eight random hex digits, for dialogues created in large
/// numbers.
pub(crate) fn hexed_id(
    unit: &mut dyn StoreTransaction,
    title: &str,
    dice: &mut SeededRandom,
) -> Result<DialogueId, Error> {
    loop {
        let text = format!("{}-{:08x}", slugify_title(title), dice.next_u64() >> 32);
        let malformed = |_| StoreError::Malformed { what: "dialogue id", text: text.clone() };
        let id = text.parse().map_err(malformed)?;
        if !unit.is_id_taken(&id)? {
            return Ok(id);
        }
    }
}
