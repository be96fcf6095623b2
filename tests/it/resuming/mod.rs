//! Councils whose process died, was stopped, or has a rival: answers are kept, and no seat is asked
//! twice.

mod attempts;
mod broken_stores;
mod conclude_command;
mod conclusion_stages;
mod fallback;
mod harness;
mod interventions;
mod killed;
mod library;
mod older_journals;
mod ownership;
mod retention;
mod scripted_seats;
mod stopped;
