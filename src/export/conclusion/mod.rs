//! How a deliberation ended, as programs and pages tell it: the same for a council and
//! for a dialogue that somebody led.

mod document;
mod ended;
mod explanation;
#[cfg(test)]
pub(crate) mod sample;
mod section;
#[cfg(test)]
mod tests;
mod words;

pub use document::{Closed, closed};
pub use ended::{Audited, Ended, Verdict};
pub(crate) use section::Section;
pub(crate) use words::{field_name, state_word, warnings};
