//! Expert prompts of an alignment dialogue: one Markdown prompt per seat of a round's panel, with
//! a context brief for experts who join.
//!
//! Text that all experts read is rendered once per panel.

pub mod context_brief;
pub mod foreign_text;
pub mod panel_prompts;
pub mod panel_status;
pub mod prior_rounds;
pub mod prompt_blocks;
pub mod relevance;
pub mod seat_prompt;
