//! A record as a document: JSON for programs, Markdown for people. Pure, and the
//! same record gives the same bytes.

mod actions;
mod json;
mod links;
mod markdown;
pub mod safe_text;
mod warnings;

pub use json::{Document, document};
pub use markdown::markdown;
pub use warnings::warnings;
