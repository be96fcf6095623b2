//! Trust in a project's `council.yaml`: a file written by another person must not run programs or
//! send keys before the user consents.
//!
//! `risks` lists the settings that need consent and checks for paths outside the project's folder,
//! `record` stores what the user trusts, and `project` decides (ADR 20).

pub mod project;
pub mod record;
pub mod risks;
#[cfg(test)]
mod risks_tests;
