//! Checks that the agents of a host do not know of the review of their work (the modularity
//! invariant of seed 001).
//!
//! **Invariant:** an unreadable prompt is reported as unread; only prompts that were read count as
//! clean.

mod names;
mod scan;

pub use names::{DEFAULT_REVIEW_NAMES, ReviewName};
pub use scan::{
    AgentCheckError, AgentScan, AgentScanReport, ReviewMention, UnreadPrompt, scan_agents,
};
