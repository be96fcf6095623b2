//! Rules of the dialogue record: parse a request, then decide which events it produces or why it is
//! rejected.
//!
//! Each operation has two pure steps. Parsing turns JSON arguments into a typed request and
//! collects every error. Deciding turns the request and the looked-up facts into journal events.
//! Nothing here accesses the store.

pub mod context;
pub mod convergence;
pub mod create;
pub mod expert;
pub mod gate_audit;
pub mod health;
pub mod panel;
pub mod register;
pub mod share;
pub mod similar;
pub mod verdict;

mod board;
mod brief;
mod faults;
mod fields;
mod json_text;
mod lookup;
mod notes;
mod request;
mod roll;
mod sampling;
mod warning;

pub use faults::{
    dialogue_closed, dialogue_not_found, ended_unconverged, not_concluded, target_not_found,
};
pub use fields::RequestFields;
pub(crate) use fields::truncate_echo;
pub use notes::Diagnostics;
pub use request::{OperationRequest, ReadFields, read_request, read_strict_request};
pub use warning::RequestWarning;
