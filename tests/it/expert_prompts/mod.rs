//! The prompts of a round's experts: their format, what hostile text can do to them, and the
//! files they are written to.

mod files;
mod format;
mod hostile;
mod walk;
