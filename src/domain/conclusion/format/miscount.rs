//! Wishes held against a text.

use super::count::count;
use super::question::sentences;
use super::together::together;
use super::wish::Wish;
use crate::domain::conclusion::audit::{Auditor, Objection};
use crate::domain::conclusion::text::Field;

/// What the question asks of the form, as far as it is recognised.
pub fn wishes(question: &str) -> Vec<Wish> {
    together(&sentences(question))
}

/// What of it the recommendation misses, each with both counts.
pub fn miscounts(question: &str, recommendation: &str) -> Vec<Objection> {
    let miss = |wish: Wish| {
        let counted = count(wish.measure, recommendation)?;
        (!wish.amount.is_met_by(counted)).then(|| Objection {
            field: Field::Recommendation,
            objection: format!("asked for {wish}; the recommendation has {counted}"),
            by: Auditor::Count,
        })
    };
    wishes(question).into_iter().filter_map(miss).collect()
}
