//! The classification as a [`Protocol`]: one seat, one ask, a tier with its reason.
//!
//! The seat reads the content and nothing else: paths are the business of the rules, and an answer
//! is kept by content.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::dialogue::register::batch::RegisterBatch;
use crate::dialogue::verdict::parse::VerdictRequest;
use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::ProtocolKind;
use crate::model::hash::sha256_hex;
use crate::model::ids::{EntityKind, ExpertSlug, VerdictId};
use crate::model::journal::JournalEntryKind;
use crate::model::plan::{ContextFile, Plan, TimeLimit};
use crate::model::record::DialogueRecord;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState, RunStopReason};
use crate::model::time::Moment;
use crate::model::verdict::VerdictType;
use crate::parsing::reply::{parse_document, to_parse_outcome};
use crate::prompting::instructions::RoleParts;
use crate::prompting::layout::{MessageParts, RenderedPrompt};
use crate::prompting::shared_block::{SeatBlock, render_block};
use crate::protocols::batch_builder::BatchBuilder;
use crate::protocols::classification::finding::ClassifierAnswer;
use crate::protocols::council::document::PanelAttendance;
use crate::protocols::pending_asks::{RetryRule, pending_asks};
use crate::protocols::protocol::{AskRules, EntryDraft, EntryPart, Protocol, RoleTitles, Step};
use crate::protocols::review::messages_sections::numbered_artifact;
use crate::report::run_status::completion_status;

const ROLE: &str = include_str!("../../../../../prompts/gate/classifier.md");

/// Name under which classifications are stored.
pub const CLASSIFICATION: ProtocolKind = ProtocolKind::Other("classification");

/// Purpose of the ask.
pub const CLASSIFY: AskPurpose = AskPurpose::Other("classify");

/// Name of the seat.
pub const CLASSIFIER_SEAT: &str = "classifier";

const ROUND: u8 = 1;

/// One ask about one document.
#[derive(Debug)]
pub struct ClassificationProtocol;

impl Protocol for ClassificationProtocol {
    fn name(&self) -> ProtocolKind {
        CLASSIFICATION
    }

    fn purposes(&self) -> &'static [AskPurpose] {
        &[CLASSIFY]
    }

    fn next(&self, state: &RunState) -> Step {
        if state.is_round_recorded(ROUND) {
            return Step::Finish;
        }
        let seats = state.plan.participant_seats().map(|seat| &seat.name);
        if let Some(step) = pending_asks(state, ROUND, CLASSIFY, RetryRule::All, seats) {
            return step;
        }
        let Some((seat, answer)) = read_answer(state) else {
            return Step::Stop(RunStopReason::Quorum { round: ROUND, heard: 0, needed: 1 });
        };
        let mut entries = vec![EntryDraft::for_round(answer_batch(state, seat, &answer))];
        let verdict = tier_verdict(state, &answer)
            .map(|request| EntryPart::Verdict { request: Box::new(request), sets_status: true });
        let parts = verdict.into_iter().chain([EntryPart::run_done()]);
        entries.push(EntryDraft::new(JournalEntryKind::VerdictRegistered, parts));
        Step::Append(entries)
    }

    fn ask_rules(&self, _: AskPurpose, _: u8) -> AskRules {
        AskRules::new("tier", "Classification", TimeLimit::FirstRound)
    }

    fn render_messages(
        &self,
        state: &RunState,
        _: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt> {
        let file = classified_file(&state.plan)?;
        let render = |input_bytes| {
            let (artifact, note) = numbered_artifact(&file.text, input_bytes);
            render_block(state, &[artifact], note.into_iter().collect())
        };
        let shared = match state.first_block() {
            Some(block) => Arc::clone(block),
            None => render(state.plan.largest_input_bytes()),
        };
        let own = SeatBlock::choose(shared, state.plan.input_bytes_max(&ask.seat), render);
        let parts = MessageParts {
            secret: &state.plan.secret,
            block: Some(&own),
            role: &RoleParts::from_text(ROLE),
            sections: &[],
            remarks: &[],
        };
        let condensed = own.notes().collect();
        Some(RenderedPrompt { messages: parts.render_messages(ask), condensed })
    }

    fn reply_schema(&self, _: &RunState, _: &Ask) -> Option<Arc<Value>> {
        Some(Arc::clone(&ANSWER_SCHEMA))
    }

    fn parse_reply(&self, _: &RunState, _: &Ask, text: &str, _: Moment) -> ParseOutcome {
        let parsed = parse_document(text, &ANSWER_SCHEMA, |answer: &mut ClassifierAnswer| {
            match answer.reason.trim().is_empty() {
                true => Err("`reason` is empty".to_owned()),
                false => Ok(()),
            }
        });
        to_parse_outcome(parsed, |answer| ReplyDocument::Other(json!(answer)))
    }

    fn role_titles(&self) -> RoleTitles {
        RoleTitles { participant: "Classifier", chair: "Classifier" }
    }

    fn has_question(&self) -> bool {
        false
    }

    fn accepts_interventions(&self) -> bool {
        false
    }

    fn run_document(&self, state: &RunState) -> serde_json::Result<Value> {
        let file = classified_file(&state.plan);
        let answer = read_answer(state).map(|(_, answer)| answer);
        Ok(json!({
            "dialogue_id": state.opening.dialogue_id,
            "protocol": self.name(),
            "rehearsal": state.opening.rehearsal,
            "status": completion_status(state),
            "artifact": file.map(|file| &file.path),
            "artifact_sha256": file.map(|file| &file.sha256),
            "tier": answer.as_ref().map(|answer| answer.tier),
            "reason": answer.as_ref().map(|answer| &answer.reason),
            "model": state.plan.participant_seats().next().map(|seat| &seat.model),
        }))
    }
}

static ANSWER_SCHEMA: LazyLock<Arc<Value>> = LazyLock::new(|| {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "reason": { "type": "string" },
            "tier": { "type": "integer", "minimum": 1, "maximum": 3 },
        },
        "required": ["reason", "tier"],
        "additionalProperties": false,
    }))
});

/// The document of a classification.
pub fn classified_file(plan: &Plan) -> Option<&ContextFile> {
    plan.context.files.first()
}

/// The answer of a classification, or why there is none.
pub fn classifier_answer(state: &RunState) -> Result<ClassifierAnswer, String> {
    if let Some((_, answer)) = read_answer(state) {
        return Ok(answer);
    }
    let failure = PanelAttendance::from_state(state).failed.into_iter().next();
    Err(failure.map_or_else(|| "it did not reply".to_owned(), |failure| failure.error_message))
}

fn read_answer(state: &RunState) -> Option<(&ExpertSlug, ClassifierAnswer)> {
    let seat = &state.plan.participant_seats().next()?.name;
    let ReplyDocument::Other(answer) = state.last_ask(ROUND, seat)?.parsed_document()? else {
        return None;
    };
    Some((seat, ClassifierAnswer::deserialize(answer).ok()?))
}

fn answer_batch(state: &RunState, seat: &ExpertSlug, answer: &ClassifierAnswer) -> RegisterBatch {
    let mut items = BatchBuilder::new(&state.opening.dialogue_id, ROUND);
    let label = tier_label(answer);
    items.add_item(seat, EntityKind::Perspective, &label, &answer.reason, |item| item);
    items.build("Classification".to_owned(), Some(format!("{label}.")))
}

fn tier_verdict(state: &RunState, answer: &ClassifierAnswer) -> Option<VerdictRequest> {
    let id = state.opening.dialogue_id.clone();
    let name: VerdictId = "tier".parse().ok()?;
    let reason = answer.reason.clone();
    Some(VerdictRequest::new(id, name, VerdictType::Final, tier_label(answer), reason))
}

fn tier_label(answer: &ClassifierAnswer) -> String {
    format!("Tier {}", answer.tier.tier_number())
}

/// Digest of the instructions; part of the version of the seat.
pub fn classifier_digest() -> String {
    sha256_hex([ROLE.as_bytes()])
}
