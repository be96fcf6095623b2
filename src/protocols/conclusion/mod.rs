//! The ending that every question shares (seed 000): the Synthesizer writes five
//! fields, the Blind Critic tries to break them, and at most once they are mended.

mod trail;

pub use trail::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, draft, objections, revised, trail};
