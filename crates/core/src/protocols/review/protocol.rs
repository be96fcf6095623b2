//! The review as a [`Protocol`].

use std::sync::Arc;

use serde_json::Value;

use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::ProtocolKind as ProtocolName;
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::journal::{JournalEntry, JournalEvent};
use crate::model::plan::{Plan, Seat, TimeLimit};
use crate::model::record::DialogueRecord;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState, RunStopReason};
use crate::model::time::Moment;
use crate::parsing::reply::{to_parse_outcome, unreadable};
use crate::parsing::schema::ReplyShape;
use crate::prompting::layout::RenderedPrompt;
use crate::protocols::protocol::{
    AskRules, EntryPart, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol,
    RoleTitles, RunFinding, ShownRun, Step,
};
use crate::protocols::review::document::{ReviewPanel, review_document};
use crate::protocols::review::log_row::{LogRow, LoggedOutcome, log_row};
use crate::protocols::review::messages::{
    ReadingRound, adjudicator_messages, adjudicator_role, deliberator_messages, deliberator_role,
};
use crate::protocols::review::next::next_step;
use crate::protocols::review::page::{imported_page, review_page};
use crate::protocols::review::parse::{parse_adjudication, parse_judgement};
use crate::protocols::review::policy::ReviewDecision;
use crate::protocols::review::types::{DeliberatorPlan, ReviewArtifact, ReviewPlan, score_names};
use crate::report::page::{PageModel, PageScope};

/// Two rounds of deliberators and an adjudicator.
#[derive(Debug)]
pub struct ReviewProtocol;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the registry passes only asks with a purpose of this protocol"
)]
impl Protocol for ReviewProtocol {
    fn name(&self) -> ProtocolName {
        ProtocolName::Review
    }

    fn purposes(&self) -> &'static [AskPurpose] {
        &[AskPurpose::Judgement, AskPurpose::CrossReading, AskPurpose::Adjudication]
    }

    fn next(&self, state: &RunState) -> Step {
        next_step(state)
    }

    /// No reply may be cut off: the missing end of a judgement may be its block.
    fn ask_rules(&self, purpose: AskPurpose, _round: u8) -> AskRules {
        match purpose {
            AskPurpose::Judgement => {
                AskRules::new("judgement", "R1 independent judgements", TimeLimit::FirstRound)
            }
            AskPurpose::CrossReading => {
                AskRules::new("second judgement", "R2 cross-reading", TimeLimit::SecondRound)
            }
            _ => AskRules::new("adjudication", "Adjudication", TimeLimit::Chair),
        }
    }

    fn render_messages(
        &self,
        state: &RunState,
        _: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt> {
        match ask.purpose {
            AskPurpose::Judgement => deliberator_messages(state, ask, ReadingRound::First),
            AskPurpose::CrossReading => deliberator_messages(state, ask, ReadingRound::Cross),
            AskPurpose::Adjudication => adjudicator_messages(state, ask),
            _ => None,
        }
    }

    fn reply_schema(&self, state: &RunState, ask: &Ask) -> Option<Arc<Value>> {
        let scores = score_names(ask.seat.as_str()).into_iter().flatten();
        let scores: Vec<String> = scores.map(str::to_owned).collect();
        let (shape, names) = match ask.purpose {
            AskPurpose::Judgement => (ReplyShape::Judgement, scores),
            AskPurpose::CrossReading => (ReplyShape::CrossReading, scores),
            _ => (ReplyShape::Adjudication, Vec::new()),
        };
        let gate = state.review_plan();
        let codes = gate.and_then(|gate| gate.find_deliberator(&ask.seat));
        let codes = codes.map(DeliberatorPlan::code_names).unwrap_or_default();
        let mode = state.plan.mode;
        Some(crate::parsing::schema::reply_schema_with_codes(shape, mode, &names, &codes))
    }

    fn parse_reply(&self, state: &RunState, ask: &Ask, text: &str, _: Moment) -> ParseOutcome {
        let artifact = state.review_plan().map_or("", |gate| gate.artifact.text.as_str());
        let shape = match ask.purpose {
            AskPurpose::Judgement => ReplyShape::Judgement,
            AskPurpose::CrossReading => ReplyShape::CrossReading,
            AskPurpose::Adjudication => {
                let adjudication = parse_adjudication(text, artifact);
                return to_parse_outcome(adjudication, |found| {
                    ReplyDocument::Adjudication(Box::new(found))
                });
            }
            _ => return unreadable("a review asks for no such document"),
        };
        let scores = score_names(ask.seat.as_str());
        let judgement = parse_judgement(text, artifact, shape, scores);
        let deliberator = state.review_plan().and_then(|gate| gate.find_deliberator(&ask.seat));
        let codes = deliberator.map(DeliberatorPlan::code_names).unwrap_or_default();
        to_parse_outcome(judgement, |mut found| {
            found.restrict_codes(&codes);
            ReplyDocument::Judgement(Box::new(found))
        })
    }

    /// A review that stops without an outcome has a line in the log, too. An interrupted one has
    /// none: it is to be resumed.
    fn on_stop(&self, state: &RunState, stop: &RunStopReason) -> Vec<EntryPart> {
        let is_end = stop.is_incomplete() && state.review_outcome.is_none();
        let line =
            is_end.then(|| log_row(state, LoggedOutcome::Undecided(stop), state.last_entry_at));
        line.flatten().map(|line| EntryPart::LogLine(Box::new(line))).into_iter().collect()
    }

    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        let Some(gate) = plan.review.as_deref() else { return Vec::new() };
        let (asked, replies) = (sizes.asked + shown_bytes(gate), sizes.replies);
        let all = |turn: ReadingRound, bytes: usize| {
            let bytes = |seat: &Seat| instructions_bytes(gate, turn, &seat.name) + bytes;
            plan.participant_seats().map(|seat| PlannedCall { seat, bytes: bytes(seat) }).collect()
        };
        let chair = plan.chairs.first().and_then(|chair| plan.find_seat(chair));
        let bytes = adjudicator_role(gate).byte_len() + asked + replies * 2;
        let chairing = chair.map(|seat| PlannedCall { seat, bytes });
        vec![
            PlannedRound { name: "R1", calls: all(ReadingRound::First, asked) },
            PlannedRound { name: "R2", calls: all(ReadingRound::Cross, asked + replies) },
            PlannedRound { name: "R3", calls: chairing.into_iter().collect() },
        ]
    }

    fn role_titles(&self) -> RoleTitles {
        RoleTitles { participant: "Deliberator", chair: "Adjudicator" }
    }

    fn has_question(&self) -> bool {
        false
    }

    /// A review judges the document alone.
    fn accepts_interventions(&self) -> bool {
        false
    }

    fn run_document(&self, state: &RunState) -> serde_json::Result<Value> {
        serde_json::to_value(review_document(state))
    }

    /// Verdicts that were imported from another log have no run.
    fn export_section(
        &self,
        journal: &[JournalEntry],
    ) -> serde_json::Result<Option<(&'static str, Value)>> {
        Ok(Some(match RunState::from_entries(journal) {
            Some(state) => ("review", self.run_document(&state)?),
            None => ("imported", serde_json::to_value(imported_lines(journal))?),
        }))
    }

    fn page(&self, shown: &ShownRun<'_>, scope: PageScope) -> PageModel {
        match shown.state {
            Some(state) => review_page(Some(shown.record), state, scope),
            None => imported_page(shown.record, &imported_lines(shown.journal), scope),
        }
    }

    /// The whole document: everything in a review leads to its verdict.
    fn conclusion_document(&self, state: &RunState) -> serde_json::Result<Option<Value>> {
        state.review_outcome.as_ref().map(|_| self.run_document(state)).transpose()
    }

    fn run_finding(&self, state: &RunState) -> RunFinding {
        match state.review_outcome.as_ref().map(|outcome| outcome.verdict) {
            Some(ReviewDecision::Ship) => RunFinding::Passed,
            Some(ReviewDecision::Revise) => RunFinding::Findings,
            Some(ReviewDecision::Hold) => RunFinding::Hold,
            None => RunFinding::Undecided,
        }
    }

    fn judged_artifact<'s>(&self, state: &'s RunState) -> Option<&'s ReviewArtifact> {
        state.review_plan().map(|plan| &plan.artifact)
    }

    fn is_degraded(&self, state: &RunState) -> bool {
        state.review_plan().is_some_and(|gate| ReviewPanel::from_state(state, gate).degraded)
    }

    fn missing_conclusion(&self, _: &DialogueId) -> MissingConclusion {
        MissingConclusion {
            lacks: "verdict of a review",
            suggestion:
                "call deliberation_status with resume: true to continue an interrupted review"
                    .to_owned(),
        }
    }
}

/// The tokens that a review takes at least: both rounds of every deliberator, and the longest
/// reply of each. With fewer it would stop half way.
pub fn least_tokens(plan: &Plan, bytes_around: usize, bytes_per_token: usize) -> u64 {
    let Some(gate) = plan.review.as_deref() else { return 0 };
    let about = shown_bytes(gate) + bytes_around;
    let least = |seat: &Seat| {
        let read = |turn| (instructions_bytes(gate, turn, &seat.name) + about) / bytes_per_token;
        (read(ReadingRound::First) + read(ReadingRound::Cross)) as u64
            + u64::from(seat.output_tokens_max)
    };
    plan.participant_seats().map(least).sum()
}

fn instructions_bytes(gate: &ReviewPlan, turn: ReadingRound, seat: &ExpertSlug) -> usize {
    deliberator_role(gate, turn, seat).map_or(0, |role| role.byte_len())
}

/// The artifact, and the files that its deliberators judge by.
fn shown_bytes(gate: &ReviewPlan) -> usize {
    let context = gate.deliberators.iter().flat_map(|one| &one.context);
    let context: usize = context.filter_map(|file| file.text.as_ref()).map(String::len).sum();
    gate.artifact.text.len() + context
}

/// The lines that were imported from another log.
fn imported_lines(journal: &[JournalEntry]) -> Vec<LogRow> {
    let lines = journal.iter().flat_map(|entry| &entry.events).filter_map(|change| {
        let JournalEvent::VerdictLogged(line) = change else { return None };
        Some(line.as_ref().clone())
    });
    lines.collect()
}
