//! `council.yaml` as written: one type per section, each value with its line.
//!
//! Reading checks types, ranges and what one section can check alone. Checks that depend on the
//! environment or another section follow when `load` builds the settings.

pub mod provider_entry;
pub mod sections;
