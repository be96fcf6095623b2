//! `blue_dialogue_expert_create`

use plenary_core::dialogue::expert::ExpertRequest;
use plenary_engine::app::dialogues::{ExpertResult, create_expert};
use plenary_engine::error::to_json_text;

use crate::mcp::schema::{argument_schema, keys};
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_expert_create",
    about: "Create an expert mid-dialogue, when nobody on the panel can settle a tension. Then \
        seat it with blue_dialogue_evolve_panel.",
    arguments: argument_schema::<ExpertRequest>,
    answer: keys!(ExpertResult { status, expert, warnings }),
    work: Work::Add(|project, arguments| to_json_text(&create_expert(project, arguments)?)),
};
