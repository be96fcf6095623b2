//! RULE 0, the mechanical part: finds format constraints in a question and counts them in the
//! answer.
//!
//! The question is split into sentences ([`question`]), counts are found in them ([`phrase`]), and
//! a count becomes a constraint only if it is a request ([`request`]) about the whole answer
//! ([`constraint`]). In doubt there is no constraint: the critic can still object to a missed one,
//! but an invented one would spoil a correct conclusion.

mod count;
mod head;
mod miscount;
mod number;
mod phrase;
mod question;
mod quotations;
mod request;
mod sentences;
mod vocabulary;
mod wish;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod request_tests;

pub use count::count_units;
pub use miscount::{find_constraints, find_violations};
pub use wish::{FormatAmount, FormatConstraint, FormatUnit};
