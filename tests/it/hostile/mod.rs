//! Bad input: paths, names, texts and JSON that were made to break programs.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests load_run_state at files themselves, and one that cannot set itself up should say so loudly"
)]

pub mod corpora;
mod json;
mod names;
mod paths;
mod texts;
