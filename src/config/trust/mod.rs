//! Trust in a project's `council.yaml`: a file that another person wrote must not run programs or
//! send keys before the user has read what it asks for.
//!
//! `risks` tells which settings need consent, `paths` which paths leave the project's folder,
//! `record` keeps what the user trusted, and `project` decides (ADR 20).

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
