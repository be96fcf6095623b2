//! The requests that clients of a server send to start and control runs, over MCP and HTTP.

pub mod align;
pub mod ask;
pub mod intervene;
pub mod review;
pub mod run_answer;
pub mod status;
