//! Our MCP server with real clients.

mod agents;
mod conformance;
mod forwarder;
mod harness;
mod inspector;
mod sdk;

pub(super) use harness::installed_path;
