//! `blue_dialogue_search`

use super::tool::{Tool, Work};
use crate::error::to_json_text;
use crate::operations::{self, SearchRequest};
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_search",
    about: "Look things up in all records. cite: what ids mean, with references both ways. \
        similar: earlier dialogues on a subject. stats: counts. list: dialogues, a page at a time.",
    arguments: schema::argument_schema::<SearchRequest>,
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
    work: Work::Look(|project, arguments| {
        to_json_text(&operations::search_store(project, arguments)?)
    }),
};
