//! The rules of the record: what a request becomes, or exactly why not.
//!
//! Each operation is two pure steps. Reading turns JSON arguments into a typed
//! request and collects every fault on the way; deciding turns the request and
//! the facts it mentions into changes. Nothing here touches the store.

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
mod roll;
mod sampling;
mod warning;

pub use faults::{
    closed, no_dialogue, not_concluded, read_dialogue_id, target_not_found, unconverged,
};
pub use fields::Fields;
pub(crate) use fields::cut;
pub use notes::Notes;
pub use warning::Warning;
