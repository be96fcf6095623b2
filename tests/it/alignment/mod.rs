//! Alignment dialogues that the built-in Judge leads, before models that keep the rules, break them,
//! fail or lie.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a script answers some purposes and leaves the others to the usual panel"
)]

mod calibrated;
mod endings;
mod experts;
pub(crate) mod harness;
mod limits;
mod lying_judge;
mod objections;
mod offline;
mod panels;
mod processes;
mod prompts;
mod random_replies;
mod resumed;
mod scripted_panel;
mod situations;
mod sources;
