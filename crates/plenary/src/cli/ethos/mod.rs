//! `plenary ethos …`. Each operation takes the arguments of the tool `blue_ethos` with `--data`, and
//! options on top for people.

pub mod ask_person;
pub mod command;
pub mod library;
pub mod rules;
