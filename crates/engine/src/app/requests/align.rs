//! A question for experts whom the built-in Judge leads: the request of `council_align` and
//! `POST /api/align`, and the run that it starts.

use std::time::Duration;

use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields};
use plenary_core::model::limits::LINE_CHARS_MAX;
use plenary_core::model::validation_error::ValidationError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::app::planning::alignment_panel::{AlignOptions, AlignmentSetup, plan_calibration};
use crate::app::planning::review_panel::secret_guard;
use crate::app::prepare_run::{check_question, provider_settings};
use crate::app::requests::ask::{auditing_choice, check_run_fields, deadline_ms, read_rehearsal};
use crate::app::requests::run_answer::{CallPlan, WAIT_SECONDS_MAX, read_dollars, read_wait};
use crate::app::run_server::RunServer;
use crate::app::start_run::RunStart;
use crate::clock::RealSystem;
use crate::config::settle_sections::BudgetOverrides;
use crate::context_files::gather::gather_sources;
use crate::error::Error;
use crate::files::allowed_folders::SourcePath;

/// Arguments of `council_align`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AlignRequest {
    #[schemars(extend("x-own-check" = true))]
    question: String,
    #[serde(default)]
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    context: Vec<String>,
    #[schemars(range(min = 2, max = 12))]
    panel: Option<u8>,
    /// Of the ethos.
    #[schemars(length(max = LINE_CHARS_MAX))]
    domain: Option<String>,
    #[serde(default)]
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    constraints: Vec<String>,
    /// Percent that must agree.
    #[schemars(range(min = 1, max = 100))]
    to: Option<u8>,
    #[schemars(range(min = 1, max = 100))]
    max_rounds: Option<u8>,
    conclusion: Option<bool>,
    audit: Option<bool>,
    #[serde(default)]
    #[schemars(schema_with = "read_dollars")]
    budget_usd: Option<f64>,
    #[schemars(with = "Option<String>", extend("x-own-check" = true))]
    deadline: Option<Value>,
    #[serde(default)]
    rehearse: bool,
    #[schemars(range(max = WAIT_SECONDS_MAX))]
    wait_seconds: Option<u32>,
}

impl OperationRequest for AlignRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        check_run_fields(fields, notes);
    }
}

impl AlignRequest {
    pub fn wait(&self) -> Duration {
        read_wait(self.wait_seconds)
    }

    /// Plans the run.
    pub fn plan_call(self, run_server: &RunServer) -> Result<CallPlan, Error> {
        let question = check_question(&self.question)?;
        let rehearsal = read_rehearsal(self.rehearse);
        let overrides = BudgetOverrides {
            budget_usd: self.budget_usd,
            deadline_ms: self.deadline.as_ref().and_then(deadline_ms),
            ..BudgetOverrides::default()
        };
        let operator =
            provider_settings(&run_server.loader, &rehearsal, &BudgetOverrides::default())?;
        let settings = run_server.limit_caller(operator, &overrides)?;
        let project = run_server.create_project()?;
        let domain = self.domain.as_deref();
        let options = AlignOptions {
            panel_size: self.panel.map(usize::from),
            calibration: plan_calibration(project.store.as_ref(), domain, &self.constraints)?,
            domain: self.domain,
            constraints: self.constraints,
            convergence_percent: self.to,
            max_rounds: self.max_rounds,
            conclusion: auditing_choice(self.conclusion, self.audit),
            rehearsal,
            ..AlignOptions::default()
        };
        let setup = AlignmentSetup::new(&settings, &options, &run_server.factory)?;
        let folders = &project.folders;
        let paths: Result<Vec<SourcePath>, ValidationError> =
            self.context.iter().map(|path| folders.check_source("context", path)).collect();
        let pack = gather_sources(&settings.paths.working, &paths?, &secret_guard(&settings))?;
        let plan = setup.build_plan(pack.into(), &RealSystem);
        let prepared = setup.prepare_run(&run_server.loader.protocols, question, plan)?;
        Ok(CallPlan::Start { start: Box::new(RunStart::New(Box::new(prepared))), log: None })
    }
}
