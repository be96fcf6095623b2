//! Our MCP server before the clients that people have.

mod agents;
mod conformance;
mod forwarder;
mod house;
mod inspector;
mod sdk;
