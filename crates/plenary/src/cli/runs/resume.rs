//! `resume`: resumes a run that stopped early.

use std::path::{Component, Path};
use std::sync::Arc;

use clap::Args;
use plenary_core::model::hash::sha256_hex;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::run_state::RunStopReason;
use plenary_core::protocols::review::types::ReviewArtifact;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::dialogue_ids::resolve_id;
use plenary_engine::app::start_run::{ResumeParty, ResumePlan, RunStart};
use plenary_engine::context_files::document::DocumentLocation;
use plenary_engine::context_files::gather::ContextFileError;
use plenary_engine::engine::run_start::load_run;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::STANDARD_INPUT;

use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::{ProgressDisplay, print_result, repair_project_log, run_exit};
use crate::cli::runs::value_parsers::LimitArgs;
use crate::cli::session::{CliSession, ExitStatus};

/// Resume an interrupted run
///
/// Continues a council, a review or a conclusion that stopped early: after a crash, Ctrl-C, the
/// deadline, the budget, or too few answers. Plenary keeps every recorded reply and asks only for
/// the missing ones. A call that was in progress is repeated, and the record says so. For a
/// finished run it prints the result again.
///
/// $ plenary resume tea-or-coffee-1a2b3c4d
///
/// $ plenary resume tea-or-coffee-1a2b3c4d --budget-usd 5
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The id of the run, as `plenary list` shows it
    id: String,
    #[command(flatten)]
    limits: LimitArgs,
}

impl ResumeArgs {
    /// The command without options.
    pub(crate) fn of_run(id: &DialogueId) -> Self {
        Self { id: id.to_string(), limits: LimitArgs::default() }
    }

    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        let id = resolve_id(project.store.as_ref(), &self.id)?;
        let loaded = load_run(project.store.as_ref(), &id)?;
        let protocol = session.loader.protocols.of_run(&loaded.state)?;
        let artifact = protocol.judged_artifact(&loaded.state);
        let is_logged = artifact.is_some();
        if let Some(artifact) = artifact {
            repair_project_log(session, &project);
            let message = changed_since_review(artifact, &session.loader.locate_files()?.documents);
            message.iter().for_each(|message| session.ui.print_note(&safe_line(message)));
        }
        if loaded.state.stopped == Some(RunStopReason::Done) {
            session.ui.print_note("the run is finished; this is its result");
            print_result(session, project.store.as_ref(), &loaded.state)?;
            return Ok(run_exit(protocol, &RunStopReason::Done, &loaded.state));
        }
        let overrides = self.limits.overrides();
        let settings = session.loader.load_run_settings(&loaded.state.opening, &overrides)?;
        let progress = Arc::new(ProgressDisplay::with_history(session, &loaded.state));
        let factory = transport_factory(session);
        let plan = ResumePlan::new(
            loaded,
            Vec::new(),
            &settings,
            &overrides,
            &factory,
            ResumeParty::Operator,
        );
        let runtime = CliRuntime::open(project, Concurrency::One)?;
        let log = is_logged.then_some(settings.review.log_path.as_path());
        runtime.complete_run(session, &progress, RunStart::Resumed(Box::new(plan)), log)
    }
}

/// Reports that a document changed since the review read it. The review is about the earlier
/// content.
pub(crate) fn changed_since_review(artifact: &ReviewArtifact, folder: &Path) -> Option<String> {
    let path = Path::new(&artifact.path);
    // A path outside the project was relative to another working folder.
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || ["-", STANDARD_INPUT].contains(&artifact.path.as_str()) {
        return None;
    }
    let became = match digest_file(path, folder) {
        Ok(sha256) if sha256 == artifact.sha256 => return None,
        Ok(_) => "has changed since the review read it",
        Err(_) => "cannot be read now",
    };
    Some(format!("`{}` {became}; the review continues with the earlier content", artifact.path))
}

fn digest_file(path: &Path, folder: &Path) -> Result<String, ContextFileError> {
    let text = DocumentLocation::from_path(folder, folder, path)?.read_text()?;
    Ok(sha256_hex([text.as_bytes()]))
}
