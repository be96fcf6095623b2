//! `blue_dialogue_create`

use super::tool::{Tool, Work};
use crate::error::to_json_text;
use crate::operations::{self, CreateResult};
use crate::record::create::CreateRequest;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_create",
    about: "Start an alignment dialogue that you lead as its Judge: experts argue in rounds, and \
        everything they say gets an id. Returns the dialogue's id, the panel for round 0 and \
        `judge_protocol`: read it, it says what to do next.",
    arguments: schema::argument_schema::<CreateRequest>,
    answer: keys!(CreateResult {
        status,
        dialogue_id,
        output_dir,
        panel,
        judge_protocol,
        warnings
    }),
    work: Work::Open(|project, arguments| {
        to_json_text(&operations::create_dialogue(project, arguments)?)
    }),
};
