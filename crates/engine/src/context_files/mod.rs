//! Files sent with a question: what may be sent, and why the rest is not.
//!
//! **Invariant:** a pack never contains a credential, however it was named; and every examined file
//! is sent, indexed or excluded with a reason.

pub mod credential_names;
pub mod document;
pub mod gather;
#[cfg(test)]
mod gather_tests;
pub mod read;
pub mod secrets;
pub mod selection;
pub mod walk;
