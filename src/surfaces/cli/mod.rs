//! The command line: a file per command; the doc comments of its arguments are the help.

mod args;
mod clients;
mod config;
mod council;
mod dialogue;
mod doctor;
mod due;
mod gate;
mod health;
mod init;
mod modularity;
mod report;
mod run;
mod runs;
mod servers;
mod session;
mod show;
mod signals;
mod skills;
mod table;
mod terminal_text;
mod trust;
mod ui;
mod verify;
mod wrap;

pub use run::main;
pub use show::{Canvas, Detail};
pub(crate) use show::{
    draw as draw_record, draw_closing, draw_council, draw_council_result, draw_imported,
    draw_review, draw_review_result,
};
