//! The outside models: how a request becomes a call, and what comes back a reply.
//!
//! A [`Provider`] is one configured model; a [`Transport`] is one way to reach it.
//! Nothing here journals or decides: a call is made once (a server that refuses the
//! schema is called again without it) and its outcome is returned as data. Whether
//! to call again is a pure question, answered by [`retry`].

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

pub use cli::{CliTransport, Program};
pub use clients::{HttpClients, is_loopback, origin_of};
pub use http::{HttpTransport, REPLY_BYTES_MAX};
pub use mcp::McpTransport;
#[cfg(target_os = "linux")]
pub use process::run_supervisor;
pub use process::{Environment, Supervisor, sweep_scratch_folders};
pub use provider::{Dialect, McpTool, Provider};
pub use request::{CallError, Received, Request};
pub use transport::Transport;
