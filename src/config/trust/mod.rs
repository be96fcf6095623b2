//! Trust in a project's `council.yaml`: a file written by another person must not run programs or
//! send keys before the user consents.
//!
//! `risks` lists the settings that need consent and checks for paths outside the project's folder,
//! `record` stores what the user trusts, and `project` decides (ADR 20).

mod paths;
mod project;
mod record;
mod risks;

#[cfg(test)]
mod risks_tests;

pub use project::{TrustReport, UntrustedFile, inspect_trust, record_trust};
pub use record::{FileState, TrustedFile, list_trusted, remove_trust};
pub use risks::{RiskySetting, SettingUse};

pub(super) use project::ProjectFile;
