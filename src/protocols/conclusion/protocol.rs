//! The conclusion as a [`Protocol`].
//!
//! It follows the rounds of a council. An agent leads the rounds of an alignment dialogue, so the
//! conclusion is all that a run does there: it is stored as that dialogue's protocol.

use std::sync::Arc;

use serde_json::Value;

use super::next::next;
use super::trail::{SECOND_AUDIT, counted, draft, looked_at, revised, trail};
use crate::domain::ask::{Ask, Purpose};
use crate::domain::change::Entry;
use crate::domain::conclusion::Grounds;
use crate::domain::dialogue::{Protocol as ProtocolName, Stage};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::plan::{Auditing, Plan, TimeLimit};
use crate::domain::record::Record;
use crate::domain::time::Moment;
use crate::domain::transcript::{Document, Reading, Transcript};
use crate::export::conclusion::closed;
use crate::normalise::{self, ReplyShape, reading, unreadable};
use crate::prompting::Prepared;
use crate::prompting::conclusion::{Case, reviser, synthesizer};
use crate::prompting::instructions::{AUDIT, DRAFT, REVISION, RoleText};
use crate::protocols::council::Letters;
use crate::protocols::protocol::{
    AskRules, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol, ShownRun,
};
use crate::protocols::step::Step;
use crate::surfaces::cli::{Canvas, draw_closing, draw_record};

/// The size of a conclusion: five fields, some of which may be long.
const CONCLUSION_BYTES: usize = 8_000;

/// Draft, audit, at most one revision, second audit.
#[derive(Debug)]
pub struct ConclusionProtocol;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
impl Protocol for ConclusionProtocol {
    fn name(&self) -> ProtocolName {
        ProtocolName::Alignment
    }

    fn purposes(&self) -> &'static [Purpose] {
        &[Purpose::Conclusion, Purpose::Audit, Purpose::Revision]
    }

    fn next(&self, state: &Transcript) -> Step {
        next(state)
    }

    /// No reply may be cut off: the missing line of an audit may be a FLAG.
    fn ask_rules(&self, purpose: Purpose, round: u8) -> AskRules {
        let rules =
            |noun, title, stage| AskRules::new(noun, title, TimeLimit::Chair).reaching(stage);
        match purpose {
            Purpose::Conclusion => {
                rules("conclusion", "Conclusion", Stage::Concluding).with_record()
            }
            // The second audit belongs to the revision: a dialogue never returns to an earlier
            // stage.
            Purpose::Audit if round == SECOND_AUDIT => {
                rules("audit", "Blind audit, the second look", Stage::Revising)
            }
            Purpose::Audit => rules("audit", "Blind audit", Stage::Auditing),
            _ => rules("revision", "Revision", Stage::Revising).with_record(),
        }
    }

    fn messages(&self, state: &Transcript, record: Option<&Record>, ask: &Ask) -> Option<Prepared> {
        match ask.purpose {
            Purpose::Conclusion => Some(synthesizer(state, record?, ask)),
            Purpose::Audit => critic(state, ask),
            Purpose::Revision => {
                draft(state)?;
                Some(reviser(state, record?, ask))
            }
            _ => None,
        }
    }

    /// An audit is plain text. A reviser may send fewer fields; its schema is that of the draft.
    fn schema(&self, state: &Transcript, ask: &Ask) -> Option<Arc<Value>> {
        let participants = state.participants.iter().flatten();
        let names: Vec<String> = participants.map(|one| one.agent.to_string()).collect();
        match ask.purpose {
            Purpose::Conclusion | Purpose::Revision => {
                Some(normalise::schema(ReplyShape::Conclusion, state.plan.mode, &names))
            }
            _ => None,
        }
    }

    fn parse(&self, state: &Transcript, ask: &Ask, text: &str, at: Moment) -> Reading {
        match ask.purpose {
            Purpose::Conclusion => {
                let conclusion = normalise::conclusion(text, &grounds(state, at));
                reading(conclusion, |found| Document::Conclusion(Box::new(found)))
            }
            Purpose::Audit => parse_audit(state, ask, text),
            Purpose::Revision => parse_revision(state, text, at),
            _ => unreadable("a conclusion asks for no such document"),
        }
    }

    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        planned_rounds(plan, sizes)
    }

    fn document(&self, state: &Transcript) -> serde_json::Result<Value> {
        serde_json::to_value(closed(state))
    }

    /// The record itself says how the dialogue ended.
    fn export_section(&self, _: &[Entry]) -> serde_json::Result<Option<(&'static str, Value)>> {
        Ok(None)
    }

    /// Before the conclusion is recorded, the run says how far it has come.
    fn page(&self, shown: &ShownRun<'_>, canvas: Canvas) -> Option<String> {
        let state = match shown.record.conclusion {
            Some(_) => None,
            None => Transcript::of(shown.journal),
        };
        Some(draw_record(shown.record, state.as_ref(), canvas))
    }

    fn result_page(&self, record: &Record, state: &Transcript, canvas: Canvas) -> String {
        draw_closing(record, state, canvas)
    }

    fn conclusion_document(&self, state: &Transcript) -> serde_json::Result<Option<Value>> {
        state.ending.as_ref().map(|_| self.document(state)).transpose()
    }

    fn missing_conclusion(&self, id: &DialogueId) -> MissingConclusion {
        MissingConclusion {
            lacks: "conclusion",
            suggestion: format!("`plenary conclude {id}` writes one"),
        }
    }
}

/// The calls of a planned conclusion, if the critic objects.
pub fn planned_rounds<'p>(plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
    let Some(planned) = &plan.conclusion else { return Vec::new() };
    let round = |name, seat: &ExpertSlug, role: RoleText, bytes: usize| {
        let bytes = role.system(plan.mode).len() + bytes;
        let calls = plan.seat(seat).map(|seat| PlannedCall { seat, bytes });
        PlannedRound { name, calls: calls.into_iter().collect() }
    };
    let (whole, blind) = (sizes.asked + sizes.replies * 3, sizes.question + CONCLUSION_BYTES);
    let mut rounds = vec![round("conclusion", &planned.synthesizer, DRAFT, whole)];
    if planned.auditing == Auditing::Audited {
        rounds.push(round("audit", &planned.critic, AUDIT, blind));
        rounds.push(round("revision", &planned.reviser, REVISION, whole));
        rounds.push(round("second audit", &planned.critic, AUDIT, blind));
    }
    rounds
}

/// The critic's input is made of the question and the conclusion alone.
fn critic(state: &Transcript, ask: &Ask) -> Option<Prepared> {
    let is_second = ask.round == SECOND_AUDIT;
    let looked_at = if is_second { revised(state) } else { draft(state) }?;
    let case = Case::new(state.question(), looked_at);
    let secret = &state.plan.secret;
    Some(match ask.stricter {
        None => case.asked(secret, ask.round),
        Some(_) if ask.wants_shorter() => case.asked_for_less(secret, ask.round),
        Some(_) => case.asked_again(secret, ask.round),
    })
}

/// The objections of the critic, after those that the program counted. Both are recorded, because a
/// later version may count differently and must reach the same result.
fn parse_audit(state: &Transcript, ask: &Ask, text: &str) -> Reading {
    let looked_at = looked_at(state, ask.round);
    reading(normalise::audit(text), |said| {
        let counted = looked_at.map(|case| counted(&said, state.question(), case));
        Document::Audit(counted.unwrap_or(said))
    })
}

/// The draft with its flagged fields replaced.
fn parse_revision(state: &Transcript, text: &str, at: Moment) -> Reading {
    let (Some(original), Some(trail)) = (draft(state), trail(state)) else {
        return unreadable("there is nothing to revise");
    };
    let grounds = grounds(state, at);
    let revised = normalise::revision(text, original, &trail.revised_fields, &grounds);
    reading(revised, |found| Document::Revision(Box::new(found)))
}

/// The facts that a conclusion is validated against.
fn grounds(state: &Transcript, at: Moment) -> Grounds<'_> {
    // The experts of a dialogue with a Judge have no letters.
    let is_judged = state.opening.protocol.is_judged();
    let letters = (!is_judged).then(|| Letters::of(&state.plan));
    let letters = letters.iter().flat_map(Letters::iter);
    Grounds {
        participants: state.participants.as_deref().unwrap_or_default(),
        letters: letters.map(|(letter, name)| (letter, name.clone())).collect(),
        entities: &state.entities,
        today: at.day(),
    }
}
