//! Calls to models: provider catalogue, transports (HTTP, agent programs, MCP, rehearsal), errors.
//!
//! A [`Provider`] is one configured model; a [`Transport`] is one way to call it. This module
//! neither writes the journal nor decides: it makes one call (a second one without the schema if
//! the server rejects it) and returns the outcome. [`retry`] decides, as a pure function, whether
//! to call again.

pub mod catalogue;
pub mod cli;
pub mod dialects;
pub mod http;
pub mod http_errors;
pub mod mcp;
pub mod process;
pub mod redact;
pub mod rehearsal;
pub mod retry;
#[cfg(test)]
pub(crate) mod test_samples;
pub mod transport;
