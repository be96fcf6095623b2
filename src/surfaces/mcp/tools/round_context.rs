//! `blue_dialogue_round_context`

use super::tool::{Tool, Work};
use crate::files::WritePermission;
use crate::operations::{self, ContextRequest};
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "blue_dialogue_round_context",
    about: "Everything the panel of a round may read, for all its experts at once: background, \
        all that was said before, open tensions, and each expert's own part. Build a prompt for \
        each expert from it, or let `render` write them.",
    arguments: schema::argument_schema::<ContextRequest>,
    answer: &["dialogue", "prior_rounds", "active_tensions", "experts", "prompts", "warnings"],
    // Rendering writes files.
    work: Work::Add(|project, arguments| {
        operations::read_context(project, arguments, WritePermission::Remote)
    }),
};
