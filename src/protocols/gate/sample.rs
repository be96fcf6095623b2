//! Reviews made by hand, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::ask::{Ask, ErrorType, Failure, Purpose};
use crate::domain::change::Change;
use crate::domain::dialogue::Protocol;
use crate::domain::gate::{
    Adjudication, Artifact, Concern, Decision, Deliberator, GatePlan, Judgement, Leaning, Policy,
    PolicyName, Tier,
};
use crate::domain::plan::Plan;
use crate::domain::transcript::{Document, Reading, Transcript};
use crate::protocols::sample::{moment, plan as council_plan, reply, sending};

pub(crate) const SEATS: [&str; 4] = ["skeptic", "voice_identity", "evidence", "strategy"];

pub(crate) fn plan(name: PolicyName, min_deliberators: usize) -> Plan {
    let gate = GatePlan {
        artifact: Artifact {
            path: "posts/launch.md".to_owned(),
            artifact_type: "linkedin_post".to_owned(),
            tier: Tier::Always,
            producer: None,
            sha256: "00".to_owned(),
            text: "We are the fastest.\n".to_owned(),
        },
        deliberators: SEATS
            .map(|name| Deliberator {
                seat: name.parse().unwrap(),
                instructions: None,
                context: Vec::new(),
            })
            .to_vec(),
        adjudicator: "adjudicator".parse().unwrap(),
        policy: Policy { name, min_deliberators },
        priors: Vec::new(),
    };
    Plan { gate: Some(Arc::new(gate)), ..council_plan() }
}

/// A new review.
pub(crate) fn begin(plan: Plan) -> Transcript {
    let mut transcript = crate::protocols::sample::begin(plan);
    transcript.opening.protocol = Protocol::Review;
    transcript
}

pub(crate) fn judgement(verdict: Leaning, would_block: bool, irreducible: bool) -> Judgement {
    Judgement {
        verdict,
        scores: BTreeMap::new(),
        would_block,
        irreducible,
        concerns: vec![Concern {
            locus: "fastest".to_owned(),
            issue: "Nothing supports it.".to_owned(),
            fix: String::new(),
        }],
        revision_brief: String::new(),
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    }
}

pub(crate) fn word(final_verdict: Decision, downgrade_reason: Option<&str>) -> Adjudication {
    Adjudication {
        final_verdict,
        reasoning: "So it is.".to_owned(),
        revision_brief: String::new(),
        downgrade: downgrade_reason.is_some(),
        downgrade_reason: downgrade_reason.map(str::to_owned),
    }
}

/// The reply of a seat in a round; none if the seat failed for good.
pub(crate) fn say(transcript: &mut Transcript, seat: &str, round: u8, said: Option<Document>) {
    let purpose = match round {
        1 => Purpose::Judgement,
        2 => Purpose::CrossReading,
        _ => Purpose::Adjudication,
    };
    let (id, call) = (transcript.next_ask_id(), transcript.next_call_id());
    let seat = seat.parse().unwrap();
    let ask = Ask { id, round, seat, purpose, stricter: None };
    let mut changes = vec![
        Change::AskPrepared { ask, messages: None, messages_sha256: None, condensed: Vec::new() },
        Change::CallSent(sending(call, id)),
    ];
    match said {
        Some(document) => {
            changes.push(Change::ReplyKept { call, reply: reply() });
            let reading = Reading::Read { document, repaired: false, truncated: false };
            changes.push(Change::ReplyRead { ask: id, reading });
        }
        None => {
            let failure = Failure {
                error_type: ErrorType::Network,
                message: "it is down".to_owned(),
                latency_ms: 1,
            };
            changes.push(Change::CallFailed { call, failure, gave_up: true });
        }
    }
    transcript.add(moment(), &changes);
}

pub(crate) fn hold(transcript: &mut Transcript, round: u8) {
    let held = Change::RoundHeld { round, title: None, score: 0, summary: None };
    transcript.add(moment(), &[held]);
}
