//! [`start_run`]: the one way to start a run, for `ask`, batches, `review`, `sweep`, `resume`,
//! `conclude` and the servers.

use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::plan::BudgetCaps;
use plenary_core::model::run_state::RunState;
use plenary_core::protocols::review::redaction::LogRedaction;
use serde_json::Value;

use crate::app::planning::panel_setup::{TransportFactory, reconnect_seats};
use crate::app::seat_corrections::correct_seats;
use crate::config::settings::Settings;
use crate::config::settle_sections::BudgetOverrides;
use crate::engine::run::{Run, RunContext};
use crate::engine::run_start::{LoadedRun, RunQuestion, SeatTransports, open_run, resume_run};
use crate::error::Error;

/// What to start.
#[derive(Debug)]
pub enum RunStart {
    New(Box<PreparedRun>),
    /// Also a record that gets a conclusion it was not planned with.
    Resumed(Box<ResumePlan>),
}

/// A run of this process that is ready to be driven.
#[derive(Debug)]
pub struct StartedRun {
    pub(crate) run: Run,
    /// Time limit of this process for the run.
    pub wall: Duration,
}

impl StartedRun {
    pub fn id(&self) -> &DialogueId {
        self.run.id()
    }
}

/// Starts a run: journals that this process works on it. From then on it can be resumed.
pub async fn start_run(context: RunContext, start: RunStart) -> Result<StartedRun, Error> {
    match start {
        RunStart::New(prepared) => {
            let PreparedRun { question, connections, redaction, wall } = *prepared;
            let context = RunContext { redaction, ..context };
            Ok(StartedRun { run: open_run(question, connections, context).await?, wall })
        }
        RunStart::Resumed(plan) => {
            let ResumePlan { loaded, changes, connections, redaction, wall } = *plan;
            let context = RunContext { redaction, ..context };
            let run = resume_run(loaded, changes, connections, context).await?;
            Ok(StartedRun { run, wall })
        }
    }
}

/// A new run: its question and plan, and how its seats are reached.
#[derive(Debug)]
pub struct PreparedRun {
    question: RunQuestion,
    connections: SeatTransports,
    /// Text that must not be written to the verdict log.
    redaction: Arc<LogRedaction>,
    wall: Duration,
}

impl PreparedRun {
    /// The time limit is that of the plan.
    pub fn new(question: RunQuestion, connections: SeatTransports) -> Self {
        let wall = Duration::from_millis(question.plan.caps.wall_ms);
        Self { question, connections, redaction: Arc::default(), wall }
    }

    /// Adds facts about the new dialogue, such as the one that it follows up.
    #[must_use]
    pub fn with_background(mut self, background: Option<Value>) -> Self {
        self.question.background = background;
        self
    }

    #[must_use]
    pub fn with_redaction(self, redaction: LogRedaction) -> Self {
        Self { redaction: Arc::new(redaction), ..self }
    }
}

/// A loaded run, the changes to its plan, and how its seats are reached now.
#[derive(Debug)]
pub struct ResumePlan {
    loaded: LoadedRun,
    changes: Vec<JournalEvent>,
    connections: SeatTransports,
    redaction: Arc<LogRedaction>,
    /// The time limit of now: that of the command that started the run has passed.
    wall: Duration,
}

/// The party that resumes a run.
#[derive(Debug, Clone, Copy)]
pub enum ResumeParty {
    /// The person at the command line, who may raise the limits of a run.
    Operator,
    /// A client of a server, who may not. Its settings are those of
    /// [`lower_limits`](crate::app::prepare_run::lower_limits).
    Caller,
}

impl ResumePlan {
    /// Resumes a run with the settings of now for the seats of its plan. Changes to the plan may add
    /// seats.
    pub fn new(
        loaded: LoadedRun,
        changes: Vec<JournalEvent>,
        settings: &Settings,
        overrides: &BudgetOverrides,
        factory: &TransportFactory,
        party: ResumeParty,
    ) -> Self {
        let mut changes = changes;
        changes.extend(correct_seats(&loaded.state, settings));
        let mut changed = loaded.state.clone();
        changed.apply_events(changed.last_entry_at, &changes);
        let connections =
            reconnect_seats(&changed.plan, changed.opening.rehearsal, settings, factory);
        let planned = loaded.state.plan.caps;
        let caps = match party {
            ResumeParty::Operator => raise_caps(planned, settings.budget, overrides.budget_usd),
            ResumeParty::Caller => limit_caps(planned, settings.budget, overrides.budget_usd),
        };
        let caps = (caps != planned).then_some(JournalEvent::CapsSet { caps });
        Self {
            changes: caps.into_iter().chain(changes).collect(),
            connections,
            redaction: Arc::new(settings.review.redact.clone()),
            wall: Duration::from_millis(settings.budget.wall_ms),
            loaded,
        }
    }

    /// State of the run before it is resumed.
    pub fn state(&self) -> &RunState {
        &self.loaded.state
    }
}

/// Limits for the command line. The money stays as planned unless a sum is given now: it was meant
/// as a limit. Tokens and calls are those of now where they allow more.
fn raise_caps(planned: BudgetCaps, now: BudgetCaps, named_usd: Option<f64>) -> BudgetCaps {
    BudgetCaps {
        usd_micros: if named_usd.is_some() { now.usd_micros } else { planned.usd_micros },
        tokens: planned.tokens.max(now.tokens),
        calls: planned.calls.max(now.calls),
        wall_ms: planned.wall_ms,
    }
}

/// Limits for a client of a server: the operator's present limits apply, also to a run that was
/// started with higher ones.
fn limit_caps(planned: BudgetCaps, now: BudgetCaps, named_usd: Option<f64>) -> BudgetCaps {
    let usd_micros = match named_usd {
        Some(_) => now.usd_micros,
        None => planned.usd_micros.min(now.usd_micros),
    };
    BudgetCaps { usd_micros, tokens: now.tokens, calls: now.calls, wall_ms: planned.wall_ms }
}
