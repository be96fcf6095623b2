//! The conclusion part of a page: the conclusion, objections and changes, or why there is none.

mod difference;
mod fields;
mod objections;
mod sections;

pub(super) use sections::{draw_conclusion, state_line};
