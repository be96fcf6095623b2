//! The ending that every question shares (seed 000): the Synthesizer writes five
//! fields, the Blind Critic tries to break them, and at most once they are mended.

mod next;
mod participants;
#[cfg(test)]
mod tests;
mod trail;

pub use next::{next, stage};
pub use participants::participants;
pub use trail::{
    AUDIT, DRAFT, REVISION, SECOND_AUDIT, counted, draft, looked_at, objections, revised, trail,
};
