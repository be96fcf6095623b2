//! The MCP server: operations and runs as tools, records as resources, over stdio or HTTP.
//!
//! **Invariant:** stdout carries protocol messages only.

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
pub(crate) use http::{ListenAddress, bind_http_server};
pub(crate) use stdio::serve_stdio;
