//! Reply text becomes typed findings, or an exact reason why not.
//!
//! A reply goes through thinking dropped, candidates found, JSON read (and mended
//! where it must be), values fitted to the schema, and sense checked. Nothing is
//! guessed: what cannot be read is an absence with a reason.

mod audit;
mod candidates;
mod coerce;
mod conclusion;
mod council;
mod examiner;
mod gate;
mod json;
mod reading;
mod refusal;
mod repair;
mod reply;
mod restatement;
mod rigid;
mod schema;
mod synonyms;
mod think;
mod truncation;

#[cfg(test)]
mod audit_tests;
#[cfg(test)]
mod conclusion_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truncation_tests;

pub use audit::audit;
pub use conclusion::{conclusion, revision};
pub use council::{opinion, report, review};
pub use gate::{adjudication, judgement};
pub use reading::{Normalised, Read, Unreadable, reading};
pub use restatement::restatement;
#[cfg(test)]
use schema::opinion_schema;
pub use schema::schema;
