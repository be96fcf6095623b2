//! `whisper`, `direct` and `stop`: interventions of the Principal in a running council.

use std::io::{BufRead, IsTerminal};

use clap::Args;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::{Intervention, InterventionEntry};
use plenary_core::model::run_state::RunState;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::interventions::TimedIntervention;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::prepare_run::{RestateOutcome, restate_directive};
use plenary_engine::app::project::Project;
use plenary_engine::engine::interventions::{
    check_intervention, record_intervention, unknown_seat,
};
use plenary_engine::engine::process_lock::is_running;
use plenary_engine::engine::run_start::load_run;
use plenary_engine::error::Error;
use serde_json::json;

use crate::cli::runs::cli_runtime::transport_factory;
use crate::cli::session::{CliSession, ExitStatus};

/// Say something to a running council
///
/// Everybody who is asked from now on reads it; what was sent already is not changed. With
/// `--to` one seat alone reads it, and the Synthesizer does not.
#[derive(Debug, Args)]
pub(crate) struct WhisperArgs {
    /// The council.
    id: String,
    /// What to say.
    text: String,
    /// To this seat only.
    #[arg(long, value_name = "SEAT")]
    to: Option<String>,
}

/// Give a running council a direction that all take up when the next round begins
///
/// The chair's model restates it in one sentence, and you confirm that this is what you mean.
#[derive(Debug, Args)]
pub(crate) struct DirectArgs {
    /// The council.
    id: String,
    /// The directive.
    text: String,
    /// Do not ask back.
    #[arg(long, short)]
    yes: bool,
}

/// Cut a running council short: it concludes on what was heard
///
/// What is in flight is cancelled. Below its quorum nothing is concluded on, and the run
/// stays incomplete.
#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// The council.
    id: String,
}

impl WhisperArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let case = InterventionTarget::open(session, &self.id)?;
        let seat = |name: String| name.parse().map_err(|_| unknown_seat(&case.transcript, &name));
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
        check_intervention(&case.project.protocols, &case.transcript, &directive(None, true))?;
        if !self.yes && !std::io::stdin().is_terminal() {
            return Err(nobody_to_confirm().into());
        }
        let restatement = match case.restate(session, &self.text)? {
            RestateOutcome::Restated(restatement) => Some(restatement),
            RestateOutcome::Failed { reason } if self.yes => {
                session.ui.print_note(&format!("it was not restated: {}", safe_line(&reason)));
                None
            }
            RestateOutcome::Failed { reason } => return Err(not_restated(&reason).into()),
        };
        if let Some(restatement) = &restatement {
            let (seat, sentence) = (&restatement.seat, safe_line(&restatement.sentence));
            session.ui.print_note(&format!("{seat} understands: {sentence}"));
        }
        let confirmed = self.yes || confirm_meaning(session)?;
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
    transcript: RunState,
}

impl InterventionTarget {
    fn open(session: &CliSession<'_>, id: &str) -> Result<Self, Error> {
        let id: DialogueId = id.parse().map_err(|_| dialogue_not_found(id))?;
        let project = session.open_existing()?;
        let transcript = load_run(project.store.as_ref(), &id)?.transcript;
        Ok(Self { id, project, transcript })
    }

    fn record(
        &self,
        session: &CliSession<'_>,
        intervention: &Intervention,
    ) -> Result<ExitStatus, Error> {
        let Project { protocols, store, ambient, folders, .. } = &self.project;
        let (store, ambient) = (store.as_ref(), ambient.as_ref());
        let noted = record_intervention(protocols, store, ambient, &self.id, intervention)?;
        let is_running = is_running(folders.store_file(), &self.transcript);
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
        let Self { transcript, .. } = self;
        runtime.block_on(restate_directive(
            &session.loader,
            transcript,
            text,
            &transport_factory(session),
            None,
        ))
    }
}

/// Asks for confirmation at the terminal; only yes confirms.
fn confirm_meaning(session: &CliSession<'_>) -> Result<bool, Error> {
    session
        .ui
        .print_note("Is that what you mean? All take it up when the next round begins. [y/N]");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(Error::Output)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

impl InterventionTarget {
    fn describe_result(&self, noted: &InterventionEntry, is_running: bool) -> String {
        let id = &self.id;
        let is_ending = self.transcript.participants.is_some();
        let said = match &noted.intervention {
            Intervention::Whisper { to: Some(seat), .. } => {
                format!("Noted. {seat} alone will read it, whenever it is asked from now on.")
            }
            Intervention::Whisper { to: None, .. } if is_ending => {
                "Noted. The rounds are over: only a revision would still read it.".to_owned()
            }
            Intervention::Whisper { to: None, .. } => {
                "Noted. Everybody who is asked from now on will read it.".to_owned()
            }
            Intervention::Directive { confirmed: true, .. } => {
                "Noted. All take it up when the next round begins.".to_owned()
            }
            Intervention::Directive { confirmed: false, .. } => {
                "Not taken up. The record keeps that it was tried.".to_owned()
            }
            Intervention::Stop => {
                "Stopping: nobody else is asked; it concludes on what was heard, if that is enough."
                    .to_owned()
            }
        };
        match is_running {
            true => said,
            false => format!("{said}\nNobody is working on it now: `plenary resume {id}` goes on."),
        }
    }
}

fn nobody_to_confirm() -> ValidationError {
    ValidationError::new(
        ErrorCode::NotSupported,
        "a directive is confirmed, and nobody is at the terminal",
    )
    .with_suggestion("`--yes` takes it up without asking back")
}

fn not_restated(reason: &str) -> ValidationError {
    ValidationError::new(
        ErrorCode::NotSupported,
        format!("the directive could not be restated: {reason}"),
    )
    .with_suggestion("try again, or `--yes` takes it up as you wrote it")
}
