//! Arguments and answer that the four run tools share.

use std::time::Duration;

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::mcp::run_tools::RunAnswer;
use crate::mcp::schema::keys;

pub(crate) const DELIBERATION: &[&str] =
    keys!(RunAnswer { dialogue_id, status, progress, result, suggestion });

/// How long the call waits for the run before it answers.
pub(crate) fn read_wait(seconds: Option<u32>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(0).into())
}

/// The schema of the budget of a run.
pub(crate) fn read_dollars(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "number",
        "minimum": 0.0,
        "x-expected": "an amount of dollars",
        "x-hint": "for example 0.5",
    })
}
