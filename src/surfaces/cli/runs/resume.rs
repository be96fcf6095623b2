//! `resume`: resumes a run that stopped early.

use std::path::{Component, Path};
use std::sync::Arc;

use clap::Args;

use super::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use super::output::{print_result, repair_log, run_exit};
use super::progress::ProgressDisplay;
use super::value_parsers;
use crate::config::Overrides;
use crate::domain::digest::sha256_hex;
use crate::domain::gate::Artifact;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Stop;
use crate::engine::load_run;
use crate::error::Error;
use crate::export::safe_text;
use crate::hosting::{ResumePlan, RunStart};
use crate::material::{MaterialError, Place};
use crate::record::no_dialogue;
use crate::surfaces::cli::session::{Done, Session};

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
    #[arg(long, value_name = "USD", value_parser = value_parsers::dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time.
    #[arg(long, value_name = "TIME", value_parser = value_parsers::time)]
    deadline: Option<u64>,
}

impl ResumeArgs {
    pub(crate) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| no_dialogue(&self.id))?;
        let project = session.for_existing()?;
        let loaded = load_run(project.store.as_ref(), &id)?;
        if let Some(gate) = loaded.transcript.gate() {
            repair_log(session, &project);
            let said = since_then(&gate.artifact, &session.loader.locate_files()?.documents);
            said.iter().for_each(|said| session.ui.say(&safe_text::line(said)));
        }
        if loaded.transcript.stopped == Some(Stop::Done) {
            session.ui.say("it is finished");
            print_result(session, project.store.as_ref(), &loaded.transcript)?;
            return Ok(run_exit(&Stop::Done, &loaded.transcript));
        }
        let overrides = Overrides { budget_usd: self.budget_usd, deadline_ms: self.deadline };
        let settings = session.loader.load_run_settings(&loaded.transcript.opening, &overrides)?;
        let is_review = loaded.transcript.plan.gate.is_some();
        let progress = Arc::new(ProgressDisplay::with_history(session, &loaded.transcript));
        let factory = transport_factory(session);
        let plan = ResumePlan::for_operator(loaded, &settings, &overrides, &factory);
        let runtime = CliRuntime::open(project, Concurrency::One)?;
        let log = is_review.then_some(settings.review.log_path.as_path());
        runtime.complete_run(session, &progress, RunStart::Resumed(plan), log)
    }
}

/// Reports that a document changed since the review read it. The review is about the earlier
/// content.
pub(super) fn since_then(artifact: &Artifact, folder: &Path) -> Option<String> {
    let path = Path::new(&artifact.path);
    // A path outside the project was relative to another working folder.
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || artifact.path == "-" {
        return None;
    }
    let became = match digest(path, folder) {
        Ok(sha256) if sha256 == artifact.sha256 => return None,
        Ok(_) => "has changed since it was read",
        Err(_) => "cannot be read any more",
    };
    Some(format!("`{}` {became}; this review is about what it said then", artifact.path))
}

fn digest(path: &Path, folder: &Path) -> Result<String, MaterialError> {
    let text = Place::of(folder, folder, path)?.read_text()?;
    Ok(sha256_hex([text.as_bytes()]))
}
