//! Whole councils, run by the real program against a scripted model server.

mod ask_command;
mod batches;
pub(crate) mod harness;
mod json_report;
mod model_failures;
mod quorum;
mod record;
mod shortcuts;
mod truncated;
