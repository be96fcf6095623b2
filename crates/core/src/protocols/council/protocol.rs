//! The council as a [`Protocol`].

use std::sync::Arc;

use serde_json::Value;

use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::ProtocolKind as ProtocolName;
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::plan::{DeliveryMode, Plan, TimeLimit};
use crate::model::record::DialogueRecord;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState};
use crate::model::time::Moment;
use crate::parsing::reply::{to_parse_outcome, unreadable};
use crate::parsing::schema::ReplyShape;
use crate::prompting::instructions::{OPINION, PEER_REVIEW, RoleText, SYNTHESIS};
use crate::prompting::layout::RenderedPrompt;
use crate::protocols::conclusion::document::conclusion_document;
use crate::protocols::council::answers::{SeatLetters, list_opinions, list_peer_reviews};
use crate::protocols::council::document::{PanelHealth, council_document};
use crate::protocols::council::messages::{
    chair_messages, participant_messages, reviewer_messages,
};
use crate::protocols::council::next::next_step;
use crate::protocols::council::page::council_page;
use crate::protocols::council::parse::{parse_opinion, parse_peer_review, parse_report};
use crate::protocols::protocol::{
    AskRules, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol, ShownRun, Step,
};
use crate::report::page::{PageModel, PageScope};
use crate::report::record_page::dialogue_page;

/// Three rounds, then the conclusion.
#[derive(Debug)]
pub struct CouncilProtocol;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
impl Protocol for CouncilProtocol {
    fn name(&self) -> ProtocolName {
        ProtocolName::Council
    }

    fn purposes(&self) -> &'static [AskPurpose] {
        &[AskPurpose::Opinion, AskPurpose::PeerReview, AskPurpose::Synthesis]
    }

    fn next(&self, state: &RunState) -> Step {
        next_step(state).unwrap_or_else(|| crate::protocols::conclusion::next::next_step(state))
    }

    fn ask_rules(&self, purpose: AskPurpose, _round: u8) -> AskRules {
        match purpose {
            AskPurpose::Opinion => {
                AskRules::new("opinion", "R1 independent opinions", TimeLimit::FirstRound)
                    .accepting_cut_replies()
            }
            AskPurpose::PeerReview => {
                AskRules::new("review", "R2 cross review", TimeLimit::SecondRound)
                    .accepting_cut_replies()
            }
            // A report without its end could lack its disagreements. Another chair or the best
            // opinion replaces it.
            _ => AskRules::new("report", "R3 chair's report", TimeLimit::Chair),
        }
    }

    fn render_messages(
        &self,
        state: &RunState,
        _: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt> {
        match ask.purpose {
            AskPurpose::Opinion => Some(participant_messages(state, ask)),
            AskPurpose::PeerReview => Some(reviewer_messages(state, ask)),
            AskPurpose::Synthesis => Some(chair_messages(state, ask)),
            _ => None,
        }
    }

    fn reply_schema(&self, state: &RunState, ask: &Ask) -> Option<Arc<Value>> {
        let shape = match ask.purpose {
            AskPurpose::Opinion => ReplyShape::Opinion,
            AskPurpose::PeerReview => ReplyShape::PeerReview,
            _ => ReplyShape::Report,
        };
        let names: Vec<String> = shown_letters(state, ask).iter().map(char::to_string).collect();
        Some(crate::parsing::schema::reply_schema(shape, state.plan.mode, &names))
    }

    fn parse_reply(&self, state: &RunState, ask: &Ask, text: &str, _: Moment) -> ParseOutcome {
        match ask.purpose {
            AskPurpose::Opinion => {
                let opinion = parse_opinion(text, state.plan.mode);
                to_parse_outcome(opinion, |found| ReplyDocument::Opinion(Box::new(found)))
            }
            AskPurpose::PeerReview => {
                let review = parse_peer_review(text, &shown_letters(state, ask));
                to_parse_outcome(review, |found| ReplyDocument::PeerReview(Box::new(found)))
            }
            AskPurpose::Synthesis => {
                let report = parse_report(text, &shown_letters(state, ask));
                to_parse_outcome(report, |found| ReplyDocument::Report(Box::new(found)))
            }
            _ => unreadable("a council asks for no such document"),
        }
    }

    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        let &InputSizes { asked, replies, .. } = sizes;
        let all = |role: RoleText, bytes: usize| {
            let bytes = role.parts(plan.mode).byte_len() + bytes;
            plan.participant_seats().map(|seat| PlannedCall { seat, bytes }).collect()
        };
        let chair = plan.chairs.first().and_then(|chair| plan.find_seat(chair));
        let bytes = SYNTHESIS.parts(plan.mode).byte_len() + asked + replies * 2;
        let chairing = chair.map(|seat| PlannedCall { seat, bytes });
        let mut rounds = vec![
            PlannedRound { name: "R1", calls: all(OPINION, asked) },
            PlannedRound { name: "R2", calls: all(PEER_REVIEW, asked + replies) },
        ];
        if plan.delivery == DeliveryMode::Synthesis {
            rounds.push(PlannedRound { name: "R3", calls: chairing.into_iter().collect() });
        }
        rounds.extend(crate::protocols::conclusion::protocol::planned_rounds(plan, sizes));
        rounds
    }

    fn run_document(&self, state: &RunState) -> serde_json::Result<Value> {
        serde_json::to_value(council_document(state))
    }

    fn page(&self, shown: &ShownRun<'_>, scope: PageScope) -> PageModel {
        match shown.state {
            Some(state) => council_page(shown.record, state, scope),
            None => dialogue_page(shown.record, None, scope),
        }
    }

    fn conclusion_document(&self, state: &RunState) -> serde_json::Result<Option<Value>> {
        state
            .conclusion_result
            .as_ref()
            .map(|_| serde_json::to_value(conclusion_document(state)))
            .transpose()
    }

    fn is_degraded(&self, state: &RunState) -> bool {
        PanelHealth::from_state(state).flags.degraded
    }

    fn missing_conclusion(&self, id: &DialogueId) -> MissingConclusion {
        MissingConclusion {
            lacks: "conclusion",
            suggestion: format!(
                "call deliberation_status with resume: true to continue an interrupted council; `plenary conclude {id}` concludes one that ended with its report"
            ),
        }
    }
}

/// The letters that a seat was shown. A reviewer does not see its own; the chair sees those of seats
/// that gave an opinion or a review.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
fn shown_letters(state: &RunState, ask: &Ask) -> Vec<char> {
    let letters = SeatLetters::from_plan(&state.plan);
    let (opinions, reviews) = (list_opinions(state), list_peer_reviews(state));
    let spoke = |name: &ExpertSlug| opinions.iter().any(|voice| voice.seat == name);
    let reviewed = |name: &ExpertSlug| reviews.iter().any(|voice| voice.seat == name);
    let shown = letters.iter().filter(|(_, name)| match ask.purpose {
        AskPurpose::PeerReview => **name != ask.seat && spoke(name),
        AskPurpose::Synthesis => spoke(name) || reviewed(name),
        _ => false,
    });
    shown.map(|(letter, _)| letter).collect()
}
