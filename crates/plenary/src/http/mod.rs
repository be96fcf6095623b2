//! The HTTP server: the API, the page, and the address on which MCP is served too.
//!
//! **Invariant:** every request passes [`admission`] before its body is read. Only the page's own
//! files, `/api/health` and `/api/session` are answered without a token.

pub mod admission;
pub mod answer;
pub mod connections;
pub mod dialogue_list;
pub mod dialogues;
pub mod event_hub;
pub mod events;
pub mod openapi;
pub mod operations;
pub mod page_files;
pub mod router;
pub mod routes;
pub mod server;
pub mod session;
pub mod starts;
pub mod tls;
pub mod token;
pub mod views;
