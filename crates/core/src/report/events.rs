//! Run events: the contract of every screen and stream.
//!
//! Events derive from journal entries alone, so a live run, a run watched from another process
//! and a replay look the same. `docs/events.md` lists them for users.

use serde::Serialize;

use crate::model::ask::{
    AskPurpose, CallDispatch, CallErrorType, ModelReply, RequestParameter, TransportFallback,
    TransportKind,
};
use crate::model::dialogue::TerminalState;
use crate::model::ids::{ExpertSlug, VerdictId};
use crate::model::journal::JournalEvent;
use crate::model::plan::{Plan, Seat, SeatRole, SettingChange};
use crate::model::run_state::{
    BudgetShortage, ParseOutcome, ReplyDocument, RoundShortcut, RunState, RunStopReason,
};
use crate::model::string_enum::words;
use crate::model::verdict::{VerdictType, VoteTally};
use crate::protocols::conclusion::document::AuditVerdict;
use crate::protocols::conclusion::next::{SECOND_AUDIT, audit_trail, plain_round};
use crate::protocols::conclusion::types::{AuditObjection, Conclusion, ConclusionField};
use crate::protocols::council::report_types::CouncilFinalReport;
use crate::protocols::council::types::{
    OpinionReply, OpinionStance, QuestionMode, RatingLevel, ReportOutcome,
};
use crate::protocols::review::policy::{
    BlockTally, ReviewDecision, ReviewVerdict, VerdictOverride,
};
use crate::protocols::review::types::{DeliberatorJudgement, DeliberatorVerdict};
use crate::report::dialogue_events::{JudgedRound, PanelSeatEvent, dialogue_event};
use crate::report::interventions::InterventionSummary;
use crate::report::run_metrics::to_dollars;

/// What a run may use at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LimitSummary {
    pub usd_max: f64,
    pub tokens_max: u64,
    pub calls_max: u32,
    pub wall_max_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    Opened {
        title: String,
        question: String,
        mode: QuestionMode,
        rehearsal: bool,
        seats: Vec<SeatSummary>,
        limits: LimitSummary,
    },
    Started {
        start: usize,
    },
    /// A seat resumes with corrected settings.
    SeatChanged {
        seat: ExpertSlug,
        changes: Vec<SettingChange>,
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
        /// Parameters that the server refused earlier, left out of this call.
        without: Vec<RequestParameter>,
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
        /// The parameter that the server refused; the next call leaves it out.
        refused: Option<RequestParameter>,
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
        /// The Judge's title, score and summary of a round of an alignment dialogue.
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        judged: Option<JudgedRound>,
    },
    /// The Judge of an alignment dialogue set the panel of a round.
    PanelSet {
        round: u8,
        experts: Vec<PanelSeatEvent>,
    },
    VerdictGiven {
        verdict_id: VerdictId,
        verdict_type: VerdictType,
        recommendation: String,
        vote: Option<VoteTally>,
        forced: bool,
    },
    /// Experts that the Judge designed or drew, with the models that play them.
    SeatsAdded {
        seats: Vec<SeatSummary>,
    },
    /// The record refused what followed from the Judge's reply; the Judge fixes it.
    Refused {
        ask: AskSummary,
        reason: String,
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
        verdict: ReviewVerdict,
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

/// The events of one journal entry, which is already applied to the run state.
pub fn derive_events(state: &RunState, changes: &[JournalEvent]) -> Vec<RunEvent> {
    changes.iter().filter_map(|change| derive_event(state, change)).collect()
}

#[expect(clippy::too_many_lines, reason = "one arm for each event")]
fn derive_event(state: &RunState, change: &JournalEvent) -> Option<RunEvent> {
    if let Some(event) = dialogue_event(state.opening.protocol, change) {
        return Some(event);
    }
    Some(match change {
        JournalEvent::RunPlanned(plan) => opened_event(state, plan),
        JournalEvent::SeatChanged { seat, changes } => {
            RunEvent::SeatChanged { seat: seat.name.clone(), changes: changes.clone() }
        }
        JournalEvent::SeatsAdded { seats } => {
            RunEvent::SeatsAdded { seats: seats.iter().map(seat_summary).collect() }
        }
        JournalEvent::BatchRefused { ask, reason } => {
            RunEvent::Refused { ask: ask_summary(state, *ask)?, reason: reason.clone() }
        }
        JournalEvent::RunStarted { .. } => RunEvent::Started { start: state.owners.len() },
        JournalEvent::AskPrepared { ask, .. } => {
            RunEvent::Asked { ask: ask_summary(state, ask.id)?, stricter: ask.retry_reason.clone() }
        }
        JournalEvent::CallSent(sending) => {
            call_sent_event(ask_summary(state, sending.ask)?, sending)
        }
        JournalEvent::ReplyKept { call, reply } => {
            replied_event(ask_of_call(state, *call)?, *call, reply)
        }
        JournalEvent::CallFailed { call, failure, gave_up } => RunEvent::CallFailed {
            ask: ask_of_call(state, *call)?,
            call: *call,
            error_type: failure.error_type,
            message: failure.message.clone(),
            gave_up: *gave_up,
            refused: failure.refused,
        },
        JournalEvent::ReplyParsed { ask, reading } => {
            outcome_event(state, ask_summary(state, *ask)?, reading)
        }
        JournalEvent::AskNotSent { ask, shortage } => {
            RunEvent::NotSent { ask: ask_summary(state, *ask)?, shortage: *shortage }
        }
        JournalEvent::ShortcutRecorded(shortcut) => RunEvent::Shortcut(shortcut.clone()),
        JournalEvent::ReportGiven(report) => reported_event(report),
        JournalEvent::Intervened { round, intervention } => {
            RunEvent::Intervened(InterventionSummary::from_intervention(*round, intervention))
        }
        JournalEvent::Concluded(ending) => RunEvent::Concluded {
            terminal_state: ending.terminal_state,
            recommendation: ending.delivered_conclusion().map(|given| given.recommendation.clone()),
        },
        // A run stopped while it wrote its report may still have finished; ignore such a stop.
        JournalEvent::RunStopped(stop) if state.stopped.as_ref() != Some(stop) => return None,
        JournalEvent::RunStopped(stop) => RunEvent::Stopped(stop.clone()),
        JournalEvent::ReviewDecided(ruling) => RunEvent::Ruled {
            verdict: ruling.verdict,
            policy: ruling.tally,
            revision_brief: ruling.adjudication.revision_brief.clone(),
        },
        JournalEvent::DialogueOpened(_)
        | JournalEvent::CapsSet { .. }
        | JournalEvent::SharedBlockPrepared(_)
        | JournalEvent::PoolGiven { .. }
        | JournalEvent::BackgroundGiven { .. }
        | JournalEvent::RoundRecorded { .. }
        | JournalEvent::VerdictLogged(_)
        | JournalEvent::VerdictOverridden(_)
        | JournalEvent::ExpertAdded(_)
        | JournalEvent::ExpertJoined { .. }
        | JournalEvent::PanelSet { .. }
        | JournalEvent::ScoreGiven { .. }
        | JournalEvent::RawReplyKept { .. }
        | JournalEvent::EntityAdded(_)
        | JournalEvent::ReferenceAdded(_)
        | JournalEvent::EventAdded(_)
        | JournalEvent::MoveMade(_)
        | JournalEvent::BatchAnswered { .. }
        | JournalEvent::VerdictGiven(_)
        | JournalEvent::ConclusionPlanned { .. }
        | JournalEvent::ConclusionBegun { .. }
        | JournalEvent::StageReached { .. }
        | JournalEvent::OutcomeRecorded(_)
        | JournalEvent::LibraryChanged(_)
        | JournalEvent::ConstraintAdded(_)
        | JournalEvent::EthosSaved(_)
        | JournalEvent::RuleChallenged(_)
        | JournalEvent::StatusSet { .. } => return None,
    })
}

fn opened_event(state: &RunState, plan: &Plan) -> RunEvent {
    RunEvent::Opened {
        title: state.opening.title.clone(),
        question: state.question().to_owned(),
        mode: plan.mode,
        rehearsal: state.opening.rehearsal,
        seats: plan.seats.iter().map(seat_summary).collect(),
        limits: LimitSummary {
            usd_max: to_dollars(plan.caps.usd_micros),
            tokens_max: plan.caps.tokens,
            calls_max: plan.caps.calls,
            wall_max_ms: plan.caps.wall_ms,
        },
    }
}

fn call_sent_event(ask: AskSummary, sending: &CallDispatch) -> RunEvent {
    RunEvent::CallSent {
        ask,
        call: sending.call,
        transport: sending.transport,
        attempt: sending.attempt,
        fallback: sending.fallback.clone(),
        repeats: sending.repeats,
        without: sending.without.clone(),
    }
}

fn replied_event(ask: AskSummary, call: u32, reply: &ModelReply) -> RunEvent {
    RunEvent::Replied {
        ask,
        call,
        latency_ms: reply.latency_ms,
        tokens_in: reply.usage.map(|usage| usage.input_tokens),
        tokens_out: reply.usage.map(|usage| usage.output_tokens),
        cost_usd: reply.cost.usd_micros.map(to_dollars),
    }
}

fn reported_event(given: &CouncilFinalReport) -> RunEvent {
    RunEvent::Reported {
        outcome: given.report.conclusion.outcome,
        statement: given.report.conclusion.statement.clone(),
        chair: given.chair_provider.clone(),
        fallback: given.fallback,
    }
}

fn seat_summary(seat: &Seat) -> SeatSummary {
    SeatSummary {
        seat: seat.name.clone(),
        model: seat.model.clone(),
        family: seat.family.clone(),
        roles: seat.roles.clone(),
    }
}

pub(crate) fn ask_summary(state: &RunState, ask: u32) -> Option<AskSummary> {
    let ask = &state.find_ask(ask)?.ask;
    Some(AskSummary { id: ask.id, round: ask.round, seat: ask.seat.clone(), purpose: ask.purpose })
}

fn ask_of_call(state: &RunState, call: u32) -> Option<AskSummary> {
    let sent = state.all_calls().find(|sent| sent.dispatch.call == call)?;
    ask_summary(state, sent.dispatch.ask)
}

pub(crate) fn outcome_event(state: &RunState, ask: AskSummary, reading: &ParseOutcome) -> RunEvent {
    match reading {
        ParseOutcome::Parsed { document, repaired, truncated } => document_event(
            state,
            ask,
            document,
            ReplyCondition { repaired: *repaired, truncated: *truncated },
        ),
        ParseOutcome::Unreadable { reason, refusal } => {
            RunEvent::Unreadable { ask, reason: reason.clone(), refusal: *refusal }
        }
    }
}

/// Whether a reply was repaired or truncated.
#[derive(Clone, Copy)]
struct ReplyCondition {
    repaired: bool,
    truncated: bool,
}

fn document_event(
    state: &RunState,
    ask: AskSummary,
    document: &ReplyDocument,
    condition: ReplyCondition,
) -> RunEvent {
    // Truncated replies are used only in the rounds of a council.
    let ReplyCondition { repaired, .. } = condition;
    match document {
        ReplyDocument::Opinion(opinion) => read_event(ask, Some(opinion), condition),
        ReplyDocument::PeerReview(_)
        | ReplyDocument::Report(_)
        | ReplyDocument::Design(_)
        | ReplyDocument::Panel(_)
        | ReplyDocument::Contribution(_)
        | ReplyDocument::Reconciliation(_)
        | ReplyDocument::Verdicts(_)
        | ReplyDocument::Other(_) => read_event(ask, None, condition),
        ReplyDocument::Judgement(judgement) => judged_event(ask, judgement, repaired),
        ReplyDocument::Adjudication(given) => {
            let (final_verdict, downgrade) = (given.final_verdict, given.downgrade);
            RunEvent::Adjudicated {
                ask,
                word: AdjudicationSummary { final_verdict, downgrade, repaired },
            }
        }
        ReplyDocument::Conclusion(conclusion) => {
            let recommendation = conclusion.recommendation.clone();
            RunEvent::Drafted { ask, recommendation, repaired }
        }
        ReplyDocument::Audit(audit) => audited_event(ask, audit.objections()),
        ReplyDocument::Revision(conclusion) => revised_event(state, ask, conclusion, repaired),
    }
}

fn read_event(
    ask: AskSummary,
    opinion: Option<&OpinionReply>,
    condition: ReplyCondition,
) -> RunEvent {
    RunEvent::Read {
        ask,
        stance: opinion.map(|opinion| opinion.stance),
        confidence: opinion.map(|opinion| opinion.confidence),
        repaired: condition.repaired,
        truncated: condition.truncated,
    }
}

fn judged_event(ask: AskSummary, judgement: &DeliberatorJudgement, repaired: bool) -> RunEvent {
    let judged = JudgementSummary {
        verdict: judgement.verdict,
        would_block: judgement.would_block,
        irreducible: judgement.irreducible,
        concerns: judgement.concerns.len(),
        repaired,
    };
    RunEvent::Judged { ask, judged }
}

/// The objections of an audit: format check and critic.
fn audited_event(ask: AskSummary, objections: &[AuditObjection]) -> RunEvent {
    let look =
        if plain_round(ask.round) == SECOND_AUDIT { AuditRound::Second } else { AuditRound::First };
    let verdict = AuditVerdict::from_objections(objections);
    RunEvent::Audited { ask, look, verdict, objections: objections.to_vec() }
}

fn revised_event(
    state: &RunState,
    ask: AskSummary,
    conclusion: &Conclusion,
    repaired: bool,
) -> RunEvent {
    let fields = audit_trail(state).map(|trail| trail.revised_fields).unwrap_or_default();
    RunEvent::Revised { ask, fields, recommendation: conclusion.recommendation.clone(), repaired }
}

#[cfg(test)]
mod tests;
