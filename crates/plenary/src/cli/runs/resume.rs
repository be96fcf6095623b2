//! `resume`: resumes a run that stopped early.

use std::path::{Component, Path};
use std::sync::Arc;

use clap::Args;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::hash::sha256_hex;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::run_state::RunStopReason;
use plenary_core::protocols::review::types::ReviewArtifact;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::start_run::{ResumeParty, ResumePlan, RunStart};
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::context_files::document::DocumentLocation;
use plenary_engine::context_files::gather::ContextFileError;
use plenary_engine::engine::run_start::load_run;
use plenary_engine::error::Error;

use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::{ProgressDisplay, print_result, repair_project_log, run_exit};
use crate::cli::runs::value_parsers::{parse_dollars, parse_time};
use crate::cli::session::{CliSession, ExitStatus};

/// Go on with a run that broke off
///
/// By a crash, Ctrl-C, the deadline, the budget, too few who could be heard, or a conclusion
/// that could not be written, audited or mended. What was answered is never asked again; a
/// call that was in flight is, and the record says so. What is finished is printed again.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The council or dialogue.
    id: String,
    /// What it may spend in all, from its beginning.
    #[arg(long, value_name = "USD", value_parser = parse_dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    deadline: Option<u64>,
}

impl ResumeArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| dialogue_not_found(&self.id))?;
        let project = session.open_existing()?;
        let loaded = load_run(project.store.as_ref(), &id)?;
        if let Some(gate) = loaded.transcript.review_plan() {
            repair_project_log(session, &project);
            let said =
                changed_since_review(&gate.artifact, &session.loader.locate_files()?.documents);
            said.iter().for_each(|said| session.ui.print_note(&safe_line(said)));
        }
        if loaded.transcript.stopped == Some(RunStopReason::Done) {
            session.ui.print_note("it is finished");
            print_result(session, project.store.as_ref(), &loaded.transcript)?;
            return Ok(run_exit(&RunStopReason::Done, &loaded.transcript));
        }
        let overrides = BudgetOverrides { budget_usd: self.budget_usd, deadline_ms: self.deadline };
        let settings = session.loader.load_run_settings(&loaded.transcript.opening, &overrides)?;
        let is_review = loaded.transcript.plan.review.is_some();
        let progress = Arc::new(ProgressDisplay::with_history(session, &loaded.transcript));
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
        let log = is_review.then_some(settings.review.log_path.as_path());
        runtime.complete_run(session, &progress, RunStart::Resumed(Box::new(plan)), log)
    }
}

/// Reports that a document changed since the review read it. The review is about the earlier
/// content.
pub(crate) fn changed_since_review(artifact: &ReviewArtifact, folder: &Path) -> Option<String> {
    let path = Path::new(&artifact.path);
    // A path outside the project was relative to another working folder.
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || artifact.path == "-" {
        return None;
    }
    let became = match digest_file(path, folder) {
        Ok(sha256) if sha256 == artifact.sha256 => return None,
        Ok(_) => "has changed since it was read",
        Err(_) => "cannot be read any more",
    };
    Some(format!("`{}` {became}; this review is about what it said then", artifact.path))
}

fn digest_file(path: &Path, folder: &Path) -> Result<String, ContextFileError> {
    let text = DocumentLocation::from_path(folder, folder, path)?.read_text()?;
    Ok(sha256_hex([text.as_bytes()]))
}
