//! Expert prompts of an alignment dialogue: one Markdown prompt per seat of a round's panel, with
//! a context brief for experts who join.
//!
//! Text that all experts read is rendered once per panel.

mod background;
mod brief;
mod imitation;
mod instructions;
mod ledger;
mod names;
mod page;
mod prior;
mod prompts;
mod relevant;
mod role;
mod tensions;

pub use instructions::is_prompt;
pub use prompts::{PanelPrompts, PromptsBuilder};
