//! The integration suite: one binary, a file per subject.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that meets the unexpected should stop loudly; the lints' own exception for tests does not reach helper functions"
)]
#![expect(unreachable_pub, reason = "the kit is shared by all files of this one binary")]

mod kit;

mod agent_processes;
mod anonymity;
mod briefing;
mod budget;
mod cli_transport;
mod conclusions;
mod contract;
mod councils;
mod damage;
mod doctor;
mod earlier_versions;
mod endings;
mod erasure;
mod expert_prompts;
mod extract;
mod fencing;
mod full_disk;
mod gate_prompts;
mod heard;
mod hostile;
mod lifecycle;
mod locks;
mod mcp;
mod mcp_transport;
mod migrations;
mod operations;
mod owned_files;
mod processes;
mod program;
mod prompts;
mod properties;
mod readings;
mod real;
mod rehearsing;
mod resuming;
mod reviews;
mod screens;
mod sealed;
mod secrets;
mod seed;
mod settings;
mod skills;
mod tampering;
mod terminal;
mod tidy;
mod toy_protocol;
mod toy_protocol_runs;
mod trust;
mod verdict_log;
mod verdicts;
mod wire;
