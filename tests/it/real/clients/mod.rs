//! Our MCP server with real clients.

mod agents;
mod conformance;
mod forwarder;
mod harness;
mod inspector;
mod sdk;
