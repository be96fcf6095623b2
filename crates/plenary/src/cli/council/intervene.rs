//! `whisper`, `direct` and `stop`: interventions of the Principal in a running council or
//! dialogue.

use std::io::IsTerminal;

use clap::Args;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::{Intervention, InterventionEntry};
use plenary_core::model::run_state::RunState;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::conclusion::format::constraint::warn_of_form;
use plenary_core::report::interventions::TimedIntervention;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::dialogue_ids::resolve_id;
use plenary_engine::app::prepare_run::{RestateOutcome, restate_directive};
use plenary_engine::app::project::Project;
use plenary_engine::engine::interventions::{
    check_intervention, name_of_run, record_intervention, unknown_seat,
};
use plenary_engine::engine::process_lock::is_running;
use plenary_engine::engine::run_start::load_run;
use plenary_engine::error::Error;
use serde_json::json;

use crate::cli::runs::cli_runtime::transport_factory;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::{confirm_prompt, print_warning_text};

/// Send a message to a running council or dialogue
///
/// Every seat that is asked from now on reads it; prompts that were sent already do not change.
/// With `--to` only that seat reads it, and the Synthesizer does not.
///
/// $ plenary whisper tea-or-coffee-1a2b3c4d "The budget is fixed."
///
/// $ plenary whisper tea-or-coffee-1a2b3c4d "Check the numbers." --to openai
#[derive(Debug, Args)]
pub(crate) struct WhisperArgs {
    /// The id of the council or dialogue
    id: String,
    /// The message
    text: String,
    /// Send it to this seat only
    #[arg(long, value_name = "SEAT")]
    to: Option<String>,
}

/// Give a running council or dialogue a directive
///
/// The chair's model restates the directive in one sentence, and you confirm that it understood
/// you. Every seat follows it from the next round on. In a dialogue the Judge restates it.
///
/// $ plenary direct tea-or-coffee-1a2b3c4d "Compare the costs over five years."
///
/// $ plenary direct tea-or-coffee-1a2b3c4d "Ignore decaf." --yes
#[derive(Debug, Args)]
pub(crate) struct DirectArgs {
    /// The id of the council or dialogue
    id: String,
    /// The directive
    text: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Stop a running council or dialogue early
///
/// Cancels the calls in progress, and concludes on the answers so far. With too few answers no
/// conclusion is written, and the run stays incomplete. The Judge of a dialogue gives a forced
/// verdict if a round is complete.
///
/// $ plenary stop tea-or-coffee-1a2b3c4d
#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// The id of the council or dialogue
    id: String,
}

impl WhisperArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let case = InterventionTarget::open(session, &self.id)?;
        let seat = |name: String| name.parse().map_err(|_| unknown_seat(&case.state, &name));
        let to = self.to.map(seat).transpose()?;
        case.record(session, &Intervention::Whisper { text: self.text, to })
    }
}

impl DirectArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let case = InterventionTarget::open(session, &self.id)?;
        let directive = |restatement, confirmed| Intervention::Directive {
            text: self.text.clone(),
            restatement,
            confirmed,
        };
        check_intervention(&case.project.protocols, &case.state, &directive(None, true))?;
        if let Some(warning) = warn_of_form(case.state.question(), &self.text) {
            print_warning_text(&warning);
        }
        if !self.yes && !std::io::stdin().is_terminal() {
            return Err(confirmation_error().into());
        }
        let restatement = match case.restate(session, &self.text)? {
            RestateOutcome::Restated(restatement) => Some(restatement),
            RestateOutcome::Failed { reason } if self.yes => {
                session
                    .ui
                    .print_note(&format!("the chair did not restate it: {}", safe_line(&reason)));
                None
            }
            RestateOutcome::Failed { reason } => return Err(not_restated(&reason).into()),
        };
        if let Some(restatement) = &restatement {
            let (seat, sentence) = (&restatement.seat, safe_line(&restatement.sentence));
            session.ui.print_note(&format!("{seat} understands: {sentence}"));
        }
        let question = "Is that what you mean? Every seat follows it from the next round on.";
        let confirmed = self.yes || confirm_prompt(question);
        let done = case.record(session, &directive(restatement, confirmed))?;
        if confirmed { Ok(done) } else { Ok(ExitStatus::WithFindings) }
    }
}

impl StopArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        InterventionTarget::open(session, &self.id)?.record(session, &Intervention::Stop)
    }
}

/// The run of the intervention.
struct InterventionTarget {
    id: DialogueId,
    project: Project,
    state: RunState,
}

impl InterventionTarget {
    fn open(session: &CliSession<'_>, id: &str) -> Result<Self, Error> {
        let project = session.open_existing()?;
        let id = resolve_id(project.store.as_ref(), id)?;
        let state = load_run(project.store.as_ref(), &id)?.state;
        Ok(Self { id, project, state })
    }

    fn record(
        &self,
        session: &CliSession<'_>,
        intervention: &Intervention,
    ) -> Result<ExitStatus, Error> {
        let Project { protocols, store, ambient, folders, .. } = &self.project;
        let (store, ambient) = (store.as_ref(), ambient.as_ref());
        let noted = record_intervention(protocols, store, ambient, &self.id, intervention)?;
        let is_running = is_running(folders.store_file(), &self.state);
        let document = json!({
            "status": "success",
            "dialogue_id": self.id,
            "running": is_running,
            "intervention": TimedIntervention::from_noted(&noted),
        });
        session.ui.print_result(&document, |_| self.describe_result(&noted, is_running))?;
        Ok(ExitStatus::Ok)
    }

    fn restate(&self, session: &CliSession<'_>, text: &str) -> Result<RestateOutcome, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Error::Runtime)?;
        let Self { state, .. } = self;
        runtime.block_on(restate_directive(
            &session.loader,
            state,
            text,
            &transport_factory(session),
            None,
        ))
    }
}

impl InterventionTarget {
    fn describe_result(&self, noted: &InterventionEntry, is_running: bool) -> String {
        let id = &self.id;
        let run = name_of_run(&self.state);
        let is_ending = self.state.participants.is_some();
        let message = match &noted.intervention {
            Intervention::Whisper { to: Some(seat), .. } => {
                format!("Recorded. Only {seat} reads it, from its next prompt on.")
            }
            Intervention::Whisper { to: None, .. } if is_ending => {
                "Recorded. The rounds are over; only a revision would read it.".to_owned()
            }
            Intervention::Whisper { to: None, .. } => {
                "Recorded. Every seat that is asked from now on reads it.".to_owned()
            }
            Intervention::Directive { confirmed: true, .. } => {
                "Recorded. Every seat follows it from the next round on.".to_owned()
            }
            Intervention::Directive { confirmed: false, .. } => {
                format!("Not confirmed. The record keeps the attempt; the {run} ignores it.")
            }
            Intervention::Stop => format!(
                "Stopping. The {run} asks no other seat and concludes on its answers, if they are \
                 enough."
            ),
        };
        match is_running {
            true => message,
            false => {
                format!(
                    "{message}\nNo process works on this run; `plenary resume {id}` continues it."
                )
            }
        }
    }
}

fn confirmation_error() -> ValidationError {
    ValidationError::new(
        ErrorCode::NotSupported,
        "`direct` asks for confirmation, but standard input is not a terminal",
    )
    .with_suggestion("pass `--yes` to confirm without a question")
}

fn not_restated(reason: &str) -> ValidationError {
    ValidationError::new(
        ErrorCode::NotSupported,
        format!("the chair could not restate the directive: {reason}"),
    )
    .with_suggestion("try again, or pass `--yes` to send it as you wrote it")
}
