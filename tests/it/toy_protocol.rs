//! The smallest protocol: two seats, one round, a vote. It shows what a new protocol consists of;
//! `toy_protocol_runs.rs` adds it to the registry with one line and runs it.

use plenary::domain::ask::{Ask, Messages, Purpose};
use plenary::domain::change::EntryKind;
use plenary::domain::dialogue::Protocol as ProtocolName;
use plenary::domain::ids::{EntityKind, ExpertSlug};
use plenary::domain::plan::TimeLimit;
use plenary::domain::record::Record;
use plenary::domain::time::Moment;
use plenary::domain::transcript::{Document, Reading, Stop, Transcript};
use plenary::domain::verdict::{VerdictType, Vote};
use plenary::prompting::{Fences, Prepared};
use plenary::protocols::{
    AskRules, BatchBuilder, EntryDraft, EntryPart, Protocol, RetryRule, Step, pending_asks,
};
use plenary::record::register::Batch;
use plenary::record::verdict::VerdictRequest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const VOTE: ProtocolName = ProtocolName::Other("vote");
const BALLOT: Purpose = Purpose::Other("ballot");
const SEATS: usize = 2;

#[derive(Debug)]
pub struct VoteProtocol;

/// What a seat replies with.
#[derive(Debug, Serialize, Deserialize)]
struct Ballot {
    in_favour: bool,
    reason: String,
}

impl Protocol for VoteProtocol {
    fn name(&self) -> ProtocolName {
        VOTE
    }

    fn purposes(&self) -> &'static [Purpose] {
        &[BALLOT]
    }

    fn next(&self, state: &Transcript) -> Step {
        if state.is_held(1) {
            return Step::Finish;
        }
        if let Some(step) = pending_asks(state, 1, BALLOT, RetryRule::Unparsed, voters(state)) {
            return step;
        }
        let heard = ballots(state).len();
        if heard < SEATS {
            return Step::Stop(Stop::Quorum { round: 1, heard, needed: SEATS });
        }
        let request = Box::new(verdict(state));
        let parts = [EntryPart::Verdict { request, sets_status: true }, EntryPart::done()];
        Step::Append(vec![
            EntryDraft::round(batch(state)),
            EntryDraft::new(EntryKind::VerdictRegistered, parts),
        ])
    }

    fn ask_rules(&self, _: Purpose, _: u8) -> AskRules {
        AskRules::new("ballot", "R1 the vote", TimeLimit::FirstRound)
    }

    fn messages(&self, state: &Transcript, _: Option<&Record>, ask: &Ask) -> Option<Prepared> {
        let question = state.question();
        let fences = Fences::new(&state.plan.secret, ask.round, &[question]);
        let system = "Vote. Reply with {\"in_favour\": true or false, \"reason\": \"…\"}.";
        let user = fences.around("QUESTION", "the question to vote on", question);
        let messages = Messages { system: system.to_owned(), user };
        Some(Prepared { messages, condensed: Vec::new() })
    }

    fn parse(&self, _: &Transcript, _: &Ask, text: &str, _: Moment) -> Reading {
        match serde_json::from_str::<Ballot>(text) {
            Ok(ballot) => Reading::Read {
                document: Document::Other(json!(ballot)),
                repaired: false,
                truncated: false,
            },
            Err(error) => Reading::Unreadable { reason: error.to_string(), refusal: false },
        }
    }

    fn document(&self, state: &Transcript) -> serde_json::Result<Value> {
        Ok(json!({
            "dialogue_id": state.opening.dialogue_id,
            "protocol": self.name(),
            "vote": tally(state),
            "ballots": ballots(state),
        }))
    }
}

fn voters(state: &Transcript) -> impl Iterator<Item = &ExpertSlug> {
    state.plan.participants().map(|seat| &seat.name).take(SEATS)
}

fn ballots(state: &Transcript) -> Vec<(&ExpertSlug, Ballot)> {
    let read = |seat| {
        let Document::Other(ballot) = state.last_ask(1, seat)?.document()? else { return None };
        Some((seat, Ballot::deserialize(ballot).ok()?))
    };
    voters(state).filter_map(read).collect()
}

fn tally(state: &Transcript) -> Vote {
    let yes = ballots(state).iter().filter(|(_, ballot)| ballot.in_favour).count();
    let no = ballots(state).len() - yes;
    Vote::Counted { yes: yes as u32, no: no as u32, abstained: None }
}

fn batch(state: &Transcript) -> Batch {
    let mut items = BatchBuilder::new(&state.opening.dialogue_id, 1);
    for (seat, ballot) in ballots(state) {
        let label = if ballot.in_favour { "In favour" } else { "Against" };
        items.add(seat, EntityKind::Perspective, label, &ballot.reason, |item| item);
    }
    items.build("The vote".to_owned(), Some(format!("{} ballots.", ballots(state).len())))
}

fn verdict(state: &Transcript) -> VerdictRequest {
    let carried = matches!(tally(state), Vote::Counted { yes, no, .. } if yes > no);
    let outcome = if carried { "Carried" } else { "Not carried" };
    let id = state.opening.dialogue_id.clone();
    let name = "vote".parse().expect("a valid name");
    let description = format!("{outcome}: {}", tally(state));
    VerdictRequest::new(id, name, VerdictType::Final, outcome.to_owned(), description)
        .with_vote(tally(state))
}
