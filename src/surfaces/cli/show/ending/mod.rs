//! How a deliberation ended, as a person reads it: the conclusion first; where it was
//! objected to, what was objected to and what changed; where nothing came out, why.

mod difference;
mod fields;
mod objections;
mod sections;

pub(super) use sections::{sections, state};
