//! Rows of a list of dialogues, with what only the journal of a run knows: state, cost, health.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use plenary_core::model::dialogue::{DialogueStatus, ProtocolKind, TerminalState};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::queries::{DialogueQuery, DialogueSummary};
use plenary_core::model::run_state::RunState;
use plenary_core::model::string_enum::words;
use plenary_core::model::time::Moment;
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use plenary_core::report::run_metrics::cost_usd;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::project::Project;
use crate::app::run_status::{RunStatus, stopped_status};
use crate::engine::process_lock::is_running;
use crate::error::Error;

words! {
    /// What happens to a dialogue now. `open` is a dialogue that a Judge leads and has not closed.
    pub enum DialogueState {
        Running = "running",
        Open = "open",
        Done = "done",
        Incomplete = "incomplete",
        Failed = "failed",
        Interrupted = "interrupted",
    }
}

impl From<RunStatus> for DialogueState {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Running => Self::Running,
            RunStatus::Open => Self::Open,
            RunStatus::Done => Self::Done,
            RunStatus::Incomplete => Self::Incomplete,
            RunStatus::Failed => Self::Failed,
            RunStatus::Interrupted => Self::Interrupted,
        }
    }
}

/// A dialogue in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DialogueRow {
    pub dialogue_id: DialogueId,
    /// The last eight hex digits of the id, or the id of a dialogue without them.
    pub short_id: String,
    pub title: String,
    pub protocol: ProtocolKind,
    pub state: DialogueState,
    pub status: DialogueStatus,
    pub terminal_state: Option<TerminalState>,
    /// Latest verdict of a review.
    pub verdict: Option<ReviewVerdict>,
    /// A person's decision over that verdict.
    pub overridden: Option<ReviewDecision>,
    /// The final verdict was forced: the panel did not converge.
    pub forced: bool,
    pub rehearsal: bool,
    /// A seat failed, or another part of the panel is missing.
    pub degraded: bool,
    pub rounds: u8,
    /// None if no cost is known.
    pub cost_usd: Option<f64>,
    pub created_at: Moment,
}

/// What the journal of a dialogue says of its run.
#[derive(Debug, Clone, Copy)]
struct RunFacts {
    state: DialogueState,
    degraded: bool,
    cost_usd: Option<f64>,
}

/// Facts that are kept: a list of every dialogue of a large store.
const KEPT_FACTS_MAX: usize = 20_000;

/// Facts of dialogues whose run has stopped, by the length of their journal.
#[derive(Debug, Default)]
pub struct RunFactsCache {
    known: Mutex<HashMap<DialogueId, (u64, RunFacts)>>,
}

impl RunFactsCache {
    /// One page of rows that match the query.
    pub fn list_rows(
        &self,
        project: &Project,
        query: &DialogueQuery,
    ) -> Result<Vec<DialogueRow>, Error> {
        let summaries = project.store.list_dialogues(query)?;
        summaries.into_iter().map(|summary| self.build_row(project, summary)).collect()
    }

    fn build_row(&self, project: &Project, summary: DialogueSummary) -> Result<DialogueRow, Error> {
        let facts = self.find_facts(project, &summary.dialogue_id, summary.status)?;
        Ok(DialogueRow {
            short_id: short_id(&summary.dialogue_id),
            dialogue_id: summary.dialogue_id,
            title: summary.title,
            protocol: summary.protocol,
            state: facts.state,
            status: summary.status,
            terminal_state: summary.terminal_state,
            verdict: summary.verdict,
            overridden: summary.overridden,
            forced: summary.forced,
            rehearsal: summary.rehearsal,
            degraded: facts.degraded,
            rounds: summary.rounds,
            cost_usd: facts.cost_usd,
            created_at: summary.created_at,
        })
    }

    /// The state of a dialogue now.
    pub fn find_state(
        &self,
        project: &Project,
        id: &DialogueId,
        status: DialogueStatus,
    ) -> Result<DialogueState, Error> {
        Ok(self.find_facts(project, id, status)?.state)
    }

    fn find_facts(
        &self,
        project: &Project,
        id: &DialogueId,
        status: DialogueStatus,
    ) -> Result<RunFacts, Error> {
        let seq = project.store.load_head(Some(id))?.seq;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied();
        if let Some((_, facts)) = known.filter(|(length, _)| *length == seq) {
            return Ok(facts);
        }
        let run = RunState::from_entries(&project.store.load_entries(id, 0)?);
        let facts = match &run {
            Some(run) => run_facts(project, run)?,
            None => led_facts(status),
        };
        // Whether a process works on a run that has not stopped is not in the journal.
        if run.is_none_or(|run| run.stopped.is_some()) {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= KEPT_FACTS_MAX {
                known.clear();
            }
            known.insert(id.clone(), (seq, facts));
        }
        Ok(facts)
    }
}

fn run_facts(project: &Project, run: &RunState) -> Result<RunFacts, Error> {
    let state = match is_running(project.folders.store_file(), run) {
        true => RunStatus::Running,
        false => stopped_status(run),
    };
    let degraded = project.protocols.of_run(run)?.is_degraded(run);
    Ok(RunFacts { state: state.into(), degraded, cost_usd: cost_usd(run) })
}

/// The facts of a dialogue that a Judge leads.
fn led_facts(status: DialogueStatus) -> RunFacts {
    let state = if status.is_closed() { DialogueState::Done } else { DialogueState::Open };
    RunFacts { state, degraded: false, cost_usd: None }
}

/// Length of the random end of an id.
const SHORT_ID_DIGITS: usize = 8;

fn short_id(id: &DialogueId) -> String {
    let is_hex = |digits: &&str| {
        digits.len() == SHORT_ID_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let digits = id.as_str().rsplit_once('-').map(|(_, digits)| digits).filter(is_hex);
    digits.unwrap_or(id.as_str()).to_owned()
}
