//! Commands of the review protocol: `review`, `sweep`, `override`, `log` and `audit`.

mod advice;
pub(super) mod audit;
mod judging;
pub(super) mod log;
mod options;
pub(super) mod override_verdict;
mod printer;
pub(super) mod review;
pub(super) mod sweep;
