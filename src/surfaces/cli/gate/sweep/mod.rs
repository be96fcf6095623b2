//! `sweep`: reviews the changed files of a folder, each content once.

mod candidates;
mod command;
mod planned;
mod selection;
mod summary;
mod swept;

pub(crate) use command::SweepArgs;
