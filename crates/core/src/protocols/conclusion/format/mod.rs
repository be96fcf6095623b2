//! RULE 0, the mechanical part: finds a format request in a question and counts the answer.
//!
//! [`request`] has a closed list of request forms. In doubt there is no constraint: the critic can
//! still object to a missed one, but an invented one would spoil a correct conclusion.

pub mod constraint;
pub mod count;
#[cfg(test)]
mod property_tests;
pub mod request;
#[cfg(test)]
mod request_tests;
