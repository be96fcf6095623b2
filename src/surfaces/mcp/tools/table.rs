//! The list of all tools.

use super::tool::Tool;
use super::{
    ask, create, evolve_panel, expert_create, export, intervene, progress, review, round_context,
    round_register, search, status, verdict_register,
};

/// In the order in which a Judge needs them.
pub(in crate::surfaces::mcp) const TOOLS: [&Tool; 13] = [
    &create::TOOL,
    &evolve_panel::TOOL,
    &round_context::TOOL,
    &round_register::TOOL,
    &expert_create::TOOL,
    &progress::TOOL,
    &verdict_register::TOOL,
    &export::TOOL,
    &search::TOOL,
    &ask::TOOL,
    &review::TOOL,
    &status::TOOL,
    &intervene::TOOL,
];
