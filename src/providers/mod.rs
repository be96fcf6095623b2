//! The outside models: how a request becomes a call, and what comes back a reply.
//!
//! A [`Provider`] is one configured model; a [`Transport`] is one way to reach it.
//! Nothing here retries, journals or decides: a call is made once and its outcome
//! is returned as data.

pub mod catalogue;

mod prices;
mod provider;
mod request;

pub use provider::{Dialect, McpTool, Provider};
pub use request::{CallError, Received, Request};
