//! Parsers for the two documents of a review. They fail closed: a reply that does not state whether
//! it blocks is not a judgement.

mod adjudication;
mod judgement;
mod schema;
mod spoken;
#[cfg(test)]
mod tests;

pub use adjudication::parse_adjudication;
pub use judgement::parse_judgement;
pub(super) use schema::{adjudication_schema, judgement_schema};
