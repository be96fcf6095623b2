//! `deliberation_status`

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::deliberation::{DELIBERATION, read_dollars, read_wait};
use super::tool::{Run, Tool, Work};
use crate::config::BudgetOverrides;
use crate::domain::ids::DialogueId;
use crate::domain::refusal::{ErrorCode, ValidationError};
use crate::engine::load_run;
use crate::error::Error;
use crate::hosting::{ResumePlan, RunServer};
use crate::record::{Diagnostics, OperationRequest, ReadFields};
use crate::surfaces::mcp::call::WAIT_SECONDS_MAX;
use crate::surfaces::mcp::schema;

pub(super) const TOOL: Tool = Tool {
    name: "deliberation_status",
    about: "Where a council or review stands: running, done, incomplete, failed or interrupted; \
        with its result once it has stopped. `resume` goes on with one that broke off: what was \
        answered is not asked again.",
    arguments: schema::argument_schema::<StatusRequest>,
    answer: DELIBERATION,
    work: Work::Run(Run::Status),
};

/// Arguments of `deliberation_status`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::surfaces::mcp) struct StatusRequest {
    pub dialogue_id: DialogueId,
    /// [0] Many clients give up after 60.
    #[schemars(range(max = WAIT_SECONDS_MAX))]
    wait_seconds: Option<u32>,
    #[serde(default)]
    resume: bool,
    /// With resume: what it may spend in all [as before].
    #[serde(default)]
    #[schemars(schema_with = "read_dollars")]
    budget_usd: Option<f64>,
}

impl OperationRequest for StatusRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let is_budgeted = fields.get::<f64>("budget_usd").is_some();
        if is_budgeted && fields.get("resume") != Some(true) {
            let message = "a budget is given to a run that is to go on";
            let fault =
                ValidationError::new(ErrorCode::NotSupported, message).with_field("budget_usd");
            notes.add_error(fault.with_suggestion("send resume: true with it"));
        }
    }
}

impl StatusRequest {
    pub(in crate::surfaces::mcp) fn wait(&self) -> Duration {
        read_wait(self.wait_seconds)
    }

    /// Overrides for the resumed run; `None` to only report.
    pub(in crate::surfaces::mcp) fn overrides(&self) -> Option<BudgetOverrides> {
        let budget_usd = self.budget_usd;
        self.resume.then_some(BudgetOverrides { budget_usd, deadline_ms: None })
    }
}

/// Prepares to resume a run; for a review also returns the path of the verdict log.
pub(in crate::surfaces::mcp) fn resume_plan(
    run_server: &RunServer,
    id: &DialogueId,
    overrides: &BudgetOverrides,
) -> Result<(ResumePlan, Option<PathBuf>), Error> {
    let loaded = load_run(run_server.open_project()?.store.as_ref(), id)?;
    let opening = &loaded.transcript.opening;
    let operator = run_server.loader.load_run_settings(opening, &BudgetOverrides::default())?;
    let settings = run_server.limit_caller(operator, overrides)?;
    let log = loaded.transcript.plan.review.is_some().then(|| settings.review.log_path.clone());
    Ok((ResumePlan::for_caller(loaded, &settings, overrides, &run_server.factory), log))
}
