//! The one ask of a model about the conflicts of an ethos: its messages, its schema, its reply.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ethos::conflicts::ProposedConflict;
use crate::ethos::rule_set::DialogueEthos;
use crate::model::ask::{Ask, AskMessages, AskPurpose};
use crate::model::run_state::{ParseOutcome, ReplyDocument};
use crate::model::text::to_one_line;
use crate::parsing::reply::{parse_document, to_parse_outcome};
use crate::prompting::fence::FencedSection;
use crate::prompting::instructions::RoleParts;
use crate::prompting::layout::MessageParts;

const INSTRUCTIONS: &str = include_str!("../../../../prompts/ethos/conflicts.md");

/// The purpose of the ask.
pub const FIND_CONFLICTS: AskPurpose = AskPurpose::Other("ethos_conflicts");

/// Pairs that a reply may propose.
const PROPOSALS_MAX: usize = 50;

/// What the model returns.
#[derive(Debug, Deserialize, Serialize)]
struct ConflictReply {
    conflicts: Vec<ProposedConflict>,
}

/// The messages. The rules are material: people wrote them, and the model follows none of them.
pub fn conflict_messages(secret: &str, ethos: &DialogueEthos, ask: &Ask) -> AskMessages {
    let lines = ethos.rules_in_force().map(|rule| {
        let (label, text) = (to_one_line(&rule.label), to_one_line(&rule.description));
        format!(
            "{} ({}, priority {}) {label}: {text}",
            rule.rule_id(),
            rule.rule_type,
            rule.priority
        )
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let sections = [FencedSection::material("RULES", text)];
    let role = &RoleParts::from_text(INSTRUCTIONS);
    let parts = MessageParts { secret, block: None, role, sections: &sections, remarks: &[] };
    parts.render_messages(ask)
}

/// The schema of the reply.
pub static CONFLICTS_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = json!({ "type": "string" });
    let words = |names: &[&str]| json!({ "type": "string", "enum": names });
    let item = json!({
        "type": "object",
        "properties": {
            "a": text, "b": text,
            "quote_a": text, "quote_b": text,
            "reason": text,
            "type": words(&["contradiction", "redundancy", "ambiguity"]),
            "resolution": words(&["a_supersedes", "b_supersedes", "merged", "removed"]),
        },
        "required": ["a", "b", "quote_a", "quote_b", "reason", "type", "resolution"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": { "conflicts": { "type": "array", "items": item } },
        "required": ["conflicts"],
        "additionalProperties": false,
    })
});

/// What a reply says.
pub fn parse_conflicts(reply: &str) -> ParseOutcome {
    let read = parse_document(reply, &CONFLICTS_SCHEMA, |reply: &mut ConflictReply| {
        reply.conflicts.truncate(PROPOSALS_MAX);
        Ok(())
    });
    to_parse_outcome(read, |found| ReplyDocument::Other(json!(found)))
}

/// The proposals in a parsed reply.
pub fn proposals_of(document: &ReplyDocument) -> Vec<ProposedConflict> {
    let ReplyDocument::Other(found) = document else { return Vec::new() };
    let read = serde_json::from_value(found.clone());
    read.map(|reply: ConflictReply| reply.conflicts).unwrap_or_default()
}
