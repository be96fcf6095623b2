//! The MCP server: operations and runs as tools, records as resources, over stdio or HTTP.
//!
//! **Invariant:** stdout carries protocol messages only.

pub mod http;
pub mod message;
pub mod output_queue;
pub mod request_slots;
pub mod resources;
pub mod run_tools;
pub mod server;
pub mod short_text;
pub mod stdio;
pub mod tool_call;
pub mod tool_hints;
pub mod tools;
