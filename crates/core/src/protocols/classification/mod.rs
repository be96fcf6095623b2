//! The classification of a document: one ask to one model, which says how often documents of its
//! kind are reviewed. A review asks it where `tier_classifier` in council.yaml says so.

pub mod finding;
pub mod protocol;
