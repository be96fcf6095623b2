//! How a run ended: status, error code, message and suggestion.

use serde::Serialize;

use crate::model::dialogue::ConclusionStage;
use crate::model::run_state::{BudgetShortage, RunState, RunStopReason};
use crate::model::string_enum::words;
use crate::protocols::conclusion::next::revised_conclusion;
use crate::report::phrases::count_noun;

words! {
    /// `incomplete` can be resumed; `failed` means that no seat answered.
    pub enum CompletionStatus {
        Done = "done",
        Incomplete = "incomplete",
        Failed = "failed",
    }
}

pub fn completion_status(state: &RunState) -> CompletionStatus {
    match &state.stopped {
        Some(RunStopReason::Done) => CompletionStatus::Done,
        Some(RunStopReason::Quorum { .. } | RunStopReason::Partial { .. })
            if state.seats_answered_in(first_round(state)).is_empty() =>
        {
            CompletionStatus::Failed
        }
        Some(
            RunStopReason::Quorum { .. }
            | RunStopReason::Partial { .. }
            | RunStopReason::Families { .. }
            | RunStopReason::Budget { .. }
            | RunStopReason::Unconcluded { .. }
            | RunStopReason::Unadjudicated { .. }
            | RunStopReason::Unjudged { .. }
            | RunStopReason::Stopped
            | RunStopReason::Uncalibrated { .. }
            | RunStopReason::Deadline
            | RunStopReason::Interrupted,
        )
        | None => CompletionStatus::Incomplete,
    }
}

/// The first round in which seats answer.
fn first_round(state: &RunState) -> u8 {
    if state.alignment.is_some() { 0 } else { 1 }
}

/// Why a run did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopNotice {
    pub error_code: &'static str,
    pub message: String,
    pub suggestion: String,
}

const ABANDONED: &str = "abandoned";

impl StopNotice {
    /// Whether the run was abandoned and cannot be resumed.
    pub fn is_abandoned(&self) -> bool {
        self.error_code == ABANDONED
    }
}

fn budget_hint(shortage: BudgetShortage, resume: &str) -> String {
    match shortage {
        BudgetShortage::Money => {
            let more = resume.trim_end_matches('`');
            format!("give the run a higher limit, for example: {more} --budget-usd 5`")
        }
        BudgetShortage::Batch => {
            format!("to continue it with a budget of its own, outside the batch: {resume}")
        }
        BudgetShortage::Tokens | BudgetShortage::Calls => {
            format!("raise `budget.{shortage}` in council.yaml, then: {resume}")
        }
        BudgetShortage::ServerMoney => format!(
            "resume it after 00:00 UTC, or raise `budget.{shortage}` in council.yaml; on the command \
             line this limit does not apply: {resume}"
        ),
    }
}

/// The notice for an unfinished run; `None` for a finished one.
pub fn stop_notice(state: &RunState) -> Option<StopNotice> {
    if state.is_abandoned && state.stopped != Some(RunStopReason::Done) {
        return Some(StopNotice {
            error_code: ABANDONED,
            message: "the dialogue was abandoned".to_owned(),
            suggestion: "it cannot be resumed; its record is kept".to_owned(),
        });
    }
    describe_stop(state)
}

#[expect(clippy::too_many_lines, reason = "one arm for each reason")]
fn describe_stop(state: &RunState) -> Option<StopNotice> {
    let id = &state.opening.dialogue_id;
    let resume = format!("`plenary resume {id}`");
    let kept = format!("Plenary kept all answers. To continue: {resume}");
    let (error_code, message, suggestion) = match state.stopped.as_ref() {
        Some(RunStopReason::Done) => return None,
        Some(RunStopReason::Quorum { round, heard, needed }) => (
            "quorum_not_met",
            format!(
                "round {round} needs at least {} and got {heard}",
                count_noun(*needed, "answer")
            ),
            format!("fix what failed, then ask the missing seats again: {resume}"),
        ),
        Some(RunStopReason::Families { heard, needed }) => (
            "families_not_met",
            format!("the answers come from {heard} model families; `families_min` is {needed}"),
            format!(
                "add a provider of another family, or wait until it answers again, then: {resume}"
            ),
        ),
        Some(RunStopReason::Partial { round, seat }) => (
            "partial_not_allowed",
            format!("{seat} failed in round {round}, and `allow_partial` is false"),
            format!("fix what failed, then: {resume}"),
        ),
        Some(RunStopReason::Budget { shortage }) => (
            "budget_exhausted",
            format!("what is left of {} does not cover the next call", shortage.describe_budget()),
            budget_hint(*shortage, &resume),
        ),
        Some(RunStopReason::Unconcluded { stage, seat, reason })
            if is_critic_missing(state, *stage) =>
        {
            (
                "audit_unavailable",
                format!("the conclusion could not be audited: {seat}: {reason}"),
                format!(
                    "without an audit no conclusion is Clean. To ask the critic again: {resume}"
                ),
            )
        }
        Some(RunStopReason::Unconcluded { stage: ConclusionStage::Concluding, seat, reason }) => (
            "synthesis_unavailable",
            format!("the synthesizer wrote no usable conclusion: {seat}: {reason}"),
            format!("all replies are kept. To ask for the conclusion again: {resume}"),
        ),
        Some(RunStopReason::Unconcluded {
            stage: ConclusionStage::Revising | ConclusionStage::Auditing,
            seat,
            reason,
        }) => (
            "revision_unavailable",
            format!("the conclusion could not be revised: {seat}: {reason}"),
            format!("to ask for the revision again: {resume}"),
        ),
        Some(RunStopReason::Unadjudicated { seat, reason }) => (
            "adjudication_unavailable",
            format!("the adjudicator gave no verdict: {seat}: {reason}"),
            format!("the document does not pass. To ask the adjudicator again: {resume}"),
        ),
        Some(RunStopReason::Unjudged { seat, reason }) => (
            "judge_unavailable",
            format!("the Judge ({seat}) gave no usable answer: {reason}"),
            format!("Plenary kept all answers. To ask the Judge again: {resume}"),
        ),
        Some(RunStopReason::Stopped) => (
            "stopped",
            "the dialogue was stopped before its first round was registered".to_owned(),
            kept,
        ),
        Some(RunStopReason::Uncalibrated { ethos, conflicts }) => (
            "ethos_conflict_open",
            format!(
                "{ethos} has {} that only a person can resolve",
                count_noun(*conflicts, "conflict")
            ),
            format!(
                "`plenary ethos show {ethos}` lists them; `plenary ethos resolve {ethos} 1 --as \
                 a_supersedes --why …` resolves one; then: {resume}"
            ),
        ),
        Some(RunStopReason::Deadline) => ("deadline_exceeded", deadline_message(state), kept),
        Some(RunStopReason::Interrupted) => {
            ("interrupted", "the run was interrupted".to_owned(), kept)
        }
        None => (
            "unfinished",
            "the run is not finished".to_owned(),
            format!(
                "if a process works on the run, `plenary watch {id}` follows it; otherwise: {resume}"
            ),
        ),
    };
    Some(StopNotice { error_code, message, suggestion })
}

/// `the run reached its deadline of 5 ms`: a short one was probably meant in seconds.
fn deadline_message(state: &RunState) -> String {
    let limit = match state.plan.caps.wall_ms {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..120_000 => format!("{} s", ms / 1_000),
        ms => format!("{} min", ms / 60_000),
    };
    format!("the run reached its deadline of {limit}")
}

/// The sentence and the command of a suggestion that ends with a command in backquotes: a reader
/// copies the command from a line of its own.
pub fn split_command(suggestion: &str) -> (&str, Option<&str>) {
    let parts = suggestion.strip_suffix('`').and_then(|text| text.rsplit_once('`'));
    match parts {
        Some((before, command)) if before.ends_with(": ") && command.starts_with("plenary ") => {
            (before.trim_end(), Some(command))
        }
        _ => (suggestion, None),
    }
}

/// Whether the critic's reply is missing, in the first audit or after the revision.
fn is_critic_missing(state: &RunState, stage: ConclusionStage) -> bool {
    match stage {
        ConclusionStage::Concluding => false,
        ConclusionStage::Auditing => true,
        ConclusionStage::Revising => revised_conclusion(state).is_some(),
    }
}
