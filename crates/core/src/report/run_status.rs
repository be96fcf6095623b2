//! How a run ended: status, error code, message and suggestion.

use serde::Serialize;

use crate::model::ask::AskState;
use crate::model::dialogue::ConclusionStage;
use crate::model::run_state::{BudgetShortage, RunState, RunStopReason};
use crate::model::string_enum::words;
use crate::model::time::show_duration;
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

/// The status as a page says it.
pub(crate) fn status_word(state: &RunState) -> &'static str {
    if state.is_running { "running" } else { completion_status(state).name() }
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
    if state.is_running {
        return Some(StopNotice {
            error_code: "running",
            message: "a process works on the run".to_owned(),
            suggestion: format!("to follow it: `plenary watch {}`", state.opening.dialogue_id),
        });
    }
    describe_stop(state)
}

fn describe_stop(state: &RunState) -> Option<StopNotice> {
    let Some(stop) = &state.stopped else { return Some(unfinished_notice(state)) };
    Some(StopNotice {
        error_code: error_code(state, stop)?,
        message: stop_message(state, stop),
        suggestion: stop_suggestion(state, stop),
    })
}

fn unfinished_notice(state: &RunState) -> StopNotice {
    let id = &state.opening.dialogue_id;
    StopNotice {
        error_code: "unfinished",
        message: "the run is not finished".to_owned(),
        suggestion: format!(
            "Plenary kept all answers. If no process works on the run, continue it: \
             `plenary resume {id}`"
        ),
    }
}

/// None for a run that is done.
fn error_code(state: &RunState, stop: &RunStopReason) -> Option<&'static str> {
    Some(match stop {
        RunStopReason::Done => return None,
        RunStopReason::Quorum { .. } => "quorum_not_met",
        RunStopReason::Families { .. } => "families_not_met",
        RunStopReason::Partial { .. } => "partial_not_allowed",
        RunStopReason::Budget { .. } => "budget_exhausted",
        RunStopReason::Unconcluded { stage, .. } => match missing_part(state, *stage) {
            MissingPart::Audit => "audit_unavailable",
            MissingPart::Synthesis => "synthesis_unavailable",
            MissingPart::Revision => "revision_unavailable",
        },
        RunStopReason::Unadjudicated { .. } => "adjudication_unavailable",
        RunStopReason::Unjudged { .. } => "judge_unavailable",
        RunStopReason::Stopped => "stopped",
        RunStopReason::Uncalibrated { .. } => "ethos_conflict_open",
        RunStopReason::Deadline => "deadline_exceeded",
        RunStopReason::Interrupted => "interrupted",
    })
}

fn stop_message(state: &RunState, stop: &RunStopReason) -> String {
    match stop {
        RunStopReason::Done => "the run is done".to_owned(),
        RunStopReason::Quorum { round, heard, needed } => {
            let needed = count_noun(*needed, "answer");
            format!("round {round} needs at least {needed} and got {heard}")
        }
        RunStopReason::Families { heard, needed } => {
            format!("the answers come from {heard} model families; `families_min` is {needed}")
        }
        RunStopReason::Partial { round, seat } => {
            format!("{seat} failed in round {round}, and `allow_partial` is false")
        }
        RunStopReason::Budget { shortage } => {
            let short = shortage.describe_budget();
            let short = format!("what is left of {short} does not cover the next call");
            failed_seats(state).map_or_else(|| short.clone(), |failed| format!("{failed}; {short}"))
        }
        RunStopReason::Unconcluded { stage, seat, reason } => {
            let what = match missing_part(state, *stage) {
                MissingPart::Audit => "the conclusion could not be audited",
                MissingPart::Synthesis => "the synthesizer wrote no usable conclusion",
                MissingPart::Revision => "the conclusion could not be revised",
            };
            format!("{what}: {seat}: {reason}")
        }
        RunStopReason::Unadjudicated { seat, reason } => {
            format!("the adjudicator gave no verdict: {seat}: {reason}")
        }
        RunStopReason::Unjudged { seat, reason } => {
            format!("the Judge ({seat}) gave no usable answer: {reason}")
        }
        RunStopReason::Stopped => {
            "the dialogue was stopped before its first round was registered".to_owned()
        }
        RunStopReason::Uncalibrated { ethos, conflicts } => {
            let conflicts = count_noun(*conflicts, "conflict");
            format!("{ethos} has {conflicts} that only a person can resolve")
        }
        RunStopReason::Deadline => deadline_message(state),
        RunStopReason::Interrupted => "the run was interrupted".to_owned(),
    }
}

/// The seats whose calls failed for good, and why the first of them did.
fn failed_seats(state: &RunState) -> Option<String> {
    let failed = state.asks.iter().filter(|asked| asked.gave_up && !asked.retired);
    let failed: Vec<&AskState> = failed.filter(|asked| asked.last_failure().is_some()).collect();
    let (failure, _) = failed.first()?.last_failure()?;
    let names: Vec<&str> = failed.iter().map(|asked| asked.ask.seat.as_str()).collect();
    Some(format!("{} failed ({})", names.join(" and "), failure.message))
}

/// What to do. It ends with the command that resumes the run.
fn stop_suggestion(state: &RunState, stop: &RunStopReason) -> String {
    let resume = format!("`plenary resume {}`", state.opening.dialogue_id);
    let advice = match stop {
        RunStopReason::Budget { shortage } => return budget_hint(*shortage, &resume),
        RunStopReason::Uncalibrated { ethos, .. } => format!(
            "`plenary ethos show {ethos}` lists them; `plenary ethos resolve {ethos} 1 --as \
             a_supersedes --why …` resolves one; then"
        ),
        RunStopReason::Quorum { .. } => {
            "fix what failed, then ask the missing seats again".to_owned()
        }
        RunStopReason::Families { .. } => {
            "add a provider of another family, or wait until it answers again, then".to_owned()
        }
        RunStopReason::Partial { .. } => "fix what failed, then".to_owned(),
        RunStopReason::Unconcluded { stage, .. } => match missing_part(state, *stage) {
            MissingPart::Audit => {
                "without an audit no conclusion is Clean. To ask the critic again".to_owned()
            }
            MissingPart::Synthesis => {
                "all replies are kept. To ask for the conclusion again".to_owned()
            }
            MissingPart::Revision => "to ask for the revision again".to_owned(),
        },
        RunStopReason::Unadjudicated { .. } => {
            "the document does not pass. To ask the adjudicator again".to_owned()
        }
        RunStopReason::Unjudged { .. } => {
            "Plenary kept all answers. To ask the Judge again".to_owned()
        }
        RunStopReason::Done
        | RunStopReason::Stopped
        | RunStopReason::Deadline
        | RunStopReason::Interrupted => "Plenary kept all answers. To continue".to_owned(),
    };
    format!("{advice}: {resume}")
}

/// The part of a conclusion that no seat delivered.
#[derive(Debug, Clone, Copy)]
enum MissingPart {
    Synthesis,
    Audit,
    Revision,
}

fn missing_part(state: &RunState, stage: ConclusionStage) -> MissingPart {
    match stage {
        ConclusionStage::Concluding => MissingPart::Synthesis,
        ConclusionStage::Auditing => MissingPart::Audit,
        // The second audit belongs to the stage of the revision.
        ConclusionStage::Revising if revised_conclusion(state).is_some() => MissingPart::Audit,
        ConclusionStage::Revising => MissingPart::Revision,
    }
}

/// `the run reached its deadline of 5 ms`: a short one was probably meant in seconds.
fn deadline_message(state: &RunState) -> String {
    let limit = show_duration(state.plan.caps.wall_ms);
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
