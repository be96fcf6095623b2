//! `conclude`: writes the audited conclusion of a record that has none.

use std::sync::Arc;

use clap::Args;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::plan::{AuditMode, ConclusionPlan};
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_engine::app::planning::panel_setup::{plan_conclusion, plan_conclusion_run};
use plenary_engine::app::start_run::{ResumeParty, ResumePlan, RunStart};
use plenary_engine::clock::RealSystem;
use plenary_engine::config::settings::Settings;
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::engine::run_start::LoadedRun;
use plenary_engine::error::Error;

use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::{ProgressDisplay, print_result};
use crate::cli::runs::value_parsers::{parse_dollars, parse_time};
use crate::cli::session::{CliSession, ExitStatus};

/// Conclude a record that has no conclusion yet
///
/// The Synthesizer writes five fields from the whole record, the Blind Critic tries to break
/// them, at most once they are mended. Works for a council that ended with its report, for
/// one that was cut short after its first round, and for a dialogue that somebody leads.
#[derive(Debug, Args)]
pub(crate) struct ConcludeArgs {
    /// The council or dialogue.
    id: String,
    /// Conclude without an auditor; the result says so.
    #[arg(long)]
    no_audit: bool,
    /// What it may spend in all, from its beginning.
    #[arg(long, value_name = "USD", value_parser = parse_dollars, allow_negative_numbers = true)]
    budget_usd: Option<f64>,
    /// Stop after this time; what is there can be resumed.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    deadline: Option<u64>,
}

impl ConcludeArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let id: DialogueId = self.id.parse().map_err(|_| dialogue_not_found(&self.id))?;
        let project = session.open_existing()?;
        let dialogue = project.store.load_dialogue(&id)?;
        let dialogue = dialogue.ok_or_else(|| dialogue_not_found(id.as_str()))?;
        if !dialogue.opening.protocol.takes_contributions() {
            return Err(is_review(&id).into());
        }
        let entries = project.store.load_entries(&id, 0)?;
        let run = RunState::from_entries(&entries);
        if let Some(transcript) = run.as_ref().filter(|run| run.conclusion_result.is_some()) {
            session.ui.print_note("it has a conclusion already");
            print_result(session, project.store.as_ref(), transcript)?;
            return Ok(ExitStatus::Ok);
        }
        let overrides = BudgetOverrides { budget_usd: self.budget_usd, deadline_ms: self.deadline };
        let settings = match &run {
            Some(run) => session.loader.load_run_settings(&run.opening, &overrides)?,
            None => session.loader.load_settings(&overrides)?,
        };
        if let Some(transcript) = run.as_ref().filter(|run| lacks_voices(run)) {
            session
                .ui
                .print_note(&format!("too few were heard to conclude on: `plenary resume {id}`"));
            print_result(session, project.store.as_ref(), transcript)?;
            return Ok(ExitStatus::Incomplete);
        }
        let is_rehearsal = run.as_ref().is_some_and(|run| run.opening.rehearsal);
        if !is_rehearsal {
            settings.require_providers()?;
        }
        let (loaded, changes) = match run {
            Some(run) => self.of_run(&entries, &run, &settings)?,
            None => self.of_record(&dialogue, &entries, &settings)?,
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
        let progress = Arc::new(ProgressDisplay::with_history(session, plan.transcript()));
        let runtime = CliRuntime::open(project, Concurrency::One)?;
        runtime.complete_run(session, &progress, RunStart::Resumed(Box::new(plan)), None)
    }

    /// Changes with which a run concludes on what it has.
    fn of_run(
        &self,
        entries: &[JournalEntry],
        run: &RunState,
        settings: &Settings,
    ) -> Result<(LoadedRun, Vec<JournalEvent>), Error> {
        let id = &run.opening.dialogue_id;
        let mut changes = Vec::new();
        let auditing = self.auditing();
        match &run.plan.conclusion {
            Some(planned) if planned.auditing == auditing => {}
            // The audit is switched on or off.
            Some(planned) => {
                let conclusion = ConclusionPlan { auditing, ..planned.clone() };
                changes.push(JournalEvent::ConclusionPlanned { conclusion, seats: Vec::new() });
            }
            None => {
                let planned =
                    plan_conclusion(settings, &run.plan.seats, auditing, run.opening.rehearsal);
                let (conclusion, seats) = planned.ok_or_else(|| dialogue_not_found(id.as_str()))?;
                changes.push(JournalEvent::ConclusionPlanned { conclusion, seats });
            }
        }
        if !run.opening.protocol.is_judged() && !run.rounds_are_over() {
            let round = run.current_round();
            changes.push(JournalEvent::Intervened { round, intervention: Intervention::Stop });
        }
        let loaded =
            LoadedRun::from_entries(entries).ok_or_else(|| dialogue_not_found(id.as_str()))?;
        Ok((loaded, changes))
    }

    /// A run on a led dialogue that only concludes it.
    fn of_record(
        &self,
        dialogue: &Dialogue,
        entries: &[JournalEntry],
        settings: &Settings,
    ) -> Result<(LoadedRun, Vec<JournalEvent>), Error> {
        let id = dialogue.id();
        let missing = || dialogue_not_found(id.as_str());
        if dialogue.total_rounds == 0 {
            let fault = ValidationError::new(
                ErrorCode::NotSupported,
                format!("nothing was said in '{id}' yet"),
            );
            return Err(fault.with_suggestion("register a round first").into());
        }
        let plan =
            plan_conclusion_run(settings, self.auditing(), &RealSystem).ok_or_else(missing)?;
        let loaded = LoadedRun::with_plan(entries, plan.clone()).ok_or_else(missing)?;
        Ok((loaded, vec![JournalEvent::RunPlanned(Box::new(plan))]))
    }

    fn auditing(&self) -> AuditMode {
        if self.no_audit { AuditMode::Unaudited } else { AuditMode::Audited }
    }
}

/// Whether the rounds stopped below quorum: then no conclusion is written.
fn lacks_voices(run: &RunState) -> bool {
    match run.stopped {
        Some(
            RunStopReason::Quorum { .. }
            | RunStopReason::Families { .. }
            | RunStopReason::Partial { .. },
        ) => true,
        Some(
            RunStopReason::Done
            | RunStopReason::Budget { .. }
            | RunStopReason::Unconcluded { .. }
            | RunStopReason::Unadjudicated { .. }
            | RunStopReason::Deadline
            | RunStopReason::Interrupted,
        )
        | None => false,
    }
}

fn is_review(id: &DialogueId) -> ValidationError {
    ValidationError::new(
        ErrorCode::NotSupported,
        format!("'{id}' is a review: its verdict is its end"),
    )
    .with_suggestion(format!("`plenary show {id}` shows it"))
}
