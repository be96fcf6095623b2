//! Prepares runs: settings, limits of callers, question or document, restated directives.

use std::path::Path;
use std::process::{Command, Stdio};

use plenary_core::model::dialogue::ProtocolKind as ProtocolName;
use plenary_core::model::intervention::DirectiveRestatement;
use plenary_core::model::limits::TEXT_CHARS_MAX;
use plenary_core::model::plan::Plan;
use plenary_core::model::run_state::RunState;
use plenary_core::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};
use plenary_core::protocols::protocol::Protocol;
use plenary_core::protocols::review::concern_codes::{CodeCount, CodeCounter};
use plenary_core::protocols::review::earlier_decision::{EarlierDecision, settings_digest};
use plenary_core::protocols::review::log_row::{ContentQuery, LogQuery, LogRow};
use plenary_core::protocols::review::types::{PriorVerdict, ReviewArtifact};
use plenary_core::report::phrases::group_digits;
use serde_json::json;

use crate::app::planning::estimate::least_tokens;
use crate::app::planning::panel_setup::{
    PanelSetup, RehearsalChoice, TransportFactory, reconnect_seats,
};
use crate::app::planning::review_panel::{EarlierReviews, ReviewPanelSetup};
use crate::app::project::{Project, SettingsLoader};
use crate::app::start_run::PreparedRun;
use crate::config::error::ConfigError;
use crate::config::section::show_duration;
use crate::config::settings::Settings;
use crate::config::settle_sections::BudgetOverrides;
use crate::context_files::gather::ContextFileError;
use crate::engine::daily_budget::DailyBudget;
use crate::engine::run_start::RunQuestion;
use crate::error::Error;
use crate::store::traits::{LOG_PAGE_ROWS, log_pages};

/// Loads the settings of a council. Without a provider it rehearses, but never by itself in a
/// project that has a council.yaml.
pub fn council_settings(
    loader: &SettingsLoader,
    rehearsal: &RehearsalChoice,
    overrides: &BudgetOverrides,
) -> Result<Settings, Error> {
    load_start_settings(loader, rehearsal, overrides, |settings| settings.paths.file.is_some())
}

/// The run of a question before a council.
pub fn prepare_council(
    protocol: &'static dyn Protocol,
    panel: &PanelSetup,
    text: String,
    plan: Plan,
) -> PreparedRun {
    let rehearsal = panel.is_rehearsal;
    let question = RunQuestion { text, protocol, rehearsal, plan, background: None };
    PreparedRun::new(question, panel.connections.clone())
}

/// Loads the settings for a new run. A requested rehearsal needs no keys; otherwise a provider
/// must be usable where `needs_provider` says so.
fn load_start_settings(
    loader: &SettingsLoader,
    rehearsal: &RehearsalChoice,
    overrides: &BudgetOverrides,
    needs_provider: impl FnOnce(&Settings) -> bool,
) -> Result<Settings, Error> {
    if rehearsal.is_asked_for() {
        return loader.load_offline_settings(overrides);
    }
    let settings = loader.load_settings(overrides)?;
    if needs_provider(&settings) {
        settings.require_providers()?;
    }
    Ok(settings)
}

/// Loads the settings of a review, or of a council that a caller of the server asks for. Without a
/// provider it is an error: a review that rehearsed by itself would pass everything, and an agent
/// would pass the answer of no model on as advice.
pub fn provider_settings(
    loader: &SettingsLoader,
    rehearsal: &RehearsalChoice,
    overrides: &BudgetOverrides,
) -> Result<Settings, Error> {
    load_start_settings(loader, rehearsal, overrides, |_| true)
}

/// Checks that the token budget covers a whole review, so that it does not stop half way.
fn check_token_budget(plan: &Plan, path: &str) -> Result<(), ContextFileError> {
    let (least, most) = (least_tokens(plan), plan.caps.tokens);
    if least <= most {
        return Ok(());
    }
    let (least, most) = (group_digits(least), group_digits(most));
    let reason =
        format!("it takes {least} tokens at the least, and `budget.tokens_max` allows {most}");
    Err(ContextFileError::Unfit { path: path.into(), reason })
}

/// The review of an artifact, with the earlier verdicts on its type.
pub fn prepare_review(
    project: &Project,
    settings: &Settings,
    panel: &ReviewPanelSetup,
    artifact: ReviewArtifact,
) -> Result<PreparedRun, Error> {
    let protocol = project.protocols.find_protocol(ProtocolName::Review)?;
    let text = artifact.path.clone();
    let priors = project.store.prior_verdicts(&artifact.artifact_type, panel.prior_verdicts)?;
    let earlier = EarlierReviews {
        priors: priors.iter().map(|row| with_override(project, row)).collect::<Result<_, _>>()?,
        code_counts: count_codes(project, &artifact.artifact_type)?,
    };
    let plan = panel.build_plan(artifact, earlier, project.ambient.as_ref());
    check_token_budget(&plan, &text)?;
    let rehearsal = panel.is_rehearsal;
    let question = RunQuestion { text, protocol, rehearsal, plan, background: None };
    let prepared = PreparedRun::new(question, panel.connections.clone());
    Ok(prepared.with_redaction(settings.review.redact.clone()))
}

/// Verdicts on one content that are compared; more are not needed to find the newest decision.
const CONTENT_VERDICTS_MAX: usize = 50;

/// The decision on the same content that applies again: a person's, or the gate's with the same
/// settings. A rehearsal is played each time, unless a person decided over it. A store that git
/// tracks decides nothing: the author of the document may have written its verdict.
pub fn find_earlier_decision(
    project: &Project,
    settings: &Settings,
    panel: &ReviewPanelSetup,
    artifact: &ReviewArtifact,
) -> Result<Option<EarlierDecision>, Error> {
    let rehearsal = panel.is_rehearsal;
    let content = ContentQuery { sha256: artifact.sha256.clone(), rehearsal };
    let logged = project.store.list_content_verdicts(&content, CONTENT_VERDICTS_MAX)?;
    let plan =
        panel.build_plan(artifact.clone(), EarlierReviews::default(), project.ambient.as_ref());
    let digest = plan.review.as_ref().map(|gate| settings_digest(&plan, gate));
    let digest = digest.as_deref().filter(|_| !rehearsal);
    let found = EarlierDecision::find(&logged, digest);
    let store = &settings.paths.store;
    if found.is_some() && is_tracked_by_git(store) {
        return Err(ConfigError::TrackedStore { path: store.clone() }.into());
    }
    Ok(found)
}

/// Whether the file is part of a git repository. False without git.
fn is_tracked_by_git(file: &Path) -> bool {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return false };
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["ls-files", "--error-unmatch", "--"]).arg(name);
    let status = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// An earlier verdict with the newest decision of a person over it.
fn with_override(project: &Project, row: &LogRow) -> Result<PriorVerdict, Error> {
    let words = match &row.verdict_id {
        Some(verdict_id) => project.store.list_overrides(verdict_id)?,
        None => Vec::new(),
    };
    Ok(PriorVerdict::from_row(row).with_override(words.last()))
}

/// Counts the codes of concerns over the whole log of a type.
fn count_codes(project: &Project, artifact_type: &str) -> Result<Vec<CodeCount>, Error> {
    let query = LogQuery {
        artifact_type: Some(artifact_type.to_owned()),
        ..LogQuery::from_start(LOG_PAGE_ROWS)
    };
    let mut counter = CodeCounter::default();
    for page in log_pages(project.store.as_ref(), &query) {
        page?.iter().for_each(|logged| counter.add_row(&logged.row));
    }
    Ok(counter.into_counts())
}

/// Checks a question: not empty, without NUL, within the length limit.
pub fn check_question(text: &str) -> Result<String, ValidationError> {
    let text = text.trim();
    let (code, message, hint) = if text.is_empty() {
        let hint = "write the question in one or two sentences";
        (ErrorCode::MissingField, "the question is empty".to_owned(), hint)
    } else if text.contains('\0') {
        let message = "the question contains a NUL character".to_owned();
        (ErrorCode::InvalidType, message, "check where the text comes from")
    } else if text.chars().count() > TEXT_CHARS_MAX {
        let message = format!("the question is over the limit of {TEXT_CHARS_MAX} characters");
        let hint = "move the material to files and pass them as `context`";
        (ErrorCode::FieldTooLong, message, hint)
    } else {
        return Ok(text.to_owned());
    };
    Err(ValidationError::new(code, message).with_field("question").with_suggestion(hint))
}

/// Millionths of a dollar in a dollar.
const MICROS: f64 = 1_000_000.0;

/// Lowers the operator's limits to those that a caller of a server asks for. Asking for more is an
/// error that names the limit: a caller that silently got less would not know. The command line
/// does not use this: its flags are typed by the operator.
pub fn lower_limits(mut settings: Settings, asked: &BudgetOverrides) -> Result<Settings, Error> {
    let mut faults = Vec::new();
    let limits = &mut settings.budget;
    if let Some(usd) = asked.budget_usd {
        let micros = (usd * MICROS).round() as u64;
        if micros > limits.usd_micros {
            let limit = limits.usd_micros as f64 / MICROS;
            faults.push(over_limit_fault(
                "budget_usd",
                &usd.to_string(),
                &limit.to_string(),
                json!(usd),
            ));
        }
        limits.usd_micros = micros.min(limits.usd_micros);
    }
    if let Some(ms) = asked.deadline_ms {
        if ms > limits.wall_ms {
            let (given, limit) = (show_duration(ms), show_duration(limits.wall_ms));
            faults.push(over_limit_fault("deadline", &given, &limit, json!(given)));
        }
        limits.wall_ms = ms.min(limits.wall_ms);
    }
    if faults.is_empty() { Ok(settings) } else { Err(ValidationErrors::new(faults).into()) }
}

fn over_limit_fault(
    field: &str,
    given: &str,
    limit: &str,
    value: serde_json::Value,
) -> ValidationError {
    let message = format!("{field} {given} is over the operator's limit of {limit}");
    ValidationError::new(ErrorCode::NotAuthorized, message)
        .with_field(field)
        .with_value(value)
        .with_suggestion(format!("omit {field}, or set it to at most {limit}"))
}

/// Result of asking the chair's model to restate a directive. A failure is not an error: the
/// directive can be recorded without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestateOutcome {
    Restated(DirectiveRestatement),
    Failed { reason: String },
}

/// Asks the chair's model to restate a directive.
pub async fn restate_directive(
    loader: &SettingsLoader,
    state: &RunState,
    text: &str,
    factory: &TransportFactory,
    daily_budget: Option<&DailyBudget>,
) -> Result<RestateOutcome, Error> {
    let RunState { opening, plan, .. } = state;
    let settings = loader.load_run_settings(opening, &BudgetOverrides::default())?;
    if let Some(daily) = daily_budget {
        daily.set_limit(settings.server_usd_micros);
    }
    let connections = reconnect_seats(plan, opening.rehearsal, &settings, factory);
    Ok(
        match crate::engine::interventions::restate_directive(
            state,
            &connections,
            text,
            daily_budget,
        )
        .await
        {
            Ok(restatement) => RestateOutcome::Restated(restatement),
            Err(error) => RestateOutcome::Failed { reason: error.message },
        },
    )
}
