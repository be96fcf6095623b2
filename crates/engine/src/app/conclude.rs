//! Plans the conclusion of a record that has none, for the command line and for clients of a server.

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::dialogue::request::OperationRequest;
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::plan::{AuditMode, ConclusionPlan};
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::protocol::Protocol;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::planning::panel_setup::{plan_conclusion, plan_conclusion_run};
use crate::app::requests::run_answer::{CallPlan, read_dollars};
use crate::app::run_server::RunServer;
use crate::app::start_run::{ResumeParty, ResumePlan, RunStart};
use crate::clock::RealSystem;
use crate::config::settings::Settings;
use crate::config::settle_sections::BudgetOverrides;
use crate::engine::run_start::LoadedRun;
use crate::error::Error;

/// Arguments of `POST /api/dialogues/{id}/conclude`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ConcludeRequest {
    dialogue_id: DialogueId,
    /// false: conclude without an audit.
    audit: Option<bool>,
    #[serde(default)]
    #[schemars(schema_with = "read_dollars")]
    budget_usd: Option<f64>,
}

impl OperationRequest for ConcludeRequest {}

impl ConcludeRequest {
    /// Plans the run that concludes the record.
    pub fn plan_call(self, run_server: &RunServer) -> Result<CallPlan, Error> {
        let (project, id) = (run_server.open_project()?, &self.dialogue_id);
        let dialogue = project.store.load_dialogue(id)?;
        let dialogue = dialogue.ok_or_else(|| dialogue_not_found(id.as_str()))?;
        let protocol = project.protocols.find_protocol(dialogue.opening.protocol)?;
        if !protocol.takes_conclusion() {
            return Err(not_concludable(id, protocol).into());
        }
        let entries = project.store.load_entries(id, 0)?;
        let run = RunState::from_entries(&entries);
        if run.as_ref().is_some_and(|run| run.conclusion_result.is_some()) {
            let fault =
                ValidationError::new(ErrorCode::DialogueClosed, "the record has a conclusion");
            return Err(fault.with_suggestion(format!("`plenary show {id}` shows it")).into());
        }
        if run.as_ref().is_some_and(is_below_quorum) {
            let message = "the record has too few answers for a conclusion";
            let fault = ValidationError::new(ErrorCode::NotSupported, message);
            return Err(fault.with_suggestion("resume the run to ask for the missing ones").into());
        }
        let asked = BudgetOverrides { budget_usd: self.budget_usd, ..BudgetOverrides::default() };
        let operator = match &run {
            Some(run) => {
                run_server.loader.load_run_settings(&run.opening, &BudgetOverrides::default())?
            }
            None => run_server.loader.load_settings(&BudgetOverrides::default())?,
        };
        let settings = run_server.limit_caller(operator, &asked)?;
        if !run.as_ref().is_some_and(|run| run.opening.rehearsal) {
            settings.require_providers()?;
        }
        let auditing = match self.audit {
            Some(false) => AuditMode::Unaudited,
            Some(true) | None => AuditMode::Audited,
        };
        let (loaded, changes) = match &run {
            Some(run) => plan_of_run(&entries, run, &settings, auditing)?,
            None => plan_of_record(&dialogue, &entries, &settings, auditing)?,
        };
        let factory = &run_server.factory;
        let plan =
            ResumePlan::new(loaded, changes, &settings, &asked, factory, ResumeParty::Caller);
        Ok(CallPlan::Start { start: Box::new(RunStart::Resumed(Box::new(plan))), log: None })
    }
}

/// Changes with which a run concludes on what it has.
pub fn plan_of_run(
    entries: &[JournalEntry],
    run: &RunState,
    settings: &Settings,
    auditing: AuditMode,
) -> Result<(LoadedRun, Vec<JournalEvent>), Error> {
    let id = &run.opening.dialogue_id;
    let mut changes = Vec::new();
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
    let loaded = LoadedRun::from_entries(entries).ok_or_else(|| dialogue_not_found(id.as_str()))?;
    Ok((loaded, changes))
}

/// A run on a led dialogue that only concludes it.
pub fn plan_of_record(
    dialogue: &Dialogue,
    entries: &[JournalEntry],
    settings: &Settings,
    auditing: AuditMode,
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
    let plan = plan_conclusion_run(settings, auditing, &RealSystem).ok_or_else(missing)?;
    let loaded = LoadedRun::with_plan(entries, plan.clone()).ok_or_else(missing)?;
    Ok((loaded, vec![JournalEvent::RunPlanned(Box::new(plan))]))
}

/// Whether the rounds stopped below quorum: then no conclusion is written.
pub fn is_below_quorum(run: &RunState) -> bool {
    matches!(
        run.stopped,
        Some(
            RunStopReason::Quorum { .. }
                | RunStopReason::Families { .. }
                | RunStopReason::Partial { .. }
        )
    )
}

/// The error for a record that takes no conclusion.
pub fn not_concludable(id: &DialogueId, protocol: &dyn Protocol) -> ValidationError {
    let name = protocol.name();
    let message = format!("'{id}' is a {name}, which `conclude` does not support");
    ValidationError::new(ErrorCode::NotSupported, message)
        .with_suggestion(format!("`plenary show {id}` shows its result"))
}
