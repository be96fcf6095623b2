//! Plenary: a panel of models argues by a written protocol, and every position,
//! tension, claim and piece of evidence gets an id, an author and a history.

pub mod ambient;
pub mod config;
pub mod domain;
pub mod error;
pub mod export;
pub mod files;
pub mod operations;
pub mod record;
pub mod store;
pub mod surfaces;
