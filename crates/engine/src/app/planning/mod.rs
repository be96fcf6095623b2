//! From settings and options to a plan: the seats, how each is reached, by which rules they argue.

pub mod alignment_panel;
pub mod estimate;
pub mod panel_setup;
pub mod review_panel;
