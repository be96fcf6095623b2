//! The command line: a file per command, whose doc comments are its help.

mod args;
mod config;
mod council;
mod dialogue;
mod doctor;
mod due;
mod health;
mod init;
mod report;
mod run;
mod session;
mod show;
mod table;
mod ui;
mod verify;
mod wrap;

pub use run::main;
