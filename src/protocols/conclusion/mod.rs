//! The conclusion (seed 000), which follows every question: the Synthesizer writes five fields, the
//! Blind Critic tries to break them, and the reviser fixes them at most once.

mod next;
mod participants;
mod protocol;
#[cfg(test)]
mod tests;
mod trail;

pub use next::next;
pub use participants::participants;
pub use protocol::{ConclusionProtocol, planned_rounds};
pub use trail::{
    AUDIT, DRAFT, REVISION, SECOND_AUDIT, counted, draft, looked_at, objections, revised, trail,
};
