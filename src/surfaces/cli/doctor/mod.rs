//! `doctor`: whether a council could be asked from here, and what stands in the way.

mod advice;
mod checkup;
mod command;
mod probe;

pub(super) use checkup::{Checkup, ProviderSeen, State};
pub(super) use command::Doctor;
