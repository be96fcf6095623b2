//! What an expert of a dialogue is given to read: a prompt in Markdown for each seat of a
//! round's panel, and a context brief in it for whoever is new to the table.
//!
//! What all experts read alike is written once, however many they are.

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
pub use prompts::{Prompts, Sheets};
