//! The MCP tools: nine for records, four for runs.

pub mod ask;
pub mod deliberation_tools;
pub mod record_tools;
pub mod review;
pub mod round_register;
#[cfg(test)]
mod tests;
pub mod tool;
