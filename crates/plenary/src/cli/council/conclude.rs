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
use plenary_core::protocols::protocol::Protocol;
use plenary_engine::app::planning::panel_setup::{plan_conclusion, plan_conclusion_run};
use plenary_engine::app::start_run::{ResumeParty, ResumePlan, RunStart};
use plenary_engine::clock::RealSystem;
use plenary_engine::config::settings::Settings;
use plenary_engine::engine::run_start::LoadedRun;
use plenary_engine::error::Error;

use crate::cli::runs::cli_runtime::{CliRuntime, Concurrency, transport_factory};
use crate::cli::runs::output::{ProgressDisplay, print_result};
use crate::cli::runs::value_parsers::{LimitArgs, parse_dialogue_id};
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
        let id = parse_dialogue_id(&self.id)?;
        let project = session.open_existing()?;
        let dialogue = project.store.load_dialogue(&id)?;
        let dialogue = dialogue.ok_or_else(|| dialogue_not_found(id.as_str()))?;
        let protocol = session.loader.protocols.find_protocol(dialogue.opening.protocol)?;
        if !protocol.takes_conclusion() {
            return Err(not_concludable(&id, protocol).into());
        }
        let entries = project.store.load_entries(&id, 0)?;
        let run = RunState::from_entries(&entries);
        if let Some(transcript) = run.as_ref().filter(|run| run.conclusion_result.is_some()) {
            session.ui.print_note("the record already has this conclusion");
            print_result(session, project.store.as_ref(), transcript)?;
            return Ok(ExitStatus::Ok);
        }
        let overrides = self.limits.overrides();
        let settings = match &run {
            Some(run) => session.loader.load_run_settings(&run.opening, &overrides)?,
            None => session.loader.load_settings(&overrides)?,
        };
        if let Some(transcript) = run.as_ref().filter(|run| is_below_quorum(run)) {
            session.ui.print_note(&format!(
                "too few answers for a conclusion; `plenary resume {id}` asks for the missing ones"
            ));
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
            let fault =
                ValidationError::new(ErrorCode::NotSupported, format!("'{id}' has no round yet"));
            return Err(fault
                .with_suggestion(format!(
                    "register a round first: `plenary dialogue register {id} --data FILE`"
                ))
                .into());
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
fn is_below_quorum(run: &RunState) -> bool {
    matches!(
        run.stopped,
        Some(
            RunStopReason::Quorum { .. }
                | RunStopReason::Families { .. }
                | RunStopReason::Partial { .. }
        )
    )
}

fn not_concludable(id: &DialogueId, protocol: &dyn Protocol) -> ValidationError {
    let name = protocol.name();
    let message = format!("'{id}' is a {name}, which `conclude` does not support");
    ValidationError::new(ErrorCode::NotSupported, message)
        .with_suggestion(format!("`plenary show {id}` shows its result"))
}
