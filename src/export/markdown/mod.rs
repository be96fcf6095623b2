//! The Markdown export of a dialogue, readable as a file and on GitHub.

mod council;
mod document;
mod ending;
mod escape;
mod facts;
mod review;
#[cfg(test)]
mod review_tests;
mod revision;
mod rounds;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod verdicts;

pub use document::{dialogue_markdown, markdown_of_record};
