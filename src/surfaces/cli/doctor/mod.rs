//! `doctor`: checks whether each provider can be called from here, and says what is missing.

mod advice;
mod checkup;
mod command;
mod probe;

pub(super) use checkup::{Checkup, ProviderSeen, State};
pub(super) use command::Doctor;
