//! Bad input: paths, names, texts and JSON that were made to break programs.

mod corpora;
mod json;
mod names;
mod paths;
mod texts;
