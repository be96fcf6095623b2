//! The interfaces of Plenary: the command line, the HTTP server and the MCP server.

pub mod cli;
pub mod http;
pub mod mcp;
