//! Whole councils, run by the real program against a scripted model server.

mod ask_command;
mod batches;
mod broken_streams;
pub(crate) mod harness;
mod json_report;
mod model_failures;
mod paced_calls;
mod quorum;
mod record;
mod refused_parameters;
mod shortcuts;
mod spending;
mod truncated;
mod unserved_calls;
mod windows;
