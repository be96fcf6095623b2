//! `blue_dialogue_expert_create`

use super::tool::{Tool, Work};
use crate::error::document_text;
use crate::operations::{self, ExpertCreated};
use crate::record::expert::ExpertRequest;
use crate::surfaces::mcp::schema::{self, keys};

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_expert_create",
    about: "Create an expert mid-dialogue, when nobody on the panel can settle a tension. Then \
        seat it with blue_dialogue_evolve_panel.",
    arguments: schema::arguments::<ExpertRequest>,
    answer: keys!(ExpertCreated { status, expert, warnings }),
    work: Work::Add(|project, arguments| {
        document_text(&operations::create_expert(project, arguments)?)
    }),
};
