//! The interfaces of Plenary: the command line and the MCP server.

pub mod cli;
pub mod mcp;
