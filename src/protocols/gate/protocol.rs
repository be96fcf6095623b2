//! The review as a [`Protocol`].

use std::sync::Arc;

use serde_json::Value;

use super::next::next;
use super::row::{Outcome, row};
use crate::domain::ask::{Ask, Purpose};
use crate::domain::change::{Change, Entry};
use crate::domain::dialogue::Protocol as ProtocolName;
use crate::domain::gate::{GatePlan, LogRow, score_names};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::plan::{Plan, Seat, TimeLimit};
use crate::domain::record::Record;
use crate::domain::time::Moment;
use crate::domain::transcript::{Document, Reading, Stop, Transcript};
use crate::export::gate::document;
use crate::export::{Ran, markdown};
use crate::normalise::{self, ReplyShape, reading, unreadable};
use crate::prompting::Prepared;
use crate::prompting::gate::{
    Turn, adjudicator, adjudicator_system, deliberator, deliberator_system,
};
use crate::protocols::protocol::{
    AskRules, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol, RoleTitles,
    ShownRun,
};
use crate::protocols::step::{EntryPart, Step};
use crate::surfaces::cli::{Canvas, draw_imported, draw_review, draw_review_result};

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

    fn purposes(&self) -> &'static [Purpose] {
        &[Purpose::Judgement, Purpose::CrossReading, Purpose::Adjudication]
    }

    fn next(&self, state: &Transcript) -> Step {
        next(state)
    }

    /// No reply may be cut off: the missing end of a judgement may be its block.
    fn ask_rules(&self, purpose: Purpose, _round: u8) -> AskRules {
        match purpose {
            Purpose::Judgement => {
                AskRules::new("judgement", "R1 independent judgements", TimeLimit::FirstRound)
            }
            Purpose::CrossReading => {
                AskRules::new("second judgement", "R2 cross-reading", TimeLimit::SecondRound)
            }
            _ => AskRules::new("adjudication", "Adjudication", TimeLimit::Chair),
        }
    }

    fn messages(&self, state: &Transcript, _: Option<&Record>, ask: &Ask) -> Option<Prepared> {
        match ask.purpose {
            Purpose::Judgement => deliberator(state, ask, Turn::First),
            Purpose::CrossReading => deliberator(state, ask, Turn::Cross),
            Purpose::Adjudication => adjudicator(state, ask),
            _ => None,
        }
    }

    fn schema(&self, state: &Transcript, ask: &Ask) -> Option<Arc<Value>> {
        let scores = score_names(ask.seat.as_str()).into_iter().flatten();
        let scores: Vec<String> = scores.map(str::to_owned).collect();
        let (shape, names) = match ask.purpose {
            Purpose::Judgement => (ReplyShape::Judgement, scores),
            Purpose::CrossReading => (ReplyShape::CrossReading, scores),
            _ => (ReplyShape::Adjudication, Vec::new()),
        };
        Some(normalise::schema(shape, state.plan.mode, &names))
    }

    fn parse(&self, state: &Transcript, ask: &Ask, text: &str, _: Moment) -> Reading {
        let artifact = state.gate().map_or("", |gate| gate.artifact.text.as_str());
        let shape = match ask.purpose {
            Purpose::Judgement => ReplyShape::Judgement,
            Purpose::CrossReading => ReplyShape::CrossReading,
            Purpose::Adjudication => {
                let adjudication = normalise::adjudication(text, artifact);
                return reading(adjudication, |found| Document::Adjudication(Box::new(found)));
            }
            _ => return unreadable("a review asks for no such document"),
        };
        let scores = score_names(ask.seat.as_str());
        let judgement = normalise::judgement(text, artifact, shape, scores);
        reading(judgement, |found| Document::Judgement(Box::new(found)))
    }

    /// A review that stops without an outcome has a line in the log, too. An interrupted one has
    /// none: it is to be resumed.
    fn on_stop(&self, state: &Transcript, stop: &Stop) -> Vec<EntryPart> {
        let is_end = match stop {
            Stop::Done | Stop::Interrupted => false,
            Stop::Quorum { .. }
            | Stop::Families { .. }
            | Stop::Partial { .. }
            | Stop::Budget { .. }
            | Stop::Unconcluded { .. }
            | Stop::Unadjudicated { .. }
            | Stop::Deadline => state.ruling.is_none(),
        };
        let line = is_end.then(|| row(state, Outcome::Undecided(stop), state.last_entry_at));
        line.flatten().map(|line| EntryPart::LogLine(Box::new(line))).into_iter().collect()
    }

    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        let Some(gate) = plan.gate.as_deref() else { return Vec::new() };
        let (asked, replies) = (sizes.asked + shown_bytes(gate), sizes.replies);
        let all = |turn: Turn, bytes: usize| {
            let bytes = |seat: &Seat| instructions_bytes(gate, turn, &seat.name) + bytes;
            plan.participants().map(|seat| PlannedCall { seat, bytes: bytes(seat) }).collect()
        };
        let chair = plan.chairs.first().and_then(|chair| plan.seat(chair));
        let bytes = adjudicator_system(gate).len() + asked + replies * 2;
        let chairing = chair.map(|seat| PlannedCall { seat, bytes });
        vec![
            PlannedRound { name: "R1", calls: all(Turn::First, asked) },
            PlannedRound { name: "R2", calls: all(Turn::Cross, asked + replies) },
            PlannedRound { name: "R3", calls: chairing.into_iter().collect() },
        ]
    }

    fn role_titles(&self) -> RoleTitles {
        RoleTitles { participant: "Deliberator", chair: "Adjudicator" }
    }

    fn has_question(&self) -> bool {
        false
    }

    fn document(&self, state: &Transcript) -> serde_json::Result<Value> {
        serde_json::to_value(document(state))
    }

    /// Verdicts that were imported from another log have no run.
    fn export_section(
        &self,
        journal: &[Entry],
    ) -> serde_json::Result<Option<(&'static str, Value)>> {
        Ok(Some(match Transcript::of(journal) {
            Some(state) => ("review", self.document(&state)?),
            None => ("imported", serde_json::to_value(imported_lines(journal))?),
        }))
    }

    fn markdown(&self, record: &Record, journal: &[Entry]) -> String {
        let told = match Transcript::of(journal) {
            Some(state) => Ran::Review(Box::new(document(&state))),
            None => Ran::Imported(imported_lines(journal)),
        };
        markdown(record, Some(&told))
    }

    fn page(&self, shown: &ShownRun<'_>, canvas: Canvas) -> Option<String> {
        Some(match shown.state {
            Some(state) => draw_review(shown.record, state, canvas),
            None => draw_imported(shown.record, &imported_lines(shown.journal), canvas),
        })
    }

    fn result_page(&self, _: &Record, state: &Transcript, canvas: Canvas) -> String {
        draw_review_result(state, canvas)
    }

    /// The whole document: everything in a review leads to its verdict.
    fn conclusion_document(&self, state: &Transcript) -> serde_json::Result<Option<Value>> {
        state.ruling.as_ref().map(|_| self.document(state)).transpose()
    }

    fn missing_conclusion(&self, _: &DialogueId) -> MissingConclusion {
        MissingConclusion {
            lacks: "verdict of a review",
            suggestion:
                "deliberation_status with resume: true goes on with a review that broke off"
                    .to_owned(),
        }
    }
}

/// The tokens that a review takes at least: both rounds of every deliberator, and the longest
/// reply of each. With fewer it would stop half way.
pub fn least_tokens(plan: &Plan, bytes_around: usize, bytes_per_token: usize) -> u64 {
    let Some(gate) = plan.gate.as_deref() else { return 0 };
    let about = shown_bytes(gate) + bytes_around;
    let least = |seat: &Seat| {
        let read = |turn| (instructions_bytes(gate, turn, &seat.name) + about) / bytes_per_token;
        (read(Turn::First) + read(Turn::Cross)) as u64 + u64::from(seat.output_tokens_max)
    };
    plan.participants().map(least).sum()
}

fn instructions_bytes(gate: &GatePlan, turn: Turn, seat: &ExpertSlug) -> usize {
    deliberator_system(gate, turn, seat).map_or(0, |system| system.len())
}

/// The artifact, and the files that its deliberators judge by.
fn shown_bytes(gate: &GatePlan) -> usize {
    let context = gate.deliberators.iter().flat_map(|one| &one.context);
    let context: usize = context.filter_map(|file| file.text.as_ref()).map(String::len).sum();
    gate.artifact.text.len() + context
}

/// The lines that were imported from another log.
fn imported_lines(journal: &[Entry]) -> Vec<LogRow> {
    let lines = journal.iter().flat_map(|entry| &entry.changes).filter_map(|change| {
        let Change::VerdictLogged(line) = change else { return None };
        Some(line.as_ref().clone())
    });
    lines.collect()
}
