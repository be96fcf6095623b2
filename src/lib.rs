//! Plenary: a panel of models argues by a written protocol, and every position,
//! tension, claim and piece of evidence gets an id, an author and a history.

pub mod domain;
pub mod record;
pub mod store;
