//! `verdict`: registers a verdict. Verdicts are immutable, and a final one closes the dialogue.

mod decide;
mod gate;
mod read;

pub use decide::{VerdictDecision, decide_verdict};
pub use read::VerdictRequest;
pub(super) use read::{target_fault, verdict_id_fault, vote_fault};
