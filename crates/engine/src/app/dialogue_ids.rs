//! [`resolve_id`]: finds the dialogue that a person or a program names. Every command and tool that
//! takes a dialogue uses it, so all accept the same short forms.

use std::borrow::Cow;

use plenary_core::dialogue::diagnostics::{
    RequestWarning, SHORT_LETTERS_MIN, ambiguous_id, dialogue_not_found,
};
use plenary_core::dialogue::request::{OperationRequest, read_request, read_strict_request};
use plenary_core::model::ids::{DialogueAlias, DialogueId};
use serde_json::Value;

use crate::app::project::Project;
use crate::error::Error;
use crate::store::error::StoreResult;
use crate::store::traits::Store;

/// Candidates that the error for an ambiguous id lists.
const CANDIDATES_MAX: usize = 12;

/// The dialogue with this id, this beginning of an id, these hex digits, or `latest~N`.
pub fn resolve_id(store: &dyn Store, typed: &str) -> Result<DialogueId, Error> {
    match find_id(store, typed)? {
        Some(id) => Ok(id),
        None => Err(dialogue_not_found(typed).into()),
    }
}

/// The same, or `None` if no dialogue fits.
fn find_id(store: &dyn Store, typed: &str) -> Result<Option<DialogueId>, Error> {
    // A whole id means that dialogue, also if other ids begin with it.
    if let Ok(id) = typed.parse::<DialogueId>()
        && store.load_dialogue(&id)?.is_some()
    {
        return Ok(Some(id));
    }
    let Some(alias) = DialogueAlias::parse(typed) else { return Ok(None) };
    let mut found = store.find_named(&alias, CANDIDATES_MAX)?;
    match found.len() {
        0 | 1 => Ok(found.pop().map(|named| named.dialogue_id)),
        _ => Err(ambiguous_id(typed, &found).into()),
    }
}

/// Fields of a request that name a dialogue.
const ID_FIELDS: [&str; 2] = ["dialogue_id", "after"];

/// Replaces short ids in the arguments of an operation by whole ones. An id that fits no dialogue
/// stays, and the operation reports it with its other errors.
pub fn resolve_arguments<'a>(
    store: &dyn Store,
    arguments: &'a Value,
) -> Result<Cow<'a, Value>, Error> {
    let mut resolved = Cow::Borrowed(arguments);
    for field in ID_FIELDS {
        let Some(typed) = arguments.get(field).and_then(Value::as_str) else { continue };
        if let Some(id) = find_id(store, typed)?.filter(|id| id.as_str() != typed)
            && let Some(value) = resolved.to_mut().get_mut(field)
        {
            *value = Value::from(id.as_str());
        }
    }
    Ok(resolved)
}

/// Reads a request whose dialogue may be named by a short id.
pub(crate) fn read_resolved<R: OperationRequest>(
    project: &Project,
    arguments: &Value,
) -> Result<(R, Vec<RequestWarning>), Error> {
    let arguments = resolve_arguments(project.store.as_ref(), arguments)?;
    Ok(read_request(&arguments)?)
}

/// The same for a request in which unknown fields are errors.
pub fn read_strict_resolved<R: OperationRequest>(
    store: &dyn Store,
    arguments: &Value,
) -> Result<R, Error> {
    let arguments = resolve_arguments(store, arguments)?;
    Ok(read_strict_request(&arguments)?)
}

/// The shortest form that names only this dialogue: its hex digits, or the first words of its id.
pub fn short_id(store: &dyn Store, id: &DialogueId) -> StoreResult<String> {
    if let Some(digits) = id.hex_digits() {
        return Ok(digits.to_owned());
    }
    let words = id.as_str().match_indices('-').map(|(end, _)| end);
    for end in words.filter(|end| *end >= SHORT_LETTERS_MIN) {
        let Some(beginning) = id.as_str().get(..end) else { continue };
        let Some(alias) = DialogueAlias::parse(beginning) else { continue };
        if store.is_unique(&alias)? {
            return Ok(beginning.to_owned());
        }
    }
    Ok(id.to_string())
}
