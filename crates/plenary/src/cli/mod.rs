//! The command line: a file per command; the doc comments of its arguments are the help.

pub mod audit;
#[cfg(test)]
mod audit_tests;
pub mod checks;
pub mod commands;
pub mod completions;
pub mod config;
pub mod cost;
pub mod council;
pub mod dialogue;
pub mod doctor;
pub mod due;
pub mod ethos;
pub mod first_slips;
pub mod health;
pub mod help;
pub mod init;
pub mod log;
pub mod log_replay;
mod models;
pub mod option_names;
pub mod review;
pub mod review_printer;
pub mod review_runner;
pub mod runs;
pub mod servers;
pub mod session;
pub mod sweep;
pub mod sweep_report;
pub mod terminal_text;
pub mod ui;
