//! The council as a [`Protocol`].

use std::sync::Arc;

use serde_json::Value;

use super::letters::Letters;
use super::next::next;
use super::voices::opinions;
use crate::domain::ask::{Ask, Purpose};
use crate::domain::change::Entry;
use crate::domain::dialogue::Protocol as ProtocolName;
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::plan::{Plan, TimeLimit};
use crate::domain::record::Record;
use crate::domain::time::Moment;
use crate::domain::transcript::{Document, Reading, Transcript};
use crate::export::conclusion::closed;
use crate::export::council::document;
use crate::export::{Ran, markdown};
use crate::normalise::{self, ReplyShape, reading, unreadable};
use crate::prompting::Prepared;
use crate::prompting::council::{chair, participant, reviewer};
use crate::prompting::instructions::{OPINION, PEER_REVIEW, RoleText, SYNTHESIS};
use crate::protocols::conclusion;
use crate::protocols::protocol::{
    AskRules, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol, ShownRun,
};
use crate::protocols::step::Step;
use crate::surfaces::cli::{Canvas, draw_council, draw_council_result};

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

    fn purposes(&self) -> &'static [Purpose] {
        &[Purpose::Opinion, Purpose::Review, Purpose::Synthesis]
    }

    fn next(&self, state: &Transcript) -> Step {
        next(state).unwrap_or_else(|| conclusion::next(state))
    }

    fn ask_rules(&self, purpose: Purpose, _round: u8) -> AskRules {
        match purpose {
            Purpose::Opinion => {
                AskRules::new("opinion", "R1 independent opinions", TimeLimit::FirstRound)
                    .accepting_cut_replies()
            }
            Purpose::Review => AskRules::new("review", "R2 cross review", TimeLimit::SecondRound)
                .accepting_cut_replies(),
            // A report without its end could lack its disagreements. Another chair or the best
            // opinion replaces it.
            _ => AskRules::new("report", "R3 chair's report", TimeLimit::Chair),
        }
    }

    fn messages(&self, state: &Transcript, _: Option<&Record>, ask: &Ask) -> Option<Prepared> {
        match ask.purpose {
            Purpose::Opinion => Some(participant(state, ask)),
            Purpose::Review => Some(reviewer(state, ask)),
            Purpose::Synthesis => Some(chair(state, ask)),
            _ => None,
        }
    }

    fn schema(&self, state: &Transcript, ask: &Ask) -> Option<Arc<Value>> {
        let shape = match ask.purpose {
            Purpose::Opinion => ReplyShape::Opinion,
            Purpose::Review => ReplyShape::PeerReview,
            _ => ReplyShape::Report,
        };
        let names: Vec<String> = letters(state, ask).iter().map(char::to_string).collect();
        Some(normalise::schema(shape, state.plan.mode, &names))
    }

    fn parse(&self, state: &Transcript, ask: &Ask, text: &str, _: Moment) -> Reading {
        match ask.purpose {
            Purpose::Opinion => {
                let opinion = normalise::opinion(text, state.plan.mode);
                reading(opinion, |found| Document::Opinion(Box::new(found)))
            }
            Purpose::Review => {
                let review = normalise::review(text, &letters(state, ask));
                reading(review, |found| Document::Review(Box::new(found)))
            }
            Purpose::Synthesis => {
                let report = normalise::report(text, &letters(state, ask));
                reading(report, |found| Document::Report(Box::new(found)))
            }
            _ => unreadable("a council asks for no such document"),
        }
    }

    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        let &InputSizes { asked, replies, .. } = sizes;
        let all = |role: RoleText, bytes: usize| {
            let bytes = role.system(plan.mode).len() + bytes;
            plan.participants().map(|seat| PlannedCall { seat, bytes }).collect()
        };
        let chair = plan.chairs.first().and_then(|chair| plan.seat(chair));
        let bytes = SYNTHESIS.system(plan.mode).len() + asked + replies * 2;
        let chairing = chair.map(|seat| PlannedCall { seat, bytes });
        let mut rounds = vec![
            PlannedRound { name: "R1", calls: all(OPINION, asked) },
            PlannedRound { name: "R2", calls: all(PEER_REVIEW, asked + replies) },
            PlannedRound { name: "R3", calls: chairing.into_iter().collect() },
        ];
        rounds.extend(conclusion::planned_rounds(plan, sizes));
        rounds
    }

    fn document(&self, state: &Transcript) -> serde_json::Result<Value> {
        serde_json::to_value(document(state))
    }

    fn markdown(&self, record: &Record, journal: &[Entry]) -> String {
        let told = Transcript::of(journal).map(|state| Ran::Council(Box::new(document(&state))));
        markdown(record, told.as_ref())
    }

    fn page(&self, shown: &ShownRun<'_>, canvas: Canvas) -> Option<String> {
        Some(draw_council(shown.record, shown.state?, canvas))
    }

    fn result_page(&self, record: &Record, state: &Transcript, canvas: Canvas) -> String {
        draw_council_result(record, state, canvas)
    }

    fn conclusion_document(&self, state: &Transcript) -> serde_json::Result<Option<Value>> {
        state.ending.as_ref().map(|_| serde_json::to_value(closed(state))).transpose()
    }

    fn missing_conclusion(&self, id: &DialogueId) -> MissingConclusion {
        MissingConclusion {
            lacks: "conclusion",
            suggestion: format!(
                "deliberation_status with resume: true goes on with a council that broke off; `plenary conclude {id}` concludes one that ended with its report"
            ),
        }
    }
}

/// The letters of the opinions that a seat was shown. A reviewer does not see its own.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
fn letters(state: &Transcript, ask: &Ask) -> Vec<char> {
    let letters = Letters::of(&state.plan);
    let heard = opinions(state);
    let spoke = |name: &ExpertSlug| heard.iter().any(|voice| voice.seat == name);
    let shown = letters.iter().filter(|(_, name)| match ask.purpose {
        Purpose::Review => **name != ask.seat && spoke(name),
        // The chair also reads reviews of seats that gave no opinion.
        Purpose::Synthesis => true,
        _ => false,
    });
    shown.map(|(letter, _)| letter).collect()
}
