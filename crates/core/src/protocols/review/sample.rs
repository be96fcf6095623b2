//! Reviews made by hand, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::ask::{Ask, AskPurpose, CallErrorType, CallFailure};
use crate::model::dialogue::ProtocolKind;
use crate::model::journal::JournalEvent;
use crate::model::plan::Plan;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState};
use crate::protocols::review::policy::{
    AdjudicatorReply, PolicyName, ReviewDecision, ReviewPolicy,
};
use crate::protocols::review::types::{
    DeliberatorJudgement, DeliberatorPlan, DeliberatorVerdict, ReviewArtifact, ReviewConcern,
    ReviewPlan, ReviewTier,
};
use crate::protocols::sample::{moment, plan as council_plan, reply, sending};

pub(crate) const SEATS: [&str; 4] = ["skeptic", "voice_identity", "evidence", "strategy"];

pub(crate) fn plan(name: PolicyName, min_deliberators: usize) -> Plan {
    let gate = ReviewPlan {
        artifact: ReviewArtifact {
            classified: None,
            path: "posts/launch.md".to_owned(),
            artifact_type: "linkedin_post".to_owned(),
            tier: ReviewTier::Always,
            producer: None,
            sha256: "00".to_owned(),
            text: "We are the fastest.\n".to_owned(),
        },
        deliberators: SEATS
            .map(|name| DeliberatorPlan {
                seat: name.parse().unwrap(),
                instructions: None,
                context: Vec::new(),
                codes: Vec::new(),
            })
            .to_vec(),
        adjudicator: "adjudicator".parse().unwrap(),
        policy: ReviewPolicy { name, min_deliberators },
        priors: Vec::new(),
        code_counts: Vec::new(),
    };
    Plan { review: Some(Arc::new(gate)), ..council_plan() }
}

/// A new review.
pub(crate) fn begin(plan: Plan) -> RunState {
    let mut state = crate::protocols::sample::begin(plan);
    state.opening.protocol = ProtocolKind::Review;
    state
}

pub(crate) fn judgement(
    verdict: DeliberatorVerdict,
    would_block: bool,
    irreducible: bool,
) -> DeliberatorJudgement {
    DeliberatorJudgement {
        verdict,
        scores: BTreeMap::new(),
        would_block,
        irreducible,
        concerns: vec![ReviewConcern {
            locus: "fastest".to_owned(),
            issue: "Nothing supports it.".to_owned(),
            ..ReviewConcern::default()
        }],
        revision_brief: String::new(),
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    }
}

pub(crate) fn word(
    final_verdict: ReviewDecision,
    downgrade_reason: Option<&str>,
) -> AdjudicatorReply {
    AdjudicatorReply {
        final_verdict,
        reasoning: "So it is.".to_owned(),
        revision_brief: String::new(),
        downgrade: downgrade_reason.is_some(),
        downgrade_reason: downgrade_reason.map(str::to_owned),
    }
}

/// The reply of a seat in a round; none if the seat failed for good.
pub(crate) fn say(state: &mut RunState, seat: &str, round: u8, printed: Option<ReplyDocument>) {
    let purpose = match round {
        1 => AskPurpose::Judgement,
        2 => AskPurpose::CrossReading,
        _ => AskPurpose::Adjudication,
    };
    let (id, call) = (state.next_ask_id(), state.next_call_id());
    let seat = seat.parse().unwrap();
    let ask = Ask { id, round, seat, purpose, retry_reason: None };
    let mut changes = vec![
        JournalEvent::AskPrepared {
            ask,
            messages: None,
            messages_sha256: None,
            condensed: Vec::new(),
        },
        JournalEvent::CallSent(sending(call, id)),
    ];
    match printed {
        Some(document) => {
            changes.push(JournalEvent::ReplyKept { call, reply: reply() });
            let reading = ParseOutcome::Parsed { document, repaired: false, truncated: false };
            changes.push(JournalEvent::ReplyParsed { ask: id, reading });
        }
        None => {
            let failure = CallFailure {
                error_type: CallErrorType::Network,
                message: "it is down".to_owned(),
                latency_ms: 1,
                refused: None,
                estimated: None,
                arrived: None,
            };
            changes.push(JournalEvent::CallFailed { call, failure, gave_up: true });
        }
    }
    state.apply_events(moment(), &changes);
}

pub(crate) fn hold(state: &mut RunState, round: u8) {
    let held = JournalEvent::RoundRecorded { round, title: None, score: 0, summary: None };
    state.apply_events(moment(), &[held]);
}
