//! `sweep`: what changed in a folder, before the gate, once for each content.

mod candidates;
mod command;
mod planned;
mod selection;
mod summary;
mod swept;

pub(crate) use command::Sweep;
