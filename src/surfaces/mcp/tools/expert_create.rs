//! `blue_dialogue_expert_create`

use super::tool::{Tool, Work};
use crate::error::to_json_text;
use crate::operations::{self, ExpertResult};
use crate::record::expert::ExpertRequest;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_expert_create",
    about: "Create an expert mid-dialogue, when nobody on the panel can settle a tension. Then \
        seat it with blue_dialogue_evolve_panel.",
    arguments: schema::argument_schema::<ExpertRequest>,
    answer: keys!(ExpertResult { status, expert, warnings }),
    work: Work::Add(|project, arguments| {
        to_json_text(&operations::create_expert(project, arguments)?)
    }),
};
