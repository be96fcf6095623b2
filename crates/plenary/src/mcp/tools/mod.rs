//! The MCP tools: nine for records, four for runs.

pub mod ask;
pub mod register_schema;
pub mod review;
pub mod table;
