//! `verdict`: registers a verdict. Verdicts are immutable, and a final one closes the dialogue.

pub mod decide;
pub mod parse;
