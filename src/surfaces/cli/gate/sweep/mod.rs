//! `sweep`: what changed in a folder, before the gate, once for each content.

mod candidates;
mod command;
mod selection;
mod told;

pub(crate) use command::Sweep;
