//! RULE 0, the mechanical part: finds format constraints in a question and counts them in the
//! answer.
//!
//! The question is split into sentences ([`question`]), counts are found in them ([`phrase`]), and
//! a count becomes a constraint only if it is a request ([`request`]) about the whole answer
//! ([`constraint`]). In doubt there is no constraint: the critic can still object to a missed one,
//! but an invented one would spoil a correct conclusion.

pub mod command;
pub mod constraint;
pub mod count;
pub mod phrase;
#[cfg(test)]
mod property_tests;
pub mod question;
pub mod quotations;
pub mod request;
pub mod request_context;
#[cfg(test)]
mod request_tests;
pub mod vocabulary;
