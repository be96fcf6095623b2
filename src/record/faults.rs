//! Faults that more than one operation can find.

use serde_json::json;

use super::board::Illegal;
use super::fields::{Fields, cut};
use crate::domain::dialogue::Dialogue;
use crate::domain::ids::{DialogueId, EntityId};
use crate::domain::lifecycle;
use crate::domain::refusal::{Code, Fault, Item};

/// The dialogue a request is about. What is no id cannot be found either.
pub(super) fn read_dialogue_id(fields: &Fields<'_>, faults: &mut Vec<Fault>) -> Option<DialogueId> {
    let text = fields.required_text("dialogue_id", usize::MAX, faults)?;
    let id = text.parse().ok();
    if id.is_none() {
        faults.push(no_dialogue(&text));
    }
    id
}

/// There is no dialogue of this name.
pub fn no_dialogue(id: &str) -> Fault {
    Fault::new(Code::DialogueNotFound, format!("dialogue '{}' not found", cut(id)))
        .field("dialogue_id")
        .value(id)
        .suggest("`plenary list` shows the dialogues of this store")
}

/// The dialogue takes no more of this.
pub fn closed(dialogue: &Dialogue) -> Fault {
    let message = format!("dialogue '{}' is {}", dialogue.id(), dialogue.status);
    Fault::new(Code::DialogueClosed, message)
        .field("dialogue_id")
        .value(dialogue.id().as_str())
        .suggest("after a final verdict only minority and dissent verdicts are accepted; create a new dialogue to go on")
}

/// Nobody of this name takes part.
pub(super) fn not_in_dialogue(expert: &str, dialogue: &Dialogue) -> Fault {
    let message = format!("expert '{}' is not in dialogue '{}'", cut(expert), dialogue.id());
    Fault::new(Code::ExpertNotInDialogue, message)
        .value(expert)
        .suggest("create the expert first, or check the spelling of the slug")
}

/// The lifecycle does not know this step.
pub(crate) fn illegal_step(id: EntityId, Illegal { from, to }: Illegal, item: &Item) -> Fault {
    let valid = lifecycle::steps(id.kind, from);
    let names: Vec<&str> = valid.iter().map(|status| status.name()).collect();
    let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let message =
        format!("Cannot transition {id} from '{from}' to '{to}' (valid transitions: {listed})");
    Fault::new(Code::InvalidStatusTransition, message)
        .about(item)
        .field("status")
        .value(to.name())
        .options(names)
        .context(json!({"id": id.to_string(), "from": from, "to": to}))
}
