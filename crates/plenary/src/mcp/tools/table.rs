//! The list of all tools.

use crate::mcp::tools::create::TOOL;
use crate::mcp::tools::tool::Tool;

/// In the order in which a Judge needs them.
pub(crate) const TOOLS: [&Tool; 13] = [
    &TOOL,
    &crate::mcp::tools::evolve_panel::TOOL,
    &crate::mcp::tools::round_context::TOOL,
    &crate::mcp::tools::round_register::TOOL,
    &crate::mcp::tools::expert_create::TOOL,
    &crate::mcp::tools::progress::TOOL,
    &crate::mcp::tools::verdict_register::TOOL,
    &crate::mcp::tools::export::TOOL,
    &crate::mcp::tools::search::TOOL,
    &crate::mcp::tools::ask::TOOL,
    &crate::mcp::tools::review::TOOL,
    &crate::mcp::tools::status::TOOL,
    &crate::mcp::tools::intervene::TOOL,
];
