//! Runs in this process, at whichever door they were asked for: where things are, what a run
//! is made of, and the desk it is held at.

mod blocking;
mod caller_limits;
mod council;
mod desk;
mod following;
mod house;
mod piece;
mod premises;
mod prepared;
mod question;
mod restating;
mod resume;
mod review;
mod run_report;
mod skipped;

pub use blocking::blocking;
pub use caller_limits::lower_limits;
pub use council::{council, council_settings};
pub use desk::{Desk, OpenDesk};
pub use following::{FOLLOWING_PAUSE, Following};
pub use house::{House, RunPlace, Talk};
pub use piece::{CallerClaims, Piece};
pub use premises::{ConfirmTrust, Premises};
pub use prepared::Prepared;
pub use question::check_question;
pub use restating::{Restated, restate};
pub use resume::Resumption;
pub use review::{review, review_settings};
pub use run_report::{Progress, RunReport, RunStatus, report};
pub use skipped::{HoldsKey, Skipped, SkippedBecause};
