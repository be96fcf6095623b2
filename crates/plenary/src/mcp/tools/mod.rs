//! The MCP tools, a file each: nine for records, four for runs.

pub mod ask;
pub mod create;
pub mod deliberation;
pub mod evolve_panel;
pub mod expert_create;
pub mod export;
pub mod intervene;
pub mod progress;
pub mod review;
pub mod round_context;
pub mod round_register;
pub mod search;
pub mod status;
pub mod table;
#[cfg(test)]
mod tests;
pub mod tool;
pub mod verdict_register;
