//! Calls to models: provider catalogue, transports (HTTP, agent programs, MCP, rehearsal), errors.
//!
//! A [`Provider`] is one configured model; a [`Transport`] is one way to call it. This module
//! neither writes the journal nor decides: it makes one call (a second one without the schema if
//! the server rejects it) and returns the outcome. [`retry`] decides, as a pure function, whether
//! to call again.

pub mod catalogue;
pub mod rehearsal;
pub mod retry;

mod cli;
mod clients;
mod dialect;
mod failure;
mod http;
mod mcp;
mod prices;
mod process;
mod provider;
mod request;
#[cfg(test)]
mod sample;
mod sentence;
mod transport;

pub use cli::{AgentProgram, CliTransport};
pub use clients::{HttpClients, is_loopback, origin_of};
pub use http::{HttpTransport, REPLY_BYTES_MAX};
pub use mcp::McpTransport;
#[cfg(target_os = "linux")]
pub use process::run_supervisor;
pub use process::{ChildEnvironment, SupervisorBinary, sweep_scratch_folders};
pub use provider::{Dialect, McpTool, Provider};
pub use request::{CallError, CallReply, CallRequest};
pub use transport::Transport;
