//! A question for a council: the request of `council_ask` and `POST /api/ask`, and the run that it starts.

use std::time::Duration;

use crate::app::planning::panel_setup::{AskOptions, PanelSetup, RehearsalChoice};
use crate::app::planning::review_panel::secret_guard;
use crate::app::prepare_run::{check_question, prepare_council, provider_settings};
use crate::app::requests::run_answer::{CallPlan, WAIT_SECONDS_MAX, read_dollars, read_wait};
use crate::app::run_server::RunServer;
use crate::app::start_run::RunStart;
use crate::clock::RealSystem;
use crate::config::section::parse_duration;
use crate::config::settle_sections::BudgetOverrides;
use crate::context_files::gather::gather_sources;
use crate::error::Error;
use crate::files::allowed_folders::SourcePath;
use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields};
use plenary_core::dialogue::request_fields::RequestFields;
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::limits::LINE_CHARS_MAX;
use plenary_core::model::plan::{AuditMode, DeliveryMode, StakesLevel};
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::council::types::QuestionMode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Arguments of `council_ask`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AskRequest {
    #[schemars(extend("x-own-check" = true))]
    question: String,
    /// [general]
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<QuestionMode>")]
    mode: Option<QuestionMode>,
    /// Files and folders.
    #[serde(default)]
    #[schemars(inner(length(max = LINE_CHARS_MAX)))]
    context: Vec<String>,
    /// false: end with the chair's report.
    conclusion: Option<bool>,
    /// false: conclude without an audit.
    audit: Option<bool>,
    #[serde(default)]
    #[schemars(schema_with = "read_dollars")]
    budget_usd: Option<f64>,
    /// For example 10m.
    #[schemars(with = "Option<String>", extend("x-own-check" = true))]
    deadline: Option<Value>,
    /// Offline demo panel.
    #[serde(default)]
    rehearse: bool,
    /// [0] Many clients give up after 60.
    #[schemars(range(max = WAIT_SECONDS_MAX))]
    wait_seconds: Option<u32>,
}

impl OperationRequest for AskRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        check_run_fields(fields, notes);
    }
}

/// Checks `question` and `deadline`.
pub(crate) fn check_run_fields(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
    check_question_field(fields.given, notes);
    let flag = |name: &str| fields.given.get(name).and_then(Value::as_bool);
    if flag("conclusion") == Some(false) && flag("audit") == Some(true) {
        let message = "'audit' needs the conclusion that 'conclusion: false' leaves out";
        let fault = ValidationError::new(ErrorCode::NotSupported, message).with_field("audit");
        notes.add_error(fault.with_suggestion("omit 'audit' or 'conclusion'"));
    }
    let deadline = fields.given.get("deadline");
    if let Some(given) = deadline.filter(|given| deadline_ms(given).is_none()) {
        let message = "field 'deadline' must be a duration";
        let fault = ValidationError::new(ErrorCode::InvalidType, message).with_field("deadline");
        notes.add_error(
            fault.with_value(given.clone()).with_suggestion("for example \"10m\" or \"90s\""),
        );
    }
}

/// How a run ends: `conclusion` and `audit` are true unless the caller says otherwise.
pub(crate) fn auditing_choice(conclusion: Option<bool>, audit: Option<bool>) -> Option<AuditMode> {
    match (conclusion.unwrap_or(true), audit.unwrap_or(true)) {
        (false, _) => None,
        (true, true) => Some(AuditMode::Audited),
        (true, false) => Some(AuditMode::Unaudited),
    }
}

impl AskRequest {
    pub fn wait(&self) -> Duration {
        read_wait(self.wait_seconds)
    }

    /// Plans the run.
    pub fn plan_call(self, run_server: &RunServer) -> Result<CallPlan, Error> {
        let question = check_question(&self.question)?;
        let conclusion = auditing_choice(self.conclusion, self.audit);
        let rehearsal = read_rehearsal(self.rehearse);
        let deadline_ms = self.deadline.as_ref().and_then(deadline_ms);
        let overrides = BudgetOverrides {
            budget_usd: self.budget_usd,
            deadline_ms,
            ..BudgetOverrides::default()
        };
        let operator =
            provider_settings(&run_server.loader, &rehearsal, &BudgetOverrides::default())?;
        let settings = run_server.limit_caller(operator, &overrides)?;
        let options = AskOptions {
            providers: Vec::new(),
            chair: None,
            stakes: StakesLevel::Normal,
            delivery: DeliveryMode::Synthesis,
            conclusion,
            rehearsal,
        };
        let panel = PanelSetup::new(&settings, &options, &run_server.factory)?;
        let folders = &run_server.create_project()?.folders;
        let paths: Result<Vec<SourcePath>, ValidationError> =
            self.context.iter().map(|path| folders.check_source("context", path)).collect();
        let guard = secret_guard(&settings);
        let pack = gather_sources(&settings.paths.working, &paths?, &guard)?;
        let plan =
            panel.build_plan(self.mode.unwrap_or(QuestionMode::General), pack.into(), &RealSystem);
        let protocol = run_server.loader.protocols.find_protocol(ProtocolKind::Council)?;
        let prepared = prepare_council(protocol, &panel, question, plan);
        Ok(CallPlan::Start { start: Box::new(RunStart::New(Box::new(prepared))), log: None })
    }
}

/// [`check_question`] reports an empty or too long question; a value of another type is reported
/// once only.
fn check_question_field(given: &RequestFields<'_>, notes: &mut Diagnostics) {
    let text = match given.has("question") {
        true => given.read_text("question", usize::MAX),
        false => Some(String::new()),
    };
    notes.errors.extend(text.and_then(|text| check_question(&text).err()));
}

pub fn read_rehearsal(is_wanted: bool) -> RehearsalChoice {
    if is_wanted { RehearsalChoice::Requested } else { RehearsalChoice::WhenNoProvider }
}

/// A shorter number was meant as seconds or minutes.
const DEADLINE_MS_MIN: u64 = 1_000;

/// A duration such as `10m`, or milliseconds.
pub(crate) fn deadline_ms(given: &Value) -> Option<u64> {
    let number = given.as_u64().filter(|ms| *ms >= DEADLINE_MS_MIN);
    number.or_else(|| given.as_str().and_then(parse_duration))
}
