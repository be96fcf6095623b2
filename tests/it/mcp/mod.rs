//! The MCP server as a client sees it: the real program, one message per line.

mod answers;
mod clients;
mod concurrency;
mod directives;
mod examples;
mod hostile;
mod http;
pub mod http_harness;
mod operator;
mod record;
mod run_options;
pub mod run_tools;
pub mod stdio_client;
mod stopping;
mod tasks;
mod unread_answers;
