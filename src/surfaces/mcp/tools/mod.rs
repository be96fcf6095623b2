//! The MCP tools, a file each: nine for records, four for runs.

pub(super) mod ask;
mod create;
mod deliberation;
mod evolve_panel;
mod expert_create;
mod export;
pub(super) mod intervene;
mod progress;
pub(super) mod review;
mod round_context;
mod round_register;
mod search;
pub(super) mod status;
mod table;
#[cfg(test)]
mod tests;
mod tool;
mod verdict_register;

pub(super) use table::TOOLS;
pub(super) use tool::{Run, Tool, Work};
