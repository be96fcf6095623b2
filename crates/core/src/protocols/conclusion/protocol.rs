//! The conclusion as a [`Protocol`].
//!
//! It follows the rounds of a council. An agent leads the rounds of an alignment dialogue, so the
//! conclusion is all that a run does there: it is stored as that dialogue's protocol.

use std::sync::Arc;

use serde_json::Value;

use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::{ConclusionStage, ProtocolKind as ProtocolName};
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::journal::JournalEntry;
use crate::model::plan::{AuditMode, Plan, TimeLimit};
use crate::model::record::DialogueRecord;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState};
use crate::model::time::Moment;
use crate::parsing::reply::{to_parse_outcome, unreadable};
use crate::parsing::schema::ReplyShape;
use crate::prompting::instructions::{AUDIT, DRAFT, REVISION, RoleText};
use crate::prompting::layout::RenderedPrompt;
use crate::protocols::conclusion::critic_input::CriticInput;
use crate::protocols::conclusion::document::conclusion_document;
use crate::protocols::conclusion::messages::{reviser_messages, synthesizer_messages};
use crate::protocols::conclusion::next::{
    SECOND_AUDIT, add_counted_objections, audit_trail, audited_conclusion, draft_conclusion,
    next_step, plain_round, revised_conclusion,
};
use crate::protocols::conclusion::parse::parse_conclusion;
use crate::protocols::conclusion::types::ConclusionContext;
use crate::protocols::council::answers::SeatLetters;
use crate::protocols::protocol::{
    AskRules, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol, ShownRun, Step,
};
use crate::report::page::{PageDetail, PageModel, PageScope};
use crate::report::record_page::dialogue_page;

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

    fn purposes(&self) -> &'static [AskPurpose] {
        &[AskPurpose::Conclusion, AskPurpose::Audit, AskPurpose::Revision]
    }

    fn next(&self, state: &RunState) -> Step {
        next_step(state)
    }

    /// No reply may be cut off: the missing line of an audit may be a FLAG.
    fn ask_rules(&self, purpose: AskPurpose, round: u8) -> AskRules {
        let rules =
            |noun, title, stage| AskRules::new(noun, title, TimeLimit::Chair).with_stage(stage);
        match purpose {
            AskPurpose::Conclusion => {
                rules("conclusion", "Conclusion", ConclusionStage::Concluding).with_record()
            }
            // The second audit belongs to the revision: a dialogue never returns to an earlier
            // stage.
            AskPurpose::Audit if plain_round(round) == SECOND_AUDIT => {
                rules("audit", "Second blind audit", ConclusionStage::Revising)
            }
            AskPurpose::Audit => rules("audit", "Blind audit", ConclusionStage::Auditing),
            _ => rules("revision", "Revision", ConclusionStage::Revising).with_record(),
        }
    }

    fn render_messages(
        &self,
        state: &RunState,
        record: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt> {
        match ask.purpose {
            AskPurpose::Conclusion => Some(synthesizer_messages(state, record?, ask)),
            AskPurpose::Audit => render_critic_messages(state, ask),
            AskPurpose::Revision => {
                draft_conclusion(state)?;
                Some(reviser_messages(state, record?, ask))
            }
            _ => None,
        }
    }

    /// An audit is plain text. A reviser may send fewer fields; its schema is that of the draft.
    fn reply_schema(&self, state: &RunState, ask: &Ask) -> Option<Arc<Value>> {
        let participants = state.participants.iter().flatten();
        let names: Vec<String> = participants.map(|one| one.agent.to_string()).collect();
        match ask.purpose {
            AskPurpose::Conclusion | AskPurpose::Revision => {
                Some(crate::parsing::schema::reply_schema(
                    ReplyShape::Conclusion,
                    state.plan.mode,
                    &names,
                ))
            }
            _ => None,
        }
    }

    fn parse_reply(&self, state: &RunState, ask: &Ask, text: &str, at: Moment) -> ParseOutcome {
        match ask.purpose {
            AskPurpose::Conclusion => {
                let conclusion = parse_conclusion(text, &conclusion_context(state, at));
                to_parse_outcome(conclusion, |found| ReplyDocument::Conclusion(Box::new(found)))
            }
            AskPurpose::Audit => parse_audit(state, ask, text),
            AskPurpose::Revision => parse_revision(state, text, at),
            _ => unreadable("a conclusion asks for no such document"),
        }
    }

    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        planned_rounds(plan, sizes)
    }

    fn run_document(&self, state: &RunState) -> serde_json::Result<Value> {
        serde_json::to_value(conclusion_document(state))
    }

    /// The record itself says how the dialogue ended.
    fn export_section(
        &self,
        _: &[JournalEntry],
    ) -> serde_json::Result<Option<(&'static str, Value)>> {
        Ok(None)
    }

    /// Before the conclusion is recorded, the run says how far it has come.
    fn page(&self, shown: &ShownRun<'_>, scope: PageScope) -> PageModel {
        let is_recorded = shown.record.conclusion.is_some() && scope.detail != PageDetail::Result;
        dialogue_page(shown.record, shown.state.filter(|_| !is_recorded), scope)
    }

    fn conclusion_document(&self, state: &RunState) -> serde_json::Result<Option<Value>> {
        state.conclusion_result.as_ref().map(|_| self.run_document(state)).transpose()
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
        let bytes = role.parts(plan.mode).byte_len() + bytes;
        let calls = plan.find_seat(seat).map(|seat| PlannedCall { seat, bytes });
        PlannedRound { name, calls: calls.into_iter().collect() }
    };
    let (whole, blind) = (sizes.asked + sizes.replies * 3, sizes.question + CONCLUSION_BYTES);
    let mut rounds = vec![round("conclusion", &planned.synthesizer, DRAFT, whole)];
    if planned.auditing == AuditMode::Audited {
        rounds.push(round("audit", &planned.critic, AUDIT, blind));
        rounds.push(round("revision", &planned.reviser, REVISION, whole));
        rounds.push(round("second audit", &planned.critic, AUDIT, blind));
    }
    rounds
}

/// The critic's input is made of the question and the conclusion alone.
fn render_critic_messages(state: &RunState, ask: &Ask) -> Option<RenderedPrompt> {
    let is_second = plain_round(ask.round) == SECOND_AUDIT;
    let looked_at = if is_second { revised_conclusion(state) } else { draft_conclusion(state) }?;
    let case = CriticInput::new(state.question(), looked_at);
    let secret = &state.plan.secret;
    Some(match ask.retry_reason {
        None => case.first_prompt(secret, ask.round),
        Some(_) if ask.wants_shorter() => case.shorter_prompt(secret, ask.round),
        Some(_) => case.retry_prompt(secret, ask.round),
    })
}

/// The objections of the critic, after those that the program counted. Both are recorded, because a
/// later version may count differently and must reach the same result.
fn parse_audit(state: &RunState, ask: &Ask, text: &str) -> ParseOutcome {
    let looked_at = audited_conclusion(state, ask.round);
    to_parse_outcome(crate::protocols::conclusion::parse::parse_audit(text), |message| {
        let counted =
            looked_at.map(|case| add_counted_objections(&message, state.question(), case));
        ReplyDocument::Audit(counted.unwrap_or(message))
    })
}

/// The draft with its flagged fields replaced.
fn parse_revision(state: &RunState, text: &str, at: Moment) -> ParseOutcome {
    let (Some(original), Some(trail)) = (draft_conclusion(state), audit_trail(state)) else {
        return unreadable("no field has an objection");
    };
    let grounds = conclusion_context(state, at);
    let revised = crate::protocols::conclusion::parse::parse_revision(
        text,
        original,
        &trail.revised_fields,
        &grounds,
    );
    to_parse_outcome(revised, |found| ReplyDocument::Revision(Box::new(found)))
}

/// The facts that a conclusion is validated against.
fn conclusion_context(state: &RunState, at: Moment) -> ConclusionContext<'_> {
    // The experts of a dialogue with a Judge have no letters.
    let is_judged = state.opening.protocol.is_judged();
    let letters = (!is_judged).then(|| SeatLetters::from_plan(&state.plan));
    let letters = letters.iter().flat_map(SeatLetters::iter);
    ConclusionContext {
        participants: state.participants.as_deref().unwrap_or_default(),
        letters: letters.map(|(letter, name)| (letter, name.clone())).collect(),
        entities: &state.entities,
        verdicts: &state.verdicts,
        today: at.utc_day(),
    }
}
