//! All events of a run. `docs/events.md` lists them, field by field.

use serde::Serialize;

use crate::domain::ask::{ErrorType, Fallback, Purpose, TransportKind};
use crate::domain::conclusion::{Field, Objection};
use crate::domain::council::words::{Level, Mode, Outcome, Stance};
use crate::domain::dialogue::TerminalState;
use crate::domain::gate::{Arithmetic, Decision, GateVerdict, Leaning, Override};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::Role;
use crate::domain::transcript::{Shortage, Shortcut, Stop};
use crate::domain::words::words;
use crate::export::conclusion::AuditVerdict;
use crate::export::interventions::InterventionSeen;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Opened {
        title: String,
        question: String,
        mode: Mode,
        rehearsal: bool,
        seats: Vec<SeatSeen>,
    },
    Started {
        start: usize,
    },
    Asked {
        ask: AskSeen,
        stricter: Option<String>,
    },
    CallSent {
        ask: AskSeen,
        call: u32,
        transport: TransportKind,
        attempt: u8,
        fallback: Option<Fallback>,
        repeats: Option<u32>,
    },
    Replied {
        ask: AskSeen,
        call: u32,
        latency_ms: u64,
        tokens_in: Option<u64>,
        tokens_out: Option<u64>,
        cost_usd: Option<f64>,
    },
    CallFailed {
        ask: AskSeen,
        call: u32,
        error_type: ErrorType,
        message: String,
        gave_up: bool,
    },
    Read {
        ask: AskSeen,
        stance: Option<Stance>,
        confidence: Option<Level>,
        repaired: bool,
        /// The reply was truncated twice and is used as it is.
        truncated: bool,
    },
    Unreadable {
        ask: AskSeen,
        reason: String,
        refusal: bool,
    },
    NotSent {
        ask: AskSeen,
        shortage: Shortage,
    },
    Shortcut(Shortcut),
    RoundHeld {
        round: u8,
    },
    Reported {
        outcome: Outcome,
        statement: String,
        chair: Option<ExpertSlug>,
        fallback: bool,
    },
    Intervened(InterventionSeen),
    Drafted {
        ask: AskSeen,
        recommendation: String,
        repaired: bool,
    },
    Audited {
        ask: AskSeen,
        look: Look,
        verdict: AuditVerdict,
        objections: Vec<Objection>,
    },
    Revised {
        ask: AskSeen,
        fields: Vec<Field>,
        recommendation: String,
        repaired: bool,
    },
    Concluded {
        terminal_state: Option<TerminalState>,
        recommendation: Option<String>,
    },
    Judged {
        ask: AskSeen,
        #[serde(flatten)]
        judged: JudgementSeen,
    },
    Adjudicated {
        ask: AskSeen,
        #[serde(flatten)]
        word: AdjudicationSeen,
    },
    Ruled {
        verdict: Decision,
        policy: Arithmetic,
        revision_brief: String,
    },
    Logged {
        verdict_id: Option<String>,
        verdict: GateVerdict,
    },
    Overridden(Override),
    Stopped(Stop),
}

words! {
    /// Which of the critic's two audits.
    pub enum Look {
        First = "first",
        Second = "second",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeatSeen {
    pub seat: ExpertSlug,
    pub model: String,
    pub family: String,
    pub roles: Vec<Role>,
}

/// The main facts of a deliberator's judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgementSeen {
    pub verdict: Leaning,
    pub would_block: bool,
    pub irreducible: bool,
    /// Number of concerns.
    pub concerns: usize,
    pub repaired: bool,
}

/// The adjudicator's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AdjudicationSeen {
    pub final_verdict: Decision,
    pub downgrade: bool,
    pub repaired: bool,
}

/// The ask that an event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskSeen {
    pub id: u32,
    pub round: u8,
    pub seat: ExpertSlug,
    pub purpose: Purpose,
}
