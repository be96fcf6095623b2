//! `doctor`: checks whether each provider can be called from here, and says what is missing.

mod advice;
mod checkup;
mod command;
mod probe;

pub(super) use checkup::{CheckState, DoctorReport, ProviderCheck};
pub(super) use command::DoctorArgs;
