//! `deliberation_status` and `deliberation_intervene`: the tools for a run that was started.

use std::path::PathBuf;
use std::time::Duration;

use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::{
    INTERVENTION_CHARS_MAX, Intervention, InterventionCommand,
};
use plenary_core::model::limits::LINE_CHARS_MAX;
use plenary_core::model::run_state::RunState;
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_engine::app::run_server::RunServer;
use plenary_engine::app::start_run::{ResumeParty, ResumePlan};
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::engine::interventions::unknown_seat;
use plenary_engine::engine::run_start::load_run;
use plenary_engine::error::Error;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::schema::argument_schema;
use crate::mcp::tool_call::WAIT_SECONDS_MAX;
use crate::mcp::tools::tool::{DELIBERATION, RunTool, Tool, Work, read_dollars, read_wait};

pub(crate) const STATUS_TOOL: Tool = Tool {
    name: "deliberation_status",
    about: "Where a council or review stands: running, done, incomplete, failed or interrupted; \
        with its result once it has stopped. `resume` goes on with one that broke off: what was \
        answered is not asked again.",
    arguments: argument_schema::<StatusRequest>,
    answer: DELIBERATION,
    work: Work::Run(RunTool::Status),
};

/// Arguments of `deliberation_status`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct StatusRequest {
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
    pub(crate) fn wait(&self) -> Duration {
        read_wait(self.wait_seconds)
    }

    /// Overrides for the resumed run; `None` to only report.
    pub(crate) fn overrides(&self) -> Option<BudgetOverrides> {
        let budget_usd = self.budget_usd;
        self.resume.then_some(BudgetOverrides { budget_usd, deadline_ms: None })
    }
}

/// Prepares to resume a run; for a review also returns the path of the verdict log.
pub(crate) fn resume_plan(
    run_server: &RunServer,
    id: &DialogueId,
    overrides: &BudgetOverrides,
) -> Result<(ResumePlan, Option<PathBuf>), Error> {
    let loaded = load_run(run_server.open_project()?.store.as_ref(), id)?;
    let opening = &loaded.transcript.opening;
    let operator = run_server.loader.load_run_settings(opening, &BudgetOverrides::default())?;
    let settings = run_server.limit_caller(operator, overrides)?;
    let log = loaded.transcript.plan.review.is_some().then(|| settings.review.log_path.clone());
    let factory = &run_server.factory;
    let plan =
        ResumePlan::new(loaded, Vec::new(), &settings, overrides, factory, ResumeParty::Caller);
    Ok((plan, log))
}

pub(crate) const INTERVENE_TOOL: Tool = Tool {
    name: "deliberation_intervene",
    about: "Speak to a running council. whisper: everybody who is asked from now on reads it, or \
        the seat `to` alone. direct: all take it up when the next round begins; without \
        `confirmed` it is only restated. stop: it concludes on what was heard.",
    arguments: argument_schema::<InterveneRequest>,
    answer: DELIBERATION,
    work: Work::Run(RunTool::Intervene),
};

/// Arguments of `deliberation_intervene`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct InterveneRequest {
    pub dialogue_id: DialogueId,
    #[schemars(schema_with = "word_schema::<InterventionCommand>")]
    pub kind: InterventionCommand,
    #[serde(default)]
    #[schemars(length(max = INTERVENTION_CHARS_MAX))]
    pub text: String,
    #[schemars(length(max = LINE_CHARS_MAX))]
    to: Option<String>,
    #[serde(default)]
    pub confirmed: bool,
}

impl OperationRequest for InterveneRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let kind: Option<InterventionCommand> = fields.get("kind");
        if matches!(kind, Some(InterventionCommand::Whisper | InterventionCommand::Direct))
            && !fields.given.has("text")
        {
            notes.add_error(fields.given.missing_field("text"));
        }
        if fields.get::<String>("to").is_some() && kind != Some(InterventionCommand::Whisper) {
            let fault = ValidationError::new(
                ErrorCode::NotSupported,
                "only a whisper is to one seat alone",
            );
            notes.add_error(fault.with_field("to").with_suggestion("leave 'to' out"));
        }
    }
}

impl InterveneRequest {
    /// A whisper, with its seat if one was named.
    pub(crate) fn whisper(&self, transcript: &RunState) -> Result<Intervention, ValidationError> {
        let seat = |name: &String| name.parse().map_err(|_| unknown_seat(transcript, name));
        let to = self.to.as_ref().map(seat).transpose()?;
        Ok(Intervention::Whisper { text: self.text.clone(), to })
    }
}
