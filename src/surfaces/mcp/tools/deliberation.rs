//! Arguments and answer that the four run tools share.

use std::time::Duration;

use crate::domain::refusal::{Code, Fault};
use crate::record::{Fields, Notes};
use crate::surfaces::mcp::call::WAIT_SECONDS_MAX;
use crate::surfaces::mcp::run_answer::RunAnswer;
use crate::surfaces::mcp::schema::keys;

pub(super) const DELIBERATION: &[&str] =
    keys!(RunAnswer { dialogue_id, status, progress, result, suggestion });

/// How long the call waits for the run before it answers.
pub(super) fn wait(fields: &Fields<'_>, notes: &mut Notes) -> Duration {
    let seconds = fields.integer("wait_seconds", 0..=WAIT_SECONDS_MAX, notes);
    Duration::from_secs(seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(0))
}

/// Budget of the run.
pub(super) fn dollars(fields: &Fields<'_>, notes: &mut Notes) -> Option<f64> {
    let given = fields.get("budget_usd")?;
    let usd = given.as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0);
    if usd.is_none() {
        let fault =
            Fault::new(Code::InvalidType, "field 'budget_usd' must be an amount of dollars");
        notes.fault(fault.field("budget_usd").value(given.clone()).suggest("for example 0.5"));
    }
    usd
}
