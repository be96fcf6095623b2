//! `plenary dialogue …`. Each command takes the arguments of its MCP tool with `--data`, and options
//! on top for people.

pub mod command;
pub mod extract;
pub mod list;
pub mod queries;
pub mod rounds;
pub mod show;
