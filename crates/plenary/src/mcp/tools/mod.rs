//! The MCP tools: nine for records, four for runs.

pub mod register_schema;

pub mod table;
