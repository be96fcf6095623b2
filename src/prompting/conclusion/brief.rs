//! What synthesizer and reviser may read, as a value: question and files, participants, record,
//! the chair's report, and interventions to all seats.

use serde::Serialize;
use serde_json::Value;

use super::chronicle::RecordDigest;
use crate::domain::ask::Ask;
use crate::domain::conclusion::{AuditObjection, Conclusion, ConclusionParticipant};
use crate::domain::ids::ExpertSlug;
use crate::domain::record::DialogueRecord;
use crate::domain::transcript::RunState;
use crate::prompting::condense::rendered_bytes;
use crate::prompting::view::{FencedSection, ReaderView, to_pretty_json};
use crate::protocols::council::SeatLetters;
use crate::protocols::interventions::InterventionScope;

/// The beginning of an expert's role is enough.
const ROLE_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub(super) struct ConclusionBrief<'a> {
    /// The question, its files and the interventions.
    pub view: ReaderView,
    /// The dialogue's background.
    pub background: Option<String>,
    pub participants: String,
    pub chronicle: RecordDigest<'a>,
    pub report: Option<Value>,
    /// The conclusion and the objections to it; only for the reviser.
    pub revision_sections: Vec<FencedSection>,
}

impl<'a> ConclusionBrief<'a> {
    pub(super) fn from_state(transcript: &RunState, record: &'a DialogueRecord, ask: &Ask) -> Self {
        Self {
            view: ReaderView::of_question(transcript, ask, InterventionScope::Public),
            background: transcript.opening.background.as_ref().map(to_pretty_json),
            participants: participant_lines(transcript, record),
            chronicle: RecordDigest::from_record(record),
            report: transcript.report.as_ref().and_then(|report| serde_json::to_value(report).ok()),
            revision_sections: Vec::new(),
        }
    }

    /// The brief for the reviser.
    #[must_use]
    pub(super) fn with_objections(
        self,
        conclusion: &Conclusion,
        objections: &[AuditObjection],
    ) -> Self {
        let mending = vec![
            FencedSection::new(
                "CONCLUSION",
                "the conclusion that you wrote",
                to_pretty_json(conclusion),
            ),
            FencedSection::new(
                "OBJECTIONS",
                "what an auditor objects to in that conclusion",
                to_pretty_json(&objections),
            ),
        ];
        Self { revision_sections: mending, ..self }
    }

    /// All fenced sections, in reading order.
    pub(super) fn all_sections(&self) -> Vec<FencedSection> {
        let record = FencedSection::new(
            "RECORD",
            "the record of the deliberation, a line of JSON for each round, entity, move and verdict",
            self.chronicle.full_text(),
        );
        self.before_record().into_iter().chain([record]).chain(self.after_record()).collect()
    }

    /// Length of all sections but the record, including escapes and fences.
    pub(super) fn bytes_around_record(&self) -> usize {
        rendered_bytes(&self.before_record()) + rendered_bytes(&self.after_record())
    }

    fn before_record(&self) -> Vec<FencedSection> {
        let mut sections = vec![self.view.question_section()];
        sections.extend(self.view.file_sections());
        let background = self.background.clone();
        sections.extend(background.map(|text| {
            FencedSection::new("BACKGROUND", "what the deliberation was opened with", text)
        }));
        let whose = "the list of those who took part";
        sections.push(FencedSection::new("PARTICIPANTS", whose, self.participants.clone()));
        sections
    }

    fn after_record(&self) -> Vec<FencedSection> {
        let report = self.report.as_ref().map(|report| {
            FencedSection::new("REPORT", "the report of the council", to_pretty_json(report))
        });
        let more = self.revision_sections.iter().chain(&self.view.additions).cloned();
        report.into_iter().chain(more).collect()
    }
}

/// A participant as the conclusion names it, with its letter and role.
#[derive(Serialize)]
struct ListedParticipant<'a> {
    agent: &'a ExpertSlug,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    letter: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
}

/// One JSON line per participant.
fn participant_lines(transcript: &RunState, record: &DialogueRecord) -> String {
    let letters = SeatLetters::from_plan(&transcript.plan);
    let role = |agent| {
        let role = &record.find_expert(agent)?.profile.role;
        Some(role.chars().take(ROLE_CHARS_MAX).collect())
    };
    let listed = transcript.participants.iter().flatten().map(|participant| {
        let ConclusionParticipant { agent, version } = participant;
        let letter = letters.letter_of(agent);
        let listed = ListedParticipant { agent, version, letter, role: role(agent) };
        serde_json::to_string(&listed).unwrap_or_default()
    });
    listed.collect::<Vec<_>>().join("\n")
}
