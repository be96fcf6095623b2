//! `plenary dialogue …`. Each command takes the arguments of its MCP tool with `--data`, and options
//! on top for people.

mod command;
mod extract;
mod lifecycle;
pub(super) mod queries;
mod rounds;

pub(super) use command::DialogueCommand;
