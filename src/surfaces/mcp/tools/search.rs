//! `blue_dialogue_search`

use schemars::JsonSchema;

use super::tool::{Tool, Work};
use crate::domain::dialogue::{DialogueStatus, Protocol};
use crate::error::document_text;
use crate::operations::{self, SearchOp};
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_search",
    about: "Look things up in all records. cite: what ids mean, with references both ways. \
        similar: earlier dialogues on a subject. stats: counts. list: dialogues, a page at a time.",
    arguments: schema::arguments::<Arguments>,
    // Which of them are there depends on the op.
    answer: &[
        "status",
        "citations",
        "errors",
        "results",
        "dialogues",
        "next",
        "by_status",
        "by_protocol",
        "by_terminal_state",
        "entities",
        "averages",
        "top_experts",
        "warnings",
    ],
    work: Work::Look(|project, arguments| document_text(&operations::search(project, arguments)?)),
};

#[expect(dead_code, reason = "describes what the operations read")]
#[derive(JsonSchema)]
struct Arguments {
    #[schemars(schema_with = "schema::word::<SearchOp>")]
    op: SearchOp,
    /// cite: P0101 or dialogue/P0101.
    ids: Option<Vec<String>>,
    /// cite: where short ids belong.
    dialogue_id: Option<String>,
    /// similar.
    query: Option<String>,
    /// list.
    #[schemars(schema_with = "schema::word::<DialogueStatus>", default)]
    status: Option<DialogueStatus>,
    /// list.
    #[schemars(schema_with = "schema::word::<Protocol>", default)]
    protocol: Option<Protocol>,
    limit: Option<u32>,
    /// list: the `next` of the page before.
    after: Option<String>,
}
