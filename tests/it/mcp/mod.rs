//! The door for agents, as a client finds it: the real program, a message a line.

pub mod agent;
mod answers;
mod clients;
mod crowds;
mod directives;
mod examples;
mod hostile;
mod http;
pub mod long_work;
mod operator;
mod record;
pub mod served;
mod stopping;
mod tasks;
mod unread;
mod wishes;
