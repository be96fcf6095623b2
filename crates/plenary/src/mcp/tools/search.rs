//! `blue_dialogue_search`

use plenary_engine::app::queries::{SearchRequest, search_store};
use plenary_engine::error::to_json_text;

use crate::mcp::schema::argument_schema;
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_search",
    about: "Look things up in all records. cite: what ids mean, with references both ways. \
        similar: earlier dialogues on a subject. stats: counts. list: dialogues, a page at a time.",
    arguments: argument_schema::<SearchRequest>,
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
    work: Work::Look(|project, arguments| to_json_text(&search_store(project, arguments)?)),
};
