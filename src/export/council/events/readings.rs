//! Events for parsed replies. Conclusion and review replies have their own events.

use super::event::{AdjudicationSeen, AskSeen, Event, JudgementSeen, Look};
use crate::domain::conclusion::{Conclusion, Objection};
use crate::domain::council::opinion::Opinion;
use crate::domain::gate::Judgement;
use crate::domain::transcript::{Document, Reading, Transcript};
use crate::export::conclusion::AuditVerdict;
use crate::protocols::conclusion::{SECOND_AUDIT, trail};

pub(super) fn event(transcript: &Transcript, ask: AskSeen, reading: &Reading) -> Event {
    match reading {
        Reading::Read { document, repaired, truncated } => read(
            transcript,
            ask,
            document,
            Condition { repaired: *repaired, truncated: *truncated },
        ),
        Reading::Unreadable { reason, refusal } => {
            Event::Unreadable { ask, reason: reason.clone(), refusal: *refusal }
        }
    }
}

/// Whether a reply was repaired or truncated.
#[derive(Clone, Copy)]
struct Condition {
    repaired: bool,
    truncated: bool,
}

fn read(transcript: &Transcript, ask: AskSeen, document: &Document, condition: Condition) -> Event {
    // Truncated replies are used only in the rounds of a council.
    let Condition { repaired, .. } = condition;
    match document {
        Document::Opinion(opinion) => heard(ask, Some(opinion), condition),
        Document::Review(_) | Document::Report(_) | Document::Other(_) => {
            heard(ask, None, condition)
        }
        Document::Judgement(judgement) => judged(ask, judgement, repaired),
        Document::Adjudication(given) => {
            let (final_verdict, downgrade) = (given.final_verdict, given.downgrade);
            Event::Adjudicated {
                ask,
                word: AdjudicationSeen { final_verdict, downgrade, repaired },
            }
        }
        Document::Conclusion(conclusion) => {
            let recommendation = conclusion.recommendation.clone();
            Event::Drafted { ask, recommendation, repaired }
        }
        Document::Audit(audit) => audited(ask, audit.objections()),
        Document::Revision(conclusion) => revised(transcript, ask, conclusion, repaired),
    }
}

fn heard(ask: AskSeen, opinion: Option<&Opinion>, condition: Condition) -> Event {
    Event::Read {
        ask,
        stance: opinion.map(|opinion| opinion.stance),
        confidence: opinion.map(|opinion| opinion.confidence),
        repaired: condition.repaired,
        truncated: condition.truncated,
    }
}

fn judged(ask: AskSeen, judgement: &Judgement, repaired: bool) -> Event {
    let judged = JudgementSeen {
        verdict: judgement.verdict,
        would_block: judgement.would_block,
        irreducible: judgement.irreducible,
        concerns: judgement.concerns.len(),
        repaired,
    };
    Event::Judged { ask, judged }
}

/// The objections of an audit: format check and critic.
fn audited(ask: AskSeen, objections: &[Objection]) -> Event {
    let look = if ask.round == SECOND_AUDIT { Look::Second } else { Look::First };
    let verdict = AuditVerdict::of(objections);
    Event::Audited { ask, look, verdict, objections: objections.to_vec() }
}

fn revised(
    transcript: &Transcript,
    ask: AskSeen,
    conclusion: &Conclusion,
    repaired: bool,
) -> Event {
    let fields = trail(transcript).map(|trail| trail.revised_fields).unwrap_or_default();
    Event::Revised { ask, fields, recommendation: conclusion.recommendation.clone(), repaired }
}
