//! `list`: dialogues, a page at a time.

use serde::Serialize;
use serde_json::Value;

use super::arguments::read;
use super::workspace::Workspace;
use crate::domain::catalogue::{ListQuery, Summary};
use crate::domain::ids::DialogueId;
use crate::domain::limits::{LINE_CHARS_MAX, PAGE_MAX};
use crate::domain::refusal::Fault;
use crate::error::Error;
use crate::record::{Fields, Notes, Warning, no_dialogue};

/// A screenful.
const PAGE_DEFAULT: usize = 50;

#[derive(Debug, Serialize)]
pub struct Listed {
    pub status: &'static str,
    pub dialogues: Vec<Summary>,
    /// Give this as `after` to read on.
    pub next: Option<DialogueId>,
    /// Fields that nobody knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

const FIELDS: [&str; 5] = ["op", "status", "protocol", "limit", "after"];

pub fn list(workspace: &Workspace, arguments: &Value) -> Result<Listed, Error> {
    let ((query, after), warnings) = read(arguments, &FIELDS, |fields, notes| {
        let after = fields.text("after", LINE_CHARS_MAX, notes);
        let query = ListQuery {
            status: fields.word("status", notes),
            protocol: fields.word("protocol", notes),
            limit: read_limit(fields, PAGE_DEFAULT, notes),
            after: after.as_deref().and_then(|id| id.parse().ok()),
        };
        Some((query, after))
    })?;
    if let Some(after) = after {
        let known = match &query.after {
            Some(id) => workspace.store.dialogue(id)?.is_some(),
            None => false,
        };
        if !known {
            return Err(Fault { field: Some("after".to_owned()), ..no_dialogue(&after) }.into());
        }
    }
    // One more than asked for tells whether there is a next page.
    let limit = query.limit;
    let mut dialogues = workspace.store.list(&ListQuery { limit: limit + 1, ..query })?;
    let more = dialogues.len() > limit;
    dialogues.truncate(limit);
    let next = dialogues.last().filter(|_| more).map(|last| last.dialogue_id.clone());
    Ok(Listed { status: "success", dialogues, next, warnings })
}

pub(super) fn read_limit(fields: &Fields<'_>, default: usize, notes: &mut Notes) -> usize {
    let limit = fields.integer("limit", 1..=PAGE_MAX as i64, notes);
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
}
