//! `plenary dialogue …`: a file per operation. Each takes the arguments of its
//! MCP tool with `--data`, and options on top for people.

mod abandon;
pub(super) mod cite;
mod command;
mod context;
mod create;
mod expert;
pub(super) mod export;
mod extract;
pub(super) mod list;
mod panel;
mod progress;
mod prompts;
mod register;
pub(super) mod show;
mod similar;
mod stats;
mod verdict;

pub(super) use command::DialogueCommand;
