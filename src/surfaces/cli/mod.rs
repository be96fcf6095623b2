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

pub use run::run_program;
pub use show::{PageCanvas, PageDetail};
pub(crate) use show::{
    draw_concluded_dialogue, draw_council_record, draw_council_result,
    draw_dialogue as draw_record, draw_imported_log, draw_review_record, draw_review_result,
};
