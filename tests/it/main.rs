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
mod alignment;
mod anonymity;
mod budget;
mod calls;
mod cli_transport;
mod conclusion_commands;
mod conclusion_parsing;
mod conclusion_prompts;
mod conclusions;
mod contract;
mod council_prompts;
mod councils;
mod damage;
mod docs;
mod doctor;
mod earlier_versions;
mod erasure;
mod ethos;
mod ethos_situations;
mod everyday;
mod expert_prompts;
mod extract;
mod fencing;
mod first_mistakes;
mod full_disk;
mod hostile;
mod http_api;
mod http_streams;
mod http_transport;
mod intervention_prompts;
mod lifecycle;
mod locks;
mod mcp;
mod mcp_transport;
mod migrations;
mod models;
mod operations;
mod owned_files;
mod page_sources;
mod processes;
mod program;
mod prompt_caches;
mod prompt_fences;
mod properties;
mod real;
mod rehearsal;
mod resuming;
mod review_prompts;
mod reviews;
mod screens;
mod secrets;
mod settings;
mod situations;
mod skills;
mod specification;
mod tampering;
mod terminal;
mod tidy;
mod toy_protocol;
mod toy_protocol_runs;
mod trust;
mod verdict_log;
mod verdicts;
