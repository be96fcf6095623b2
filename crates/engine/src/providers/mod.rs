//! Calls to models: provider catalogue, transports (HTTP, agent programs, MCP, rehearsal), errors.
//!
//! A [`Provider`] is one configured model; a [`Transport`] is one way to call it. This module
//! neither writes the journal nor decides: it makes one call and returns the outcome. A parameter that
//! the server refuses is left out of later calls. [`retry`] decides, as a pure function, whether to
//! call again.

pub mod call_progress;
pub mod catalogue;
pub mod cli;
pub mod dialects;
pub mod http;
pub mod http_clients;
pub mod http_errors;
pub mod mcp;
pub mod model_facts;
pub mod offered_models;
pub mod pace;
pub mod process;
pub mod rate_limits;
pub mod redact;
pub mod rehearsal;
pub(crate) mod request_parts;
pub mod response_body;
pub mod retry;
#[cfg(test)]
pub(crate) mod test_samples;
pub mod transport;
