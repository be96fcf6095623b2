//! The door for agents: the record's operations and deliberations as MCP tools, records as
//! resources, by standard input and output or by HTTP.
//!
//! **Invariant:** nothing is written to standard output but the protocol.

mod answer;
mod call;
mod connections;
mod deliberating;
mod directing;
mod http;
mod in_flight;
mod message;
mod output_queue;
mod params;
mod posted;
mod prompts;
mod request_slots;
mod resources;
mod run_answer;
mod salvage;
mod schema;
mod server;
mod stdio;
mod tasks;
mod token;
mod tools;

pub(crate) use connections::HttpLimits;
pub(crate) use http::{Address, listen};
pub(crate) use stdio::serve as serve_stdio;
