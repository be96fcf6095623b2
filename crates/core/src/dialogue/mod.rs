//! Rules of the dialogue record: parse a request, then decide which events it produces or why it is
//! rejected.
//!
//! Each operation has two pure steps. Parsing turns JSON arguments into a typed request and
//! collects every error. Deciding turns the request and the looked-up facts into journal events.
//! Nothing here accesses the store.

pub mod context;
pub mod create;
pub mod diagnostics;
pub mod entity_states;
pub mod expert;
pub mod expert_prompts;
pub mod health;
pub(crate) mod json_writer;
pub mod lookup;
pub mod panel;
pub mod progress;
pub mod register;
pub mod request;
pub mod request_fields;
pub mod round_reminders;
pub mod similar;
pub mod verdict;
