//! The smallest protocol: two seats, one round, a vote. It shows what a new protocol consists of;
//! `toy_protocol_runs.rs` adds it to the registry with one line and runs it.

use plenary_core::dialogue::register::batch::RegisterBatch;
use plenary_core::dialogue::verdict::parse::VerdictRequest;
use plenary_core::model::ask::{Ask, AskMessages, AskPurpose};
use plenary_core::model::dialogue::ProtocolKind as ProtocolName;
use plenary_core::model::ids::{EntityKind, ExpertSlug};
use plenary_core::model::journal::JournalEntryKind;
use plenary_core::model::plan::TimeLimit;
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::{ParseOutcome, ReplyDocument, RunState, RunStopReason};
use plenary_core::model::time::Moment;
use plenary_core::model::verdict::{VerdictType, VoteTally};
use plenary_core::prompting::fence::{FenceKind, FenceSet};
use plenary_core::prompting::layout::RenderedPrompt;
use plenary_core::protocols::batch_builder::BatchBuilder;
use plenary_core::protocols::pending_asks::{RetryRule, pending_asks};
use plenary_core::protocols::protocol::{AskRules, EntryDraft, EntryPart, Protocol, Step};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const VOTE: ProtocolName = ProtocolName::Other("vote");
const BALLOT: AskPurpose = AskPurpose::Other("ballot");
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

    fn purposes(&self) -> &'static [AskPurpose] {
        &[BALLOT]
    }

    fn next(&self, state: &RunState) -> Step {
        if state.is_round_recorded(1) {
            return Step::Finish;
        }
        if let Some(step) = pending_asks(state, 1, BALLOT, RetryRule::Unparsed, voters(state)) {
            return step;
        }
        let heard = ballots(state).len();
        if heard < SEATS {
            return Step::Stop(RunStopReason::Quorum { round: 1, heard, needed: SEATS });
        }
        let request = Box::new(verdict(state));
        let parts = [EntryPart::Verdict { request, sets_status: true }, EntryPart::run_done()];
        Step::Append(vec![
            EntryDraft::for_round(batch(state)),
            EntryDraft::new(JournalEntryKind::VerdictRegistered, parts),
        ])
    }

    fn ask_rules(&self, _: AskPurpose, _: u8) -> AskRules {
        AskRules::new("ballot", "R1 the vote", TimeLimit::FirstRound)
    }

    fn render_messages(
        &self,
        state: &RunState,
        _: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt> {
        let question = state.question();
        let fences = FenceSet::new(&state.plan.secret, ask.round, &[question]);
        let system = "Vote. Reply with {\"in_favour\": true or false, \"reason\": \"…\"}.";
        let user = fences.fence_text(FenceKind::Request, "QUESTION", question);
        let messages = AskMessages::new(system, user);
        Some(RenderedPrompt { messages, condensed: Vec::new() })
    }

    fn parse_reply(&self, _: &RunState, _: &Ask, text: &str, _: Moment) -> ParseOutcome {
        match serde_json::from_str::<Ballot>(text) {
            Ok(ballot) => ParseOutcome::Parsed {
                document: ReplyDocument::Other(json!(ballot)),
                repaired: false,
                truncated: false,
            },
            Err(error) => ParseOutcome::Unreadable { reason: error.to_string(), refusal: false },
        }
    }

    fn run_document(&self, state: &RunState) -> serde_json::Result<Value> {
        Ok(json!({
            "dialogue_id": state.opening.dialogue_id,
            "protocol": self.name(),
            "vote": tally(state),
            "ballots": ballots(state),
        }))
    }
}

fn voters(state: &RunState) -> impl Iterator<Item = &ExpertSlug> {
    state.plan.participant_seats().map(|seat| &seat.name).take(SEATS)
}

fn ballots(state: &RunState) -> Vec<(&ExpertSlug, Ballot)> {
    let read = |seat| {
        let ReplyDocument::Other(ballot) = state.last_ask(1, seat)?.parsed_document()? else {
            return None;
        };
        Some((seat, Ballot::deserialize(ballot).ok()?))
    };
    voters(state).filter_map(read).collect()
}

fn tally(state: &RunState) -> VoteTally {
    let yes = ballots(state).iter().filter(|(_, ballot)| ballot.in_favour).count();
    let no = ballots(state).len() - yes;
    VoteTally::Counted { yes: yes as u32, no: no as u32, abstained: None }
}

fn batch(state: &RunState) -> RegisterBatch {
    let mut items = BatchBuilder::new(&state.opening.dialogue_id, 1);
    for (seat, ballot) in ballots(state) {
        let label = if ballot.in_favour { "In favour" } else { "Against" };
        items.add_item(seat, EntityKind::Perspective, label, &ballot.reason, |item| item);
    }
    items.build("The vote".to_owned(), Some(format!("{} ballots.", ballots(state).len())))
}

fn verdict(state: &RunState) -> VerdictRequest {
    let carried = matches!(tally(state), VoteTally::Counted { yes, no, .. } if yes > no);
    let outcome = if carried { "Carried" } else { "Not carried" };
    let id = state.opening.dialogue_id.clone();
    let name = "vote".parse().expect("a valid name");
    let description = format!("{outcome}: {}", tally(state));
    VerdictRequest::new(id, name, VerdictType::Final, outcome.to_owned(), description)
        .with_vote(tally(state))
}
