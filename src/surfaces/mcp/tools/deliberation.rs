//! What the four tools that mind runs have in common.

use std::time::Duration;

use crate::record::{Fields, Notes};
use crate::surfaces::mcp::call::WAIT_SECONDS_MAX;
use crate::surfaces::mcp::run_answer::RunAnswer;
use crate::surfaces::mcp::schema::keys;

pub(super) const DELIBERATION: &[&str] =
    keys!(RunAnswer { dialogue_id, status, progress, result, suggestion });

/// How long the caller waits before it is told where the run stands.
pub(super) fn wait(fields: &Fields<'_>, notes: &mut Notes) -> Duration {
    let seconds = fields.integer("wait_seconds", 0..=WAIT_SECONDS_MAX, notes);
    Duration::from_secs(seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(0))
}
