//! Events for parsed replies. Conclusion and review replies have their own events.

use super::event::{AdjudicationSummary, AskSummary, AuditRound, JudgementSummary, RunEvent};
use crate::domain::conclusion::{AuditObjection, Conclusion};
use crate::domain::council::opinion::OpinionReply;
use crate::domain::gate::DeliberatorJudgement;
use crate::domain::transcript::{ParseOutcome, ReplyDocument, RunState};
use crate::export::conclusion::AuditVerdict;
use crate::protocols::conclusion::{SECOND_AUDIT, audit_trail};

pub(super) fn outcome_event(
    transcript: &RunState,
    ask: AskSummary,
    reading: &ParseOutcome,
) -> RunEvent {
    match reading {
        ParseOutcome::Parsed { document, repaired, truncated } => document_event(
            transcript,
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
    transcript: &RunState,
    ask: AskSummary,
    document: &ReplyDocument,
    condition: ReplyCondition,
) -> RunEvent {
    // Truncated replies are used only in the rounds of a council.
    let ReplyCondition { repaired, .. } = condition;
    match document {
        ReplyDocument::Opinion(opinion) => read_event(ask, Some(opinion), condition),
        ReplyDocument::PeerReview(_) | ReplyDocument::Report(_) | ReplyDocument::Other(_) => {
            read_event(ask, None, condition)
        }
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
        ReplyDocument::Revision(conclusion) => revised_event(transcript, ask, conclusion, repaired),
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
    let look = if ask.round == SECOND_AUDIT { AuditRound::Second } else { AuditRound::First };
    let verdict = AuditVerdict::from_objections(objections);
    RunEvent::Audited { ask, look, verdict, objections: objections.to_vec() }
}

fn revised_event(
    transcript: &RunState,
    ask: AskSummary,
    conclusion: &Conclusion,
    repaired: bool,
) -> RunEvent {
    let fields = audit_trail(transcript).map(|trail| trail.revised_fields).unwrap_or_default();
    RunEvent::Revised { ask, fields, recommendation: conclusion.recommendation.clone(), repaired }
}
