//! The conclusion (seed 000), which follows every question: the Synthesizer writes five fields, the
//! Blind Critic tries to break them, and the reviser fixes them at most once.

mod next;
mod participants;
mod protocol;
#[cfg(test)]
mod tests;
mod trail;

pub use next::next_step;
pub use participants::list_participants;
pub use protocol::{ConclusionProtocol, planned_rounds};
pub use trail::{
    AUDIT, DRAFT, REVISION, SECOND_AUDIT, add_counted_objections, audit_objections, audit_trail,
    audited_conclusion, draft_conclusion, revised_conclusion,
};
