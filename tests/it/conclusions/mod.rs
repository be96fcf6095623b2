//! How deliberations conclude: terminal states, failures on the way, and interventions.

mod acceptance;
mod blind_critic;
mod canary;
mod conclude_command;
mod directives;
mod harness;
mod random_models;
mod random_runs;
mod states;
mod stopping;
mod whispers;
