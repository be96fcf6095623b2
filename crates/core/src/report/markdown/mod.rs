//! The Markdown export of a dialogue, readable as a file and on GitHub.

pub mod document;
pub mod escape;
#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod tests;
