//! Interventions of a client in a run: whisper, direct and stop. The request of
//! `deliberation_intervene` and of three HTTP resources.

use std::sync::Arc;

use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::{
    INTERVENTION_CHARS_MAX, Intervention, InterventionCommand, find_unconfirmed,
};
use plenary_core::model::limits::LINE_CHARS_MAX;
use plenary_core::model::run_state::RunState;
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::conclusion::format::constraint::warn_of_form;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::prepare_run::{RestateOutcome, restate_directive};
use crate::app::requests::run_answer::RunAnswer;
use crate::app::run_server::{RunServer, run_blocking};
use crate::app::run_status::RunStatus;
use crate::engine::interventions::{check_intervention, record_intervention, unknown_seat};
use crate::engine::run_start::load_run;
use crate::error::Error;

/// Arguments of `deliberation_intervene`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct InterveneRequest {
    dialogue_id: DialogueId,
    #[schemars(schema_with = "word_schema::<InterventionCommand>")]
    kind: InterventionCommand,
    #[serde(default)]
    #[schemars(length(max = INTERVENTION_CHARS_MAX))]
    text: String,
    #[schemars(length(max = LINE_CHARS_MAX))]
    to: Option<String>,
    #[serde(default)]
    confirmed: bool,
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
            let fault = ValidationError::new(ErrorCode::NotSupported, "'to' needs kind: whisper");
            notes.add_error(fault.with_field("to").with_suggestion("omit 'to'"));
        }
    }
}

impl InterveneRequest {
    /// A whisper, with its seat if one was named.
    fn whisper(&self, state: &RunState) -> Result<Intervention, ValidationError> {
        let seat = |name: &String| name.parse().map_err(|_| unknown_seat(state, name));
        let to = self.to.as_ref().map(seat).transpose()?;
        Ok(Intervention::Whisper { text: self.text.clone(), to })
    }

    /// Journals the intervention and returns the state of the run.
    pub async fn intervene(self, run_server: &Arc<RunServer>) -> Result<RunAnswer, Error> {
        let store = Arc::clone(&run_server.open_project()?.store);
        // Directives run one at a time, so that each sees the cost of the earlier ones in the run
        // state.
        let _turn = match self.kind {
            InterventionCommand::Direct => Some(run_server.directing.lock().await),
            InterventionCommand::Whisper | InterventionCommand::Stop => None,
        };
        let state = load_run(store.as_ref(), &self.dialogue_id)?.state;
        let status = run_server.report_status(&self.dialogue_id).await?.status;
        if status == RunStatus::Failed {
            return Err(failed_run(&self.dialogue_id).into());
        }
        let (intervention, effect) = match self.kind {
            InterventionCommand::Whisper => {
                (self.whisper(&state)?, "recorded; the next prompts have it")
            }
            InterventionCommand::Stop => {
                (Intervention::Stop, "recorded; the run ends after the calls under way")
            }
            InterventionCommand::Direct => return direct_run(run_server, self, state).await,
        };
        let answer = journal_intervention(run_server, self.dialogue_id, intervention).await?;
        Ok(with_effect(answer, effect))
    }
}

/// The answer, with when the intervention takes effect.
fn with_effect(answer: RunAnswer, effect: &str) -> RunAnswer {
    let suggestion = match answer.status {
        RunStatus::Running | RunStatus::Done | RunStatus::Open => effect.to_owned(),
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => {
            "recorded; no process works on the run, so it counts after deliberation_status with \
             resume: true"
                .to_owned()
        }
    };
    RunAnswer { suggestion: Some(suggestion), ..answer }
}

fn failed_run(id: &DialogueId) -> ValidationError {
    let fault =
        ValidationError::new(ErrorCode::DialogueClosed, format!("the run of '{id}' failed"));
    fault.with_suggestion(format!("`plenary resume {id}` tries it again"))
}

/// Only a text whose restatement the caller could read can be confirmed.
fn unread_restatement() -> ValidationError {
    let message = "this text was not restated yet, so there is nothing to confirm";
    let fault = ValidationError::new(ErrorCode::NotSupported, message).with_field("confirmed");
    fault.with_suggestion("send it without `confirmed` first: the answer says how it is understood")
}

/// Appends the intervention to the journal and returns the state of the run.
async fn journal_intervention(
    run_server: &Arc<RunServer>,
    id: DialogueId,
    intervention: Intervention,
) -> Result<RunAnswer, Error> {
    let (recording, known) = (Arc::clone(run_server), id.clone());
    run_blocking(move || {
        let project = recording.open_project()?;
        let (store, ambient) = (project.store.as_ref(), project.ambient.as_ref());
        record_intervention(&project.protocols, store, ambient, &known, &intervention)
    })
    .await?;
    Ok(run_server.report_status(&id).await?.into())
}

async fn direct_run(
    run_server: &Arc<RunServer>,
    wanted: InterveneRequest,
    state: RunState,
) -> Result<RunAnswer, Error> {
    let InterveneRequest { dialogue_id: id, text, confirmed, .. } = wanted;
    let directive =
        |restatement| Intervention::Directive { text: text.clone(), restatement, confirmed };
    check_intervention(&run_server.loader.protocols, &state, &directive(None))?;
    let is_known = state.interventions.iter().any(|noted| match &noted.intervention {
        Intervention::Directive { text: result, confirmed: false, .. } => *result == text,
        Intervention::Directive { .. } | Intervention::Whisper { .. } | Intervention::Stop => false,
    });
    if confirmed && !is_known {
        return Err(unread_restatement().into());
    }
    let warning = warn_of_form(state.question(), &text);
    let known = find_unconfirmed(&state.interventions, &text).cloned();
    let RunServer { loader, factory, .. } = run_server.as_ref();
    let restated = match known {
        Some(restatement) => RestateOutcome::Restated(restatement),
        // What is confirmed is what the caller read.
        None if confirmed => RestateOutcome::Failed { reason: "it failed before".to_owned() },
        None => {
            let engine = run_server.engine()?;
            let daily_budget = engine.daily_budget.as_deref();
            restate_directive(loader, &state, &text, factory, daily_budget).await?
        }
    };
    let (printed, restatement) = match restated {
        RestateOutcome::Restated(restatement) => {
            (format!("understood as: {}", restatement.sentence), Some(restatement))
        }
        RestateOutcome::Failed { reason } => {
            (format!("the chair could not restate it: {reason}"), None)
        }
    };
    // Without a restatement the caller may confirm the own text.
    let is_noted = confirmed || !is_known;
    let answer: RunAnswer = match is_noted {
        // A confirmation applies to the caller's own text, restated or not.
        true => journal_intervention(run_server, id, directive(restatement)).await?,
        false => run_server.report_status(&id).await?.into(),
    };
    let note = warning.map(|warning| format!(". Note: {warning}")).unwrap_or_default();
    Ok(match confirmed {
        true => with_effect(
            answer,
            &format!("recorded; every seat follows it from the next round on; {printed}{note}"),
        ),
        false => {
            let next =
                format!("{printed}. Not confirmed yet: call again with confirmed: true{note}");
            RunAnswer { suggestion: Some(next), ..answer }
        }
    })
}
