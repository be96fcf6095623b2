//! All events of a run. `docs/events.md` lists them, field by field.

use serde::Serialize;

use crate::model::ask::{AskPurpose, CallErrorType, TransportFallback, TransportKind};
use crate::model::dialogue::TerminalState;
use crate::model::ids::ExpertSlug;
use crate::model::plan::SeatRole;
use crate::model::run_state::{BudgetShortage, RoundShortcut, RunStopReason};
use crate::model::string_enum::words;
use crate::protocols::conclusion::document::AuditVerdict;
use crate::protocols::conclusion::types::{AuditObjection, ConclusionField};
use crate::protocols::council::types::{OpinionStance, QuestionMode, RatingLevel, ReportOutcome};
use crate::protocols::review::policy::{BlockTally, FinalVerdict, ReviewDecision, VerdictOverride};
use crate::protocols::review::types::DeliberatorVerdict;
use crate::report::interventions::InterventionSummary;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    Opened {
        title: String,
        question: String,
        mode: QuestionMode,
        rehearsal: bool,
        seats: Vec<SeatSummary>,
    },
    Started {
        start: usize,
    },
    Asked {
        ask: AskSummary,
        stricter: Option<String>,
    },
    CallSent {
        ask: AskSummary,
        call: u32,
        transport: TransportKind,
        attempt: u8,
        fallback: Option<TransportFallback>,
        repeats: Option<u32>,
    },
    Replied {
        ask: AskSummary,
        call: u32,
        latency_ms: u64,
        tokens_in: Option<u64>,
        tokens_out: Option<u64>,
        cost_usd: Option<f64>,
    },
    CallFailed {
        ask: AskSummary,
        call: u32,
        error_type: CallErrorType,
        message: String,
        gave_up: bool,
    },
    Read {
        ask: AskSummary,
        stance: Option<OpinionStance>,
        confidence: Option<RatingLevel>,
        repaired: bool,
        /// The reply was truncated twice and is used as it is.
        truncated: bool,
    },
    Unreadable {
        ask: AskSummary,
        reason: String,
        refusal: bool,
    },
    NotSent {
        ask: AskSummary,
        shortage: BudgetShortage,
    },
    Shortcut(RoundShortcut),
    RoundHeld {
        round: u8,
    },
    Reported {
        outcome: ReportOutcome,
        statement: String,
        chair: Option<ExpertSlug>,
        fallback: bool,
    },
    Intervened(InterventionSummary),
    Drafted {
        ask: AskSummary,
        recommendation: String,
        repaired: bool,
    },
    Audited {
        ask: AskSummary,
        look: AuditRound,
        verdict: AuditVerdict,
        objections: Vec<AuditObjection>,
    },
    Revised {
        ask: AskSummary,
        fields: Vec<ConclusionField>,
        recommendation: String,
        repaired: bool,
    },
    Concluded {
        terminal_state: Option<TerminalState>,
        recommendation: Option<String>,
    },
    Judged {
        ask: AskSummary,
        #[serde(flatten)]
        judged: JudgementSummary,
    },
    Adjudicated {
        ask: AskSummary,
        #[serde(flatten)]
        word: AdjudicationSummary,
    },
    Ruled {
        verdict: ReviewDecision,
        policy: BlockTally,
        revision_brief: String,
    },
    Logged {
        verdict_id: Option<String>,
        verdict: FinalVerdict,
    },
    Overridden(VerdictOverride),
    Stopped(RunStopReason),
}

words! {
    /// Which of the critic's two audits.
    pub enum AuditRound {
        First = "first",
        Second = "second",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeatSummary {
    pub seat: ExpertSlug,
    pub model: String,
    pub family: String,
    pub roles: Vec<SeatRole>,
}

/// The main facts of a deliberator's judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgementSummary {
    pub verdict: DeliberatorVerdict,
    pub would_block: bool,
    pub irreducible: bool,
    /// Number of concerns.
    pub concerns: usize,
    pub repaired: bool,
}

/// The adjudicator's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AdjudicationSummary {
    pub final_verdict: ReviewDecision,
    pub downgrade: bool,
    pub repaired: bool,
}

/// The ask that an event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskSummary {
    pub id: u32,
    pub round: u8,
    pub seat: ExpertSlug,
    pub purpose: AskPurpose,
}
