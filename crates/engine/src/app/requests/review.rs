//! A document to review: the request of `council_review` and `POST /api/review`, and the run that it starts.

use std::path::Path;
use std::time::Duration;

use crate::app::classify_document::DocumentClassifier;
use crate::app::planning::review_panel::ReviewPanelSetup;
use crate::app::prepare_run::{find_earlier_decision, prepare_review, provider_settings};
use crate::app::requests::ask::read_rehearsal;
use crate::app::requests::run_answer::{CallPlan, RunAnswer, WAIT_SECONDS_MAX, read_wait};
use crate::app::review_input::{ReviewInput, ReviewOverrides, UnclassifiedFile};
use crate::app::run_server::RunServer;
use crate::app::start_run::RunStart;
use crate::config::settle_sections::BudgetOverrides;
use crate::config::tier_rules::{TierClassifier, is_artifact_type};
use crate::engine::run_start::load_run_state;
use crate::error::Error;
use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields};
use plenary_core::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::review::document::decided_document;
use plenary_core::protocols::review::types::ReviewTier;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Arguments of `council_review`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReviewRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    path: Option<String>,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    text: Option<String>,
    /// Of the document; with `path`, the tier rules know it.
    #[schemars(length(max = LINE_CHARS_MAX))]
    r#type: Option<String>,
    /// Reviewed: 1 always, 2 never, 3 one in five [by the rules].
    #[schemars(range(min = 1, max = 3))]
    tier: Option<u8>,
    /// The author.
    #[schemars(length(max = LINE_CHARS_MAX))]
    producer: Option<String>,
    #[serde(default)]
    force: bool,
    #[serde(default)]
    rehearse: bool,
    #[schemars(range(max = WAIT_SECONDS_MAX))]
    wait_seconds: Option<u32>,
}

/// Name of a text without a file.
const UNNAMED: &str = "text";

impl OperationRequest for ReviewRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        check_document(fields, notes);
        if let Some(name) = fields.get::<String>("type").filter(|name| !is_artifact_type(name)) {
            let message = "a type is 1 to 64 letters, digits, `_`, `-` or `.`";
            notes.add_error(
                ValidationError::new(ErrorCode::InvalidType, message)
                    .with_field("type")
                    .with_value(name),
            );
        }
        let [path, text] = ["path", "text"].map(|name| fields.get::<String>(name));
        let is_text = path.is_none() && text.is_some();
        if is_text && !fields.given.has("type") {
            let fault = fields.given.missing_field("type");
            notes.add_error(fault.with_suggestion("name the type of the text, such as email"));
        }
    }
}

impl ReviewRequest {
    pub fn wait(&self) -> Duration {
        read_wait(self.wait_seconds)
    }

    /// Plans the run; a skipped document is answered at once.
    pub fn plan_call(self, run_server: &RunServer) -> Result<CallPlan, Error> {
        let (rehearsal, is_forced) = (read_rehearsal(self.rehearse), self.force);
        let overrides = ReviewOverrides {
            tier: self.tier.and_then(|number| ReviewTier::try_from(number).ok()),
            artifact_type: self.r#type,
            producer: self.producer,
            force: false,
        };
        let asked = BudgetOverrides::default();
        let operator = provider_settings(&run_server.loader, &rehearsal, &asked)?;
        let settings = run_server.limit_caller(operator, &asked)?;
        let project = run_server.create_project()?;
        let rules = TierClassifier::new(settings.tier_rules.as_deref());
        overrides.check_type(&rules)?;
        let input = match self.path {
            Some(path) => {
                let path = project.folders.check_source("path", &path)?;
                ReviewInput::from_source(&path, &overrides, &settings, &rules)
            }
            None => {
                let text = self.text.unwrap_or_default();
                ReviewInput::from_text(UNNAMED, text, &overrides, &settings, &rules)
            }
        };
        let input = match input {
            ReviewInput::Unclassified(file) => {
                let classifier =
                    DocumentClassifier::new(&settings, &rehearsal, &run_server.factory)?;
                classify_file(run_server, &classifier, *file)?
            }
            settled @ (ReviewInput::Artifact(_)
            | ReviewInput::Skipped(_)
            | ReviewInput::HoldsSecret(_)
            | ReviewInput::Unreadable { .. }) => settled,
        };
        match input {
            ReviewInput::Artifact(artifact) => {
                let panel = ReviewPanelSetup::new(&settings, &rehearsal, &run_server.factory)?;
                let earlier = match is_forced {
                    true => None,
                    false => find_earlier_decision(&project, &settings, &panel, &artifact)?,
                };
                if let Some(earlier) = earlier {
                    let (protocols, store) = (&project.protocols, project.store.as_ref());
                    let run = load_run_state(protocols, store, &earlier.dialogue_id).ok();
                    let document = decided_document(run.as_ref(), &artifact, &earlier);
                    let answer = RunAnswer::for_decided(&document, earlier.dialogue_id)?;
                    return Ok(CallPlan::Answer(Box::new(answer)));
                }
                let prepared = prepare_review(&project, &settings, &panel, *artifact)?;
                let start = Box::new(RunStart::New(Box::new(prepared)));
                Ok(CallPlan::Start { start, log: Some(settings.review.log_path) })
            }
            ReviewInput::Skipped(passed) => {
                let document = passed.to_document(&passed.sentence());
                Ok(CallPlan::Answer(Box::new(RunAnswer::for_skipped(&document)?)))
            }
            ReviewInput::HoldsSecret(held) => Err(held.fault().into()),
            ReviewInput::Unclassified(file) => {
                let message =
                    format!("the classification of `{}` was interrupted", file.artifact.path);
                Err(ValidationError::new(ErrorCode::NotSupported, message).into())
            }
            ReviewInput::Unreadable { error, .. } => Err(error),
        }
    }
}

/// Asks the classifier. The plan of a call is made on a thread that may wait.
fn classify_file(
    run_server: &RunServer,
    classifier: &DocumentClassifier,
    file: UnclassifiedFile,
) -> Result<ReviewInput, Error> {
    let (_never, interrupted) = watch::channel(false);
    let engine = run_server.engine()?;
    let classified = classifier.classify(&engine, file.clone(), interrupted);
    let classified = Handle::current().block_on(classified)?;
    Ok(classified.unwrap_or_else(|| ReviewInput::Unclassified(Box::new(file))))
}

/// Checks that there is either a path or a text.
fn check_document(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
    match (fields.get::<String>("path"), fields.get::<String>("text")) {
        // `-` means standard input on the command line; here that is the protocol's stream.
        (Some(path), None) if Path::new(&path) == Path::new("-") => {
            let fault = ValidationError::new(
                ErrorCode::PathNotAllowed,
                "path is not allowed: `-` is not a path",
            );
            notes.add_error(
                fault
                    .with_field("path")
                    .with_value("-")
                    .with_suggestion("give the document as `text`"),
            );
        }
        (Some(_), Some(_)) => {
            let fault =
                ValidationError::new(ErrorCode::InvalidType, "the call has both 'path' and 'text'");
            notes.add_error(fault.with_field("text").with_suggestion("give one of them"));
        }
        (None, None) if !fields.given.has("path") && !fields.given.has("text") => {
            let fault = fields.given.missing_field("path");
            notes.add_error(fault.with_suggestion("give a 'path', or 'text' and its 'type'"));
        }
        (Some(_) | None, None) | (None, Some(_)) => {}
    }
}
