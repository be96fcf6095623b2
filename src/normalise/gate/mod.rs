//! The two documents of an artifact gate. They are read to fail closed: what does not say
//! whether it blocks is no judgement.

mod adjudication;
mod judgement;
mod schema;
mod spoken;
#[cfg(test)]
mod tests;

pub use adjudication::adjudication;
pub use judgement::judgement;
pub(super) use schema::{adjudication_schema, judgement_schema};
