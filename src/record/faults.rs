//! Validation errors that several operations report, each worded once.

use serde_json::json;

use super::board::Illegal;
use super::fields::{Fields, cut};
use super::notes::Notes;
use crate::domain::dialogue::{Dialogue, DialogueStatus};
use crate::domain::facts::Facts;
use crate::domain::ids::{DialogueId, EntityId, EntityKind};
use crate::domain::lifecycle;
use crate::domain::limits::ROUND_MAX;
use crate::domain::refusal::{Code, Fault, Item};
use crate::domain::target::Target;

/// Reads the dialogue id. An invalid id is reported as not found.
pub(super) fn read_dialogue_id(fields: &Fields<'_>, notes: &mut Notes) -> Option<DialogueId> {
    let text = fields.required_text("dialogue_id", usize::MAX, notes)?;
    let id = text.parse().ok();
    if id.is_none() {
        notes.fault(no_dialogue(&text));
    }
    id
}

pub fn no_dialogue(id: &str) -> Fault {
    Fault::new(Code::DialogueNotFound, format!("dialogue '{}' not found", cut(id)))
        .field("dialogue_id")
        .value(id)
        .suggest("`plenary list` shows the dialogues of this store")
}

/// The dialogue is closed.
pub fn closed(dialogue: &Dialogue) -> Fault {
    let message = format!("dialogue '{}' is {}", dialogue.id(), dialogue.status);
    Fault::new(Code::DialogueClosed, message)
        .field("dialogue_id")
        .value(dialogue.id().as_str())
        .suggest(match dialogue.status {
            DialogueStatus::Converged => {
                "after a final verdict only minority and dissent verdicts are accepted; create a new dialogue to go on"
            }
            DialogueStatus::Open | DialogueStatus::Converging | DialogueStatus::Abandoned => {
                "create a new dialogue to go on"
            }
        })
}

/// The dialogue has no conclusion, so no outcome can be recorded.
pub fn not_concluded(id: &DialogueId) -> Fault {
    Fault::new(Code::NotConcluded, format!("dialogue '{id}' has no conclusion"))
        .field("dialogue_id")
        .value(id.as_str())
        .suggest(format!("`plenary conclude {id}` writes one"))
}

/// The critic rejected the conclusion twice, so it was not delivered and no outcome can be
/// recorded.
pub fn unconverged(id: &DialogueId) -> Fault {
    let message = format!("dialogue '{id}' ended unconverged: no conclusion was delivered");
    Fault::new(Code::NotConverged, message)
        .field("dialogue_id")
        .value(id.as_str())
        .suggest(format!("`plenary show {id}` tells why"))
}

/// Rejects every round but the next one.
pub(super) fn out_of_order(round: u16, dialogue: &Dialogue) -> Option<Fault> {
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    let fault = if round == u16::from(next) {
        if next <= ROUND_MAX {
            return None;
        }
        let message = format!("a dialogue has at most {} rounds", u16::from(ROUND_MAX) + 1);
        return Some(
            Fault::new(Code::RoundCapacityExceeded, message)
                .field("round")
                .value(round)
                .suggest("give a verdict, or go on in a new dialogue"),
        );
    } else if (u16::from(first)..u16::from(next)).contains(&round) {
        Fault::new(Code::RoundAlreadyRegistered, format!("round {round} is already registered"))
    } else {
        Fault::new(Code::InvalidRound, format!("round {round} is not the next round"))
    };
    let hint = format!("the next round is {next}");
    Some(fault.field("round").value(round).options([next]).suggest(hint))
}

/// The expert is not part of the dialogue.
pub(super) fn not_in_dialogue(expert: &str, dialogue: &Dialogue) -> Fault {
    let message = format!("expert '{}' is not in dialogue '{}'", cut(expert), dialogue.id());
    Fault::new(Code::ExpertNotInDialogue, message)
        .value(expert)
        .suggest("create the expert first, or check the spelling of the slug")
}

pub(super) fn not_an_id(field: &str, text: &str) -> Fault {
    Fault::new(Code::InvalidDisplayId, format!("{field} '{}' is not an id", cut(text)))
        .field(field)
        .value(text)
        .suggest("use a global id (P0001), a local id (MUFFIN-P0101) or an expert (@muffin)")
}

/// The id has another entity kind than the field requires.
pub(super) fn wrong_kind(field: &str, kind: EntityKind, id: &str) -> Fault {
    let message = format!("{} ID must start with '{kind}', got '{}'", kind.title(), cut(id));
    Fault::new(Code::TypeIdMismatch, message).field(field).value(id).options([kind])
}

pub fn target_not_found(id: &str, dialogue: &DialogueId) -> Fault {
    let message = format!("target_id '{id}' not found in dialogue '{dialogue}'");
    Fault::new(Code::TargetNotFound, message).value(id)
}

/// Same as `target_not_found`, with a suggestion.
pub(super) fn unknown_target(target: &Target, dialogue: &Dialogue, facts: &Facts) -> Fault {
    let fault = target_not_found(&target.to_string(), dialogue.id());
    match target {
        Target::Global(id) if id.round == dialogue.next_round() => {
            fault.suggest("items of this batch have no global id yet: use the local id")
        }
        Target::Position(expert) if facts.expert(expert.as_str()).is_none() => {
            fault.suggest(format!("there is no expert {expert} in the dialogue"))
        }
        Target::Position(expert) => {
            fault.suggest(format!("{expert} has stated no perspective yet"))
        }
        Target::Global(_) | Target::Local(_) => fault.suggest(
            "use the id of an item that is already registered, or that this batch registers",
        ),
    }
}

pub(super) fn illegal_step(id: EntityId, Illegal { from, to }: Illegal, item: &Item) -> Fault {
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
