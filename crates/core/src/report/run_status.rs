//! How a run ended: status, error code, message and suggestion.

use serde::Serialize;

use crate::model::dialogue::ConclusionStage;
use crate::model::run_state::{BudgetShortage, RunState, RunStopReason};
use crate::model::string_enum::words;
use crate::protocols::conclusion::next::revised_conclusion;

words! {
    /// `incomplete` can be resumed; `failed` means that no seat answered.
    pub enum CompletionStatus {
        Done = "done",
        Incomplete = "incomplete",
        Failed = "failed",
    }
}

pub fn completion_status(transcript: &RunState) -> CompletionStatus {
    match &transcript.stopped {
        Some(RunStopReason::Done) => CompletionStatus::Done,
        Some(RunStopReason::Quorum { .. } | RunStopReason::Partial { .. })
            if transcript.seats_answered_in(1).is_empty() =>
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
            | RunStopReason::Deadline
            | RunStopReason::Interrupted,
        )
        | None => CompletionStatus::Incomplete,
    }
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
        BudgetShortage::Money => format!("{resume} with more, for example `--budget-usd 5`"),
        BudgetShortage::Batch => format!("{resume} continues with a budget of its own"),
        BudgetShortage::Tokens | BudgetShortage::Calls => {
            format!("raise `budget.{shortage}` in council.yaml, then {resume}")
        }
        BudgetShortage::ServerMoney => format!(
            "resume it after 00:00 UTC, or raise `budget.{shortage}` in council.yaml; on the \
             command line {resume} is not bound by this limit"
        ),
    }
}

/// The notice for an unfinished run; `None` for a finished one.
pub fn stop_notice(transcript: &RunState) -> Option<StopNotice> {
    if transcript.is_abandoned && transcript.stopped != Some(RunStopReason::Done) {
        return Some(StopNotice {
            error_code: ABANDONED,
            message: "it was abandoned".to_owned(),
            suggestion: "nothing goes on with it; what there is stays".to_owned(),
        });
    }
    describe_stop(transcript)
}

fn describe_stop(transcript: &RunState) -> Option<StopNotice> {
    let id = &transcript.opening.dialogue_id;
    let resume = format!("`plenary resume {id}`");
    let (error_code, message, suggestion) = match transcript.stopped.as_ref() {
        Some(RunStopReason::Done) => return None,
        Some(RunStopReason::Quorum { round, heard, needed }) => (
            "quorum_not_met",
            format!("round {round} needs {needed} who can be heard, and had {heard}"),
            format!("see what failed, mend it, then {resume} asks those again"),
        ),
        Some(RunStopReason::Families { heard, needed }) => (
            "families_not_met",
            format!("{heard} families of models were heard, and {needed} are needed"),
            format!("add a provider of another family, or {resume} when it is back"),
        ),
        Some(RunStopReason::Partial { round, seat }) => (
            "partial_not_allowed",
            format!("{seat} failed in round {round}, and `allow_partial` is false"),
            format!("see what failed, mend it, then {resume}"),
        ),
        Some(RunStopReason::Budget { shortage }) => (
            "budget_exhausted",
            format!("what is left of {} does not cover the next call", shortage.describe_budget()),
            budget_hint(*shortage, &resume),
        ),
        Some(RunStopReason::Unconcluded { stage, seat, reason })
            if is_critic_missing(transcript, *stage) =>
        {
            (
                "audit_unavailable",
                format!("the conclusion could not be audited: {seat}: {reason}"),
                format!("nothing is called Clean without it; {resume} asks the critic again"),
            )
        }
        Some(RunStopReason::Unconcluded { stage: ConclusionStage::Concluding, seat, reason }) => (
            "synthesis_unavailable",
            format!("no conclusion that can be used was written: {seat}: {reason}"),
            format!("what was said is kept; {resume} asks for it again"),
        ),
        Some(RunStopReason::Unconcluded {
            stage: ConclusionStage::Revising | ConclusionStage::Auditing,
            seat,
            reason,
        }) => (
            "revision_unavailable",
            format!("the conclusion was objected to, and could not be mended: {seat}: {reason}"),
            format!("{resume} asks for the revision again"),
        ),
        Some(RunStopReason::Unadjudicated { seat, reason }) => (
            "adjudication_unavailable",
            format!("nothing was decided: {seat}: {reason}"),
            format!("the gate stays closed; {resume} asks the adjudicator again"),
        ),
        Some(RunStopReason::Deadline) => (
            "deadline_exceeded",
            "the deadline came first".to_owned(),
            format!("nothing that was answered is lost: {resume}"),
        ),
        Some(RunStopReason::Interrupted) => (
            "interrupted",
            "the run was interrupted".to_owned(),
            format!("nothing that was answered is lost: {resume}"),
        ),
        None => (
            "unfinished",
            "the run is not finished".to_owned(),
            format!("`plenary watch {id}` follows it if it runs; else {resume}"),
        ),
    };
    Some(StopNotice { error_code, message, suggestion })
}

/// Whether the critic's reply is missing, in the first audit or after the revision.
fn is_critic_missing(transcript: &RunState, stage: ConclusionStage) -> bool {
    match stage {
        ConclusionStage::Concluding => false,
        ConclusionStage::Auditing => true,
        ConclusionStage::Revising => revised_conclusion(transcript).is_some(),
    }
}
