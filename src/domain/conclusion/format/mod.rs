//! RULE 0, its mechanical half: what the question asks of the form, counted.
//!
//! A question is taken apart into sentences ([`question`]), counts are found in them
//! ([`phrase`]), and each is a wish only where it is a request ([`request`]) that can be
//! counted on the whole text ([`miscount`]). Where it may be either, it is none: a wish that
//! was missed leaves work to the critic, one that was imagined spoils an honest conclusion.

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

pub use count::count;
pub use miscount::{miscounts, wishes};
pub use wish::{Amount, Measure, Wish};
