//! `conclude`: writes the audited conclusion of a record that has none.

use std::sync::Arc;

use clap::Args;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::plan::AuditMode;
use plenary_core::model::run_state::RunState;
use plenary_engine::app::conclude::{
    is_below_quorum, not_concludable, plan_of_record, plan_of_run,
};
use plenary_engine::app::dialogue_ids::resolve_id;
use plenary_engine::app::start_run::{ResumeParty, ResumePlan, RunStart};
use plenary_engine::config::error::ConfigError;
use plenary_engine::error::Error;

use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::{ProgressDisplay, print_result};
use crate::cli::runs::value_parsers::LimitArgs;
use crate::cli::session::{CliSession, ExitStatus};

/// Write the audited conclusion of a record that has none
///
/// The Synthesizer writes five fields from the whole record, the Blind Critic audits them, and
/// they are revised at most once. This works for a council that ended with its report, for a
/// council that stopped after its first round, and for a dialogue that a Judge leads.
///
/// $ plenary conclude tea-or-coffee-1a2b3c4d
///
/// $ plenary conclude nvidia-investment-decision --no-audit
#[derive(Debug, Args)]
pub(crate) struct ConcludeArgs {
    /// The id of the council or dialogue
    id: String,
    /// Write the conclusion without an audit; the result says so
    #[arg(long)]
    no_audit: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

impl ConcludeArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        let id = resolve_id(project.store.as_ref(), &self.id)?;
        let dialogue = project.store.load_dialogue(&id)?;
        let dialogue = dialogue.ok_or_else(|| dialogue_not_found(id.as_str()))?;
        let protocol = session.loader.protocols.find_protocol(dialogue.opening.protocol)?;
        if !protocol.takes_conclusion() {
            return Err(not_concludable(&id, protocol).into());
        }
        let entries = project.store.load_entries(&id, 0)?;
        let run = RunState::from_entries(&entries);
        if let Some(state) = run.as_ref().filter(|run| run.conclusion_result.is_some()) {
            session.ui.print_note("the record already has this conclusion");
            print_result(session, project.store.as_ref(), state)?;
            return Ok(ExitStatus::Ok);
        }
        let overrides = self.limits.overrides();
        let settings = match &run {
            Some(run) => session.loader.load_run_settings(&run.opening, &overrides)?,
            None => session.loader.load_settings(&overrides)?,
        };
        if let Some(state) = run.as_ref().filter(|run| is_below_quorum(run)) {
            session.ui.print_note(&format!(
                "too few answers for a conclusion; `plenary resume {id}` asks for the missing ones"
            ));
            print_result(session, project.store.as_ref(), state)?;
            return Ok(ExitStatus::Incomplete);
        }
        let is_rehearsal = run.as_ref().is_some_and(|run| run.opening.rehearsal);
        if !is_rehearsal {
            // The record is no rehearsal, so no rehearsal may conclude it.
            settings.require_providers().map_err(|_| ConfigError::NoConclusionProvider)?;
        }
        let (loaded, changes) = match run {
            Some(run) => plan_of_run(&entries, &run, &settings, self.auditing())?,
            None => plan_of_record(&dialogue, &entries, &settings, self.auditing())?,
        };
        let factory = transport_factory(session);
        let plan = ResumePlan::new(
            loaded,
            changes,
            &settings,
            &overrides,
            &factory,
            ResumeParty::Operator,
        );
        let progress = Arc::new(ProgressDisplay::with_history(session, plan.state()));
        let runtime = CliRuntime::open(project, Concurrency::One)?;
        runtime.complete_run(session, &progress, RunStart::Resumed(Box::new(plan)), None)
    }

    fn auditing(&self) -> AuditMode {
        if self.no_audit { AuditMode::Unaudited } else { AuditMode::Audited }
    }
}
