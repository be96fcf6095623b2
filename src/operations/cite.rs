//! `cite`: what ids mean.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::arguments::read;
use super::workspace::Workspace;
use crate::domain::catalogue::Citation;
use crate::domain::ids::{DialogueId, EntityId};
use crate::domain::limits::LINE_CHARS_MAX;
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::record::{Warning, no_dialogue, target_not_found};

#[derive(Debug, Serialize)]
pub struct Cited {
    pub status: &'static str,
    pub citations: Vec<Citation>,
    pub errors: Vec<Uncited>,
    /// Fields that nobody knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// An id that could not be expanded, and why.
#[derive(Debug)]
pub struct Uncited {
    pub id: String,
    pub fault: Fault,
}

impl Serialize for Uncited {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = json!({ "id": self.id });
        if let (Value::Object(map), Value::Object(fault)) = (&mut document, self.fault.document()) {
            map.extend(fault.into_iter().filter(|(key, _)| key != "item_type"));
        }
        document.serialize(serializer)
    }
}

/// Expands ids to what they mean; bad ones come back as errors beside the good.
pub fn cite(workspace: &Workspace, arguments: &Value) -> Result<Cited, Error> {
    let known = ["op", "dialogue_id", "ids"];
    let ((dialogue, ids), warnings) = read(arguments, &known, |fields, notes| {
        let dialogue = fields.text("dialogue_id", LINE_CHARS_MAX, notes);
        let ids = fields.texts("ids", LINE_CHARS_MAX, notes).unwrap_or_default();
        if ids.is_empty() && notes.faults.is_empty() {
            let fault = fields.missing("ids");
            notes.fault(fault.suggest("name ids such as P0101 or my-dialogue/P0101"));
        }
        Some((dialogue, ids))
    })?;
    let mut cited =
        Cited { status: "success", citations: Vec::new(), errors: Vec::new(), warnings };
    for id in ids {
        match expand(workspace, dialogue.as_deref(), &id)? {
            Ok(citation) => cited.citations.push(citation),
            Err(fault) => cited.errors.push(Uncited { id, fault }),
        }
    }
    Ok(cited)
}

fn expand(
    workspace: &Workspace,
    dialogue: Option<&str>,
    text: &str,
) -> Result<Result<Citation, Fault>, Error> {
    let (dialogue, id) = match address(dialogue, text) {
        Ok(address) => address,
        Err(fault) => return Ok(Err(fault)),
    };
    if let Some(citation) = workspace.store.cite(&dialogue, id)? {
        return Ok(Ok(citation));
    }
    Ok(Err(match workspace.store.dialogue(&dialogue)? {
        Some(_) => target_not_found(&id.to_string(), &dialogue),
        None => no_dialogue(dialogue.as_str()),
    }))
}

/// `my-dialogue/P0101`, or `P0101` where the dialogue is known.
fn address(dialogue: Option<&str>, text: &str) -> Result<(DialogueId, EntityId), Fault> {
    let (dialogue, display) = match text.split_once('/') {
        Some((dialogue, display)) => (Some(dialogue), display),
        None => (dialogue, text),
    };
    let id = display.parse().map_err(|_| {
        Fault::new(Code::InvalidDisplayId, format!("'{text}' is not an id"))
            .suggest("ids look like P0101 or my-dialogue/P0101")
    })?;
    let dialogue = dialogue.ok_or_else(|| {
        let message = format!("'{text}' does not say which dialogue it belongs to");
        Fault::new(Code::MissingField, message)
            .field("dialogue_id")
            .suggest(format!("write 'my-dialogue/{text}', or name the dialogue"))
    })?;
    Ok((dialogue.parse().map_err(|_| no_dialogue(dialogue))?, id))
}
