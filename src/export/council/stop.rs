//! How a run ended: status, error code, message and suggestion.

use serde::Serialize;

use crate::domain::dialogue::Stage;
use crate::domain::transcript::{Shortage, Stop, Transcript};
use crate::domain::words::words;
use crate::protocols::conclusion::revised;

words! {
    /// `incomplete` can be resumed; `failed` means that no seat answered.
    pub enum Status {
        Done = "done",
        Incomplete = "incomplete",
        Failed = "failed",
    }
}

pub fn status(transcript: &Transcript) -> Status {
    match &transcript.stopped {
        Some(Stop::Done) => Status::Done,
        Some(Stop::Quorum { .. } | Stop::Partial { .. }) if transcript.heard_in(1).is_empty() => {
            Status::Failed
        }
        Some(
            Stop::Quorum { .. }
            | Stop::Partial { .. }
            | Stop::Families { .. }
            | Stop::Budget { .. }
            | Stop::Unconcluded { .. }
            | Stop::Unadjudicated { .. }
            | Stop::Deadline
            | Stop::Interrupted,
        )
        | None => Status::Incomplete,
    }
}

/// Why a run did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stopped {
    pub error_code: &'static str,
    pub message: String,
    pub suggestion: String,
}

const ABANDONED: &str = "abandoned";

impl Stopped {
    /// Whether the run was abandoned and cannot be resumed.
    pub fn is_abandoned(&self) -> bool {
        self.error_code == ABANDONED
    }
}

fn more_of(shortage: Shortage, resume: &str) -> String {
    match shortage {
        Shortage::Money => format!("{resume} with more, for example `--budget-usd 5`"),
        Shortage::Batch => format!("{resume} continues with a budget of its own"),
        Shortage::Tokens | Shortage::Calls => {
            format!("raise `budget.{shortage}` in council.yaml, then {resume}")
        }
        Shortage::ServerMoney => format!(
            "resume it after 00:00 UTC, or raise `budget.{shortage}` in council.yaml; on the \
             command line {resume} is not bound by this limit"
        ),
    }
}

/// The notice for an unfinished run; `None` for a finished one.
pub fn stopped(transcript: &Transcript) -> Option<Stopped> {
    if transcript.is_abandoned && transcript.stopped != Some(Stop::Done) {
        return Some(Stopped {
            error_code: ABANDONED,
            message: "it was abandoned".to_owned(),
            suggestion: "nothing goes on with it; what there is stays".to_owned(),
        });
    }
    by_itself(transcript)
}

fn by_itself(transcript: &Transcript) -> Option<Stopped> {
    let id = &transcript.opening.dialogue_id;
    let resume = format!("`plenary resume {id}`");
    let (error_code, message, suggestion) = match transcript.stopped.as_ref() {
        Some(Stop::Done) => return None,
        Some(Stop::Quorum { round, heard, needed }) => (
            "quorum_not_met",
            format!("round {round} needs {needed} who can be heard, and had {heard}"),
            format!("see what failed, mend it, then {resume} asks those again"),
        ),
        Some(Stop::Families { heard, needed }) => (
            "families_not_met",
            format!("{heard} families of models were heard, and {needed} are needed"),
            format!("add a provider of another family, or {resume} when it is back"),
        ),
        Some(Stop::Partial { round, seat }) => (
            "partial_not_allowed",
            format!("{seat} failed in round {round}, and `allow_partial` is false"),
            format!("see what failed, mend it, then {resume}"),
        ),
        Some(Stop::Budget { shortage }) => (
            "budget_exhausted",
            format!("what is left of {} does not cover the next call", shortage.described()),
            more_of(*shortage, &resume),
        ),
        Some(Stop::Unconcluded { stage, seat, reason })
            if is_for_the_critic(transcript, *stage) =>
        {
            (
                "audit_unavailable",
                format!("the conclusion could not be audited: {seat}: {reason}"),
                format!("nothing is called Clean without it; {resume} asks the critic again"),
            )
        }
        Some(Stop::Unconcluded { stage: Stage::Concluding, seat, reason }) => (
            "synthesis_unavailable",
            format!("no conclusion that can be used was written: {seat}: {reason}"),
            format!("what was said is kept; {resume} asks for it again"),
        ),
        Some(Stop::Unconcluded { stage: Stage::Revising | Stage::Auditing, seat, reason }) => (
            "revision_unavailable",
            format!("the conclusion was objected to, and could not be mended: {seat}: {reason}"),
            format!("{resume} asks for the revision again"),
        ),
        Some(Stop::Unadjudicated { seat, reason }) => (
            "adjudication_unavailable",
            format!("nothing was decided: {seat}: {reason}"),
            format!("the gate stays closed; {resume} asks the adjudicator again"),
        ),
        Some(Stop::Deadline) => (
            "deadline_exceeded",
            "the deadline came first".to_owned(),
            format!("nothing that was answered is lost: {resume}"),
        ),
        Some(Stop::Interrupted) => (
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
    Some(Stopped { error_code, message, suggestion })
}

/// Whether the critic's reply is missing, in the first audit or after the revision.
fn is_for_the_critic(transcript: &Transcript, stage: Stage) -> bool {
    match stage {
        Stage::Concluding => false,
        Stage::Auditing => true,
        Stage::Revising => revised(transcript).is_some(),
    }
}
