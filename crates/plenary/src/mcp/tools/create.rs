//! `blue_dialogue_create`

use plenary_core::dialogue::create::CreateRequest;
use plenary_engine::app::dialogues::{CreateResult, create_dialogue};
use plenary_engine::error::to_json_text;

use crate::mcp::schema::{argument_schema, keys};
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_create",
    about: "Start an alignment dialogue that you lead as its Judge: experts argue in rounds, and \
        everything they say gets an id. Returns the dialogue's id, the panel for round 0 and \
        `judge_protocol`: read it, it says what to do next.",
    arguments: argument_schema::<CreateRequest>,
    answer: keys!(CreateResult {
        status,
        dialogue_id,
        output_dir,
        panel,
        judge_protocol,
        warnings
    }),
    work: Work::Open(|project, arguments| to_json_text(&create_dialogue(project, arguments)?)),
};
