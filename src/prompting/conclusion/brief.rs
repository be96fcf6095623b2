//! What synthesizer and reviser may read, as a value: question and files, participants, record,
//! the chair's report, and interventions to all seats.

use serde::Serialize;
use serde_json::Value;

use super::chronicle::Chronicle;
use crate::domain::ask::Ask;
use crate::domain::conclusion::{Conclusion, Objection, Participant};
use crate::domain::ids::ExpertSlug;
use crate::domain::record::Record;
use crate::domain::transcript::Transcript;
use crate::prompting::condense::shown_bytes;
use crate::prompting::view::{Section, View, as_text};
use crate::protocols::council::Letters;
use crate::protocols::interventions::Hearing;

/// The beginning of an expert's role is enough.
const ROLE_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub(super) struct Brief<'a> {
    /// The question, its files and the interventions.
    pub view: View,
    /// The dialogue's background.
    pub background: Option<String>,
    pub participants: String,
    pub chronicle: Chronicle<'a>,
    pub report: Option<Value>,
    /// The conclusion and the objections to it; only for the reviser.
    pub mending: Vec<Section>,
}

impl<'a> Brief<'a> {
    pub(super) fn of(transcript: &Transcript, record: &'a Record, ask: &Ask) -> Self {
        Self {
            view: View::of_question(transcript, ask, Hearing::Public),
            background: transcript.opening.background.as_ref().map(as_text),
            participants: participants(transcript, record),
            chronicle: Chronicle::of(record),
            report: transcript.report.as_ref().and_then(|report| serde_json::to_value(report).ok()),
            mending: Vec::new(),
        }
    }

    /// The brief for the reviser.
    #[must_use]
    pub(super) fn with_objections(self, conclusion: &Conclusion, objections: &[Objection]) -> Self {
        let mending = vec![
            Section::new("CONCLUSION", "the conclusion that you wrote", as_text(conclusion)),
            Section::new(
                "OBJECTIONS",
                "what an auditor objects to in that conclusion",
                as_text(&objections),
            ),
        ];
        Self { mending, ..self }
    }

    /// All fenced sections, in reading order.
    pub(super) fn sections(&self) -> Vec<Section> {
        let record = Section::new(
            "RECORD",
            "the record of the deliberation, a line of JSON for each round, entity, move and verdict",
            self.chronicle.text(),
        );
        self.before_record().into_iter().chain([record]).chain(self.after_record()).collect()
    }

    /// Length of all sections but the record, including escapes and fences.
    pub(super) fn bytes_around_record(&self) -> usize {
        shown_bytes(&self.before_record()) + shown_bytes(&self.after_record())
    }

    fn before_record(&self) -> Vec<Section> {
        let mut sections = vec![self.view.question_section()];
        sections.extend(self.view.file_sections());
        let background = self.background.clone();
        sections.extend(
            background.map(|text| {
                Section::new("BACKGROUND", "what the deliberation was opened with", text)
            }),
        );
        let whose = "the list of those who took part";
        sections.push(Section::new("PARTICIPANTS", whose, self.participants.clone()));
        sections
    }

    fn after_record(&self) -> Vec<Section> {
        let report = self
            .report
            .as_ref()
            .map(|report| Section::new("REPORT", "the report of the council", as_text(report)));
        let more = self.mending.iter().chain(&self.view.additions).cloned();
        report.into_iter().chain(more).collect()
    }
}

/// A participant as the conclusion names it, with its letter and role.
#[derive(Serialize)]
struct Listed<'a> {
    agent: &'a ExpertSlug,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    letter: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
}

/// One JSON line per participant.
fn participants(transcript: &Transcript, record: &Record) -> String {
    let letters = Letters::of(&transcript.plan);
    let role = |agent| {
        let role = &record.expert(agent)?.profile.role;
        Some(role.chars().take(ROLE_CHARS_MAX).collect())
    };
    let listed = transcript.participants.iter().flatten().map(|participant| {
        let Participant { agent, version } = participant;
        let letter = letters.letter(agent);
        let listed = Listed { agent, version, letter, role: role(agent) };
        serde_json::to_string(&listed).unwrap_or_default()
    });
    listed.collect::<Vec<_>>().join("\n")
}
