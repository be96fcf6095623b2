//! Reply text becomes typed findings, or an exact reason why not.
//!
//! A reply goes through thinking dropped, candidates found, JSON read (and mended
//! where it must be), values fitted to the schema, and sense checked. Nothing is
//! guessed: what cannot be read is an absence with a reason.

mod candidates;
mod coerce;
mod council;
mod json;
mod reading;
mod refusal;
mod repair;
mod reply;
mod schema;
mod stub;
mod synonyms;
mod think;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;

pub use council::{opinion, report, review};
pub use reading::{Normalised, Read, Unreadable, reading};
#[cfg(test)]
use schema::opinion_schema;
pub use schema::schema;
pub use stub::{audit, conclusion, restatement, revision};
