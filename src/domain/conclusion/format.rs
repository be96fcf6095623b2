//! RULE 0, its mechanical half: what the question asks of the form, counted.

use super::audit::{Auditor, Objection};
use super::text::Field;

/// A form that a question asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish;

/// What the question asks of the form, as far as it is recognised.
pub fn wishes(_question: &str) -> Vec<Wish> {
    Vec::new()
}

/// What of it the recommendation misses, each with both counts.
pub fn miscounts(question: &str, _recommendation: &str) -> Vec<Objection> {
    let miss = |_| Objection {
        field: Field::Recommendation,
        objection: String::new(),
        by: Auditor::Count,
    };
    wishes(question).into_iter().map(miss).collect()
}
