//! `blue_dialogue_round_context`

use plenary_engine::app::round_context::{ContextRequest, read_context};
use plenary_engine::files::allowed_file::WritePermission;

use crate::mcp::schema::argument_schema;
use crate::mcp::tools::tool::{Tool, Work};

pub(crate) const TOOL: Tool = Tool {
    name: "blue_dialogue_round_context",
    about: "Everything the panel of a round may read, for all its experts at once: background, \
        all that was said before, open tensions, and each expert's own part. Build a prompt for \
        each expert from it, or let `render` write them.",
    arguments: argument_schema::<ContextRequest>,
    answer: &["dialogue", "prior_rounds", "active_tensions", "experts", "prompts", "warnings"],
    // Rendering writes files.
    work: Work::Add(|project, arguments| read_context(project, arguments, WritePermission::Remote)),
};
