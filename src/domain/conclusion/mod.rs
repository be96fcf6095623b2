//! The conclusion protocol (seed 000): five fields, a critic who sees nothing else, at most one
//! revision, and a terminal state.

mod audit;
mod ending;
mod format;
mod grounds;
mod text;

pub use audit::{Audit, Auditor, Objection};
pub use ending::{Author, Concluded, Ending, Outcome, OutcomeWord, Trail};
pub use format::{Amount, Measure, Wish, count, miscounts, wishes};
pub use grounds::Grounds;
pub use text::{CitedClaim, Conclusion, Field, Participant, UnresolvedPoint};
