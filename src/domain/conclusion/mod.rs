//! The conclusion protocol (seed 000): five fields, a critic who sees nothing else, at most one
//! revision, and a terminal state.

mod audit;
mod ending;
mod format;
mod grounds;
mod text;

pub use audit::{AuditObjection, AuditReply, ObjectionSource};
pub use ending::{
    AuditTrail, ConclusionOutcome, ConclusionResult, OutcomeKind, RecordedConclusion, SeatAuthor,
};
pub use format::{
    FormatAmount, FormatConstraint, FormatUnit, count_units, find_constraints, find_violations,
};
pub use grounds::ConclusionContext;
pub use text::{CitedClaim, Conclusion, ConclusionField, ConclusionParticipant, UnresolvedPoint};
