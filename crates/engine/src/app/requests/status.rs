//! The state of a run, and how a client resumes it: the request of `deliberation_status` and
//! `POST /api/dialogues/{id}/resume`.

use std::sync::Arc;
use std::time::Duration;

use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::requests::run_answer::{
    CallPlan, CallStart, WAIT_SECONDS_MAX, read_dollars, read_wait, start_call,
};
use crate::app::run_server::{RunServer, run_blocking};
use crate::app::run_status::RunStatus;
use crate::app::start_run::{ResumeParty, ResumePlan, RunStart};
use crate::config::settings::Settings;
use crate::config::settle_sections::BudgetOverrides;
use crate::engine::run_start::{LoadedRun, load_run};
use crate::error::Error;

/// Arguments of `deliberation_status`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StatusRequest {
    pub dialogue_id: DialogueId,
    #[schemars(range(max = WAIT_SECONDS_MAX))]
    wait_seconds: Option<u32>,
    #[serde(default)]
    resume: bool,
    /// With resume: the run's total limit [as before].
    #[serde(default)]
    #[schemars(schema_with = "read_dollars")]
    budget_usd: Option<f64>,
}

impl OperationRequest for StatusRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let is_budgeted = fields.get::<f64>("budget_usd").is_some();
        if is_budgeted && fields.get("resume") != Some(true) {
            let message = "'budget_usd' needs 'resume'";
            let fault =
                ValidationError::new(ErrorCode::NotSupported, message).with_field("budget_usd");
            notes.add_error(fault.with_suggestion("send resume: true, or omit budget_usd"));
        }
    }
}

impl StatusRequest {
    pub fn wait(&self) -> Duration {
        read_wait(self.wait_seconds)
    }

    /// Overrides for the resumed run; `None` to only report.
    fn overrides(&self) -> Option<BudgetOverrides> {
        let budget_usd = self.budget_usd;
        self.resume.then(|| BudgetOverrides { budget_usd, ..BudgetOverrides::default() })
    }

    /// Resumes the run if the request says so and the run can be resumed. `None` if it was not.
    pub async fn resume_run(
        &self,
        run_server: &Arc<RunServer>,
    ) -> Result<Option<CallStart>, Error> {
        let id = self.dialogue_id.clone();
        if let Some(overrides) = self.overrides() {
            // Also where nothing is resumed: the caller learns of the limit.
            let server = Arc::clone(run_server);
            let known = id.clone();
            run_blocking(move || caller_settings(&server, &known, &overrides).map(drop)).await?;
        }
        let can_resume = match run_server.report_status(&id).await?.status {
            RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => true,
            RunStatus::Running | RunStatus::Done | RunStatus::Open => false,
        };
        let Some(overrides) = self.overrides().filter(|_| can_resume) else { return Ok(None) };
        start_call(run_server, move |server| plan_resume(server, &id, &overrides)).await.map(Some)
    }
}

/// Plans to resume a run; the verdict log keeps the result of a run that judges a document.
fn plan_resume(
    run_server: &RunServer,
    id: &DialogueId,
    overrides: &BudgetOverrides,
) -> Result<CallPlan, Error> {
    let (loaded, settings) = caller_settings(run_server, id, overrides)?;
    let protocol = run_server.loader.protocols.of_run(&loaded.state)?;
    let is_logged = protocol.judged_artifact(&loaded.state).is_some();
    let log = is_logged.then(|| settings.review.log_path.clone());
    let factory = &run_server.factory;
    let plan =
        ResumePlan::new(loaded, Vec::new(), &settings, overrides, factory, ResumeParty::Caller);
    Ok(CallPlan::Start { start: Box::new(RunStart::Resumed(Box::new(plan))), log })
}

/// The run, and the operator's settings with what the caller may lower.
fn caller_settings(
    run_server: &RunServer,
    id: &DialogueId,
    overrides: &BudgetOverrides,
) -> Result<(LoadedRun, Settings), Error> {
    let loaded = load_run(run_server.open_project()?.store.as_ref(), id)?;
    let operator =
        run_server.loader.load_run_settings(&loaded.state.opening, &BudgetOverrides::default())?;
    let settings = run_server.limit_caller(operator, overrides)?;
    Ok((loaded, settings))
}
