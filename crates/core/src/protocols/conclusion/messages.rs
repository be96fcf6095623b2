//! Builds the messages of the synthesizer and the reviser, who write the conclusion.
//!
//! Unlike the chair they see the agents' names, because the conclusion names them; so nothing is
//! masked.

use serde::Serialize;
use serde_json::Value;

use crate::model::ask::{Ask, AskMessages};
use crate::model::ids::ExpertSlug;
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::model::time::Day;
use crate::prompting::condense::{
    INPUT_BYTES_MAX, OWN_TEXT_BYTES, context_bytes, cut_context_to, cut_question, map_texts,
    rendered_bytes, truncate_to_fit,
};
use crate::prompting::fence::{MessageParts, RenderedPrompt};
use crate::prompting::instructions::{DRAFT, REVISION, RoleText};
use crate::prompting::reader_view::{FencedSection, ReaderView, to_pretty_json};
use crate::protocols::conclusion::next::{audit_trail, draft_conclusion};
use crate::protocols::conclusion::record_digest::{DetailLevel, RecordDigest};
use crate::protocols::conclusion::types::{AuditObjection, Conclusion, ConclusionParticipant};
use crate::protocols::council::answers::{SeatLetters, list_opinions, tally_stances};
use crate::protocols::council::messages::additions_remark;
use crate::protocols::council::types::OpinionStance;
use crate::protocols::pending_asks::InterventionScope;

/// The synthesizer's messages: the whole record, without private whispers.
pub fn synthesizer_messages(
    transcript: &RunState,
    record: &DialogueRecord,
    ask: &Ask,
) -> RenderedPrompt {
    render_messages(
        transcript,
        DRAFT,
        ConclusionBrief::from_state(transcript, record, ask),
        ask,
        Vec::new(),
    )
}

/// The reviser's messages: the same, with the conclusion and the objections to it.
pub fn reviser_messages(
    transcript: &RunState,
    record: &DialogueRecord,
    ask: &Ask,
) -> RenderedPrompt {
    let mut brief = ConclusionBrief::from_state(transcript, record, ask);
    let mut remarks = Vec::new();
    if let (Some(draft), Some(trail)) = (draft_conclusion(transcript), audit_trail(transcript)) {
        brief = brief.with_objections(draft, &trail.objections);
        let fields = trail.revised_fields.iter().map(|field| format!("`{field}`"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        remarks.push(format!("Flagged, and to be mended: {fields}. Everything else stays."));
    }
    render_messages(transcript, REVISION, brief, ask, remarks)
}

fn render_messages(
    transcript: &RunState,
    role: RoleText,
    mut brief: ConclusionBrief<'_>,
    ask: &Ask,
    more: Vec<String>,
) -> RenderedPrompt {
    let condensed = condense_brief(&mut brief);
    let mut remarks: Vec<String> = additions_remark(&brief.view).into_iter().collect();
    remarks.extend(stances_remark(transcript));
    remarks.push(format!("Today is {}.", ask_day(transcript, ask)));
    remarks.extend(more);
    let parts = MessageParts {
        secret: &transcript.plan.secret,
        sections: &brief.all_sections(),
        remarks: &remarks,
        task: role.task,
        rejection_reason: ask.retry_reason.as_deref(),
    };
    let system = role.system_prompt(transcript.plan.mode);
    RenderedPrompt { messages: AskMessages { system, user: parts.render_message(ask) }, condensed }
}

/// The stances of a council's first round, counted by the program.
fn stances_remark(transcript: &RunState) -> Option<String> {
    let tally = tally_stances(transcript);
    let counts =
        OpinionStance::ALL.iter().map(|stance| format!("{} {stance}", tally.count_of(*stance)));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let is_council = !list_opinions(transcript).is_empty();
    is_council.then(|| format!("The stances of the first round, counted: {counts}."))
}

/// The day the ask was made, also when it is sent again after a crash.
fn ask_day(transcript: &RunState, ask: &Ask) -> Day {
    let made =
        transcript.find_ask(ask.id).map_or(transcript.last_entry_at, |asked| asked.prepared_at);
    made.utc_day()
}

/// The beginning of an expert's role is enough.
const ROLE_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub(crate) struct ConclusionBrief<'a> {
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
    pub(crate) fn from_state(transcript: &RunState, record: &'a DialogueRecord, ask: &Ask) -> Self {
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
    pub(crate) fn with_objections(
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
    pub(crate) fn all_sections(&self) -> Vec<FencedSection> {
        let record = FencedSection::new(
            "RECORD",
            "the record of the deliberation, a line of JSON for each round, entity, move and verdict",
            self.chronicle.full_text(),
        );
        self.before_record().into_iter().chain([record]).chain(self.after_record()).collect()
    }

    /// Length of all sections but the record, including escapes and fences.
    pub(crate) fn bytes_around_record(&self) -> usize {
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

/// The files keep at least this many bytes. The record matters more for the conclusion.
const CONTEXT_BYTES_MIN: usize = 100_000;

const BACKGROUND_BYTES_MAX: usize = 50_000;

/// The sentence and the fence lines around the record.
const FENCE_BYTES: usize = 600;

/// Limits for long texts, tried in order: first in all rounds, then, after older rounds were cut,
/// in the newest.
const LONG_TEXT_BYTES: [usize; 3] = [16_000, 8_000, 4_000];
const PARAGRAPH_BYTES: [usize; 3] = [2_000, 1_000, 300];

/// Limits for labels, tried in order when labels alone are too long.
const LABEL_CHARS: [usize; 3] = [160, 40, 0];

type CutStep = fn(&mut ConclusionBrief<'_>) -> Vec<String>;

/// Cuts until everything fits; returns a note for each cut. Open tensions are always named, so
/// only thousands of them can exceed the budget.
pub(crate) fn condense_brief(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let cuts: [CutStep; 6] = [
        cut_files_and_background,
        cut_long_texts,
        cut_older_to_labels,
        cut_older_to_tensions,
        cut_newest_texts,
        cut_every_round,
    ];
    let mut notes = Vec::new();
    for cut in cuts {
        if brief.chronicle.fits_bytes(record_bytes_left(brief)) {
            break;
        }
        notes.extend(cut(brief));
    }
    notes
}

/// Bytes available for the record.
fn record_bytes_left(brief: &ConclusionBrief<'_>) -> usize {
    let taken = brief.bytes_around_record() + FENCE_BYTES + OWN_TEXT_BYTES;
    INPUT_BYTES_MAX.saturating_sub(taken)
}

fn cut_files_and_background(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let mut notes: Vec<String> = cut_question(&mut brief.view).into_iter().collect();
    if let Some(background) = &mut brief.background {
        let (before, cut) = (background.len(), truncate_to_fit(background, BACKGROUND_BYTES_MAX));
        if cut.len() < before {
            notes.push(format!("the background was cut from {before} to {} bytes", cut.len()));
            *background = cut;
        }
    }
    let for_files = record_bytes_left(brief) + context_bytes(&brief.view);
    let left = for_files.saturating_sub(brief.chronicle.plain_bytes()).max(CONTEXT_BYTES_MIN);
    notes.extend(cut_context_to(&mut brief.view, left));
    notes
}

fn cut_older_to_labels(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let older = brief.chronicle.newest_and_older().1;
    rerender_rounds(brief, &older, DetailLevel::Labels)
        .map(|told| format!("{told} to labels"))
        .into_iter()
        .collect()
}

fn cut_older_to_tensions(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let older = brief.chronicle.newest_and_older().1;
    let detail = DetailLevel::OpenTensions { label_chars: LABEL_CHARS[0] };
    let told = rerender_rounds(brief, &older, detail);
    told.map(|told| format!("{told} to their open tensions")).into_iter().collect()
}

/// Renders the newest round in less detail, then all rounds in the least.
fn cut_every_round(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let (newest, older) = brief.chronicle.newest_and_older();
    let newest: Vec<u8> = newest.into_iter().collect();
    let all: Vec<u8> = older.iter().chain(&newest).copied().collect();
    let mut notes = Vec::new();
    notes.extend(
        rerender_rounds(brief, &newest, DetailLevel::Labels)
            .map(|told| format!("{told} to labels")),
    );
    for label_chars in LABEL_CHARS {
        let told = rerender_rounds(brief, &all, DetailLevel::OpenTensions { label_chars });
        let what = format!("to their open tensions, by {label_chars} characters of their labels");
        notes.extend(told.map(|told| format!("{told} {what}")));
    }
    notes
}

/// Renders rounds again, one after the other, until everything fits; returns which.
fn rerender_rounds(
    brief: &mut ConclusionBrief<'_>,
    rounds: &[u8],
    detail: DetailLevel,
) -> Option<String> {
    let room = record_bytes_left(brief);
    let mut told: Vec<u8> = Vec::new();
    for round in rounds {
        if brief.chronicle.fits_bytes(room) {
            break;
        }
        brief.chronicle.rerender_round(*round, detail);
        told.push(*round);
    }
    match told.as_slice() {
        [] => None,
        [one] => Some(format!("round {one} was cut")),
        [first, .., last] => Some(format!("rounds {first} to {last} were cut")),
    }
}

/// Cuts very long texts in all rounds.
fn cut_long_texts(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let (newest, older) = brief.chronicle.newest_and_older();
    let all: Vec<u8> = older.into_iter().chain(newest).collect();
    cut_texts(brief, &LONG_TEXT_BYTES, &all)
}

fn cut_newest_texts(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let newest: Vec<u8> = brief.chronicle.newest_and_older().0.into_iter().collect();
    cut_texts(brief, &PARAGRAPH_BYTES, &newest)
}

/// Cuts texts in these rounds, the verdicts, the report and the interventions to head and tail,
/// with a smaller limit each time, until everything fits.
fn cut_texts(brief: &mut ConclusionBrief<'_>, sizes: &[usize], rounds: &[u8]) -> Vec<String> {
    let mut notes = Vec::new();
    for bytes_max in sizes {
        let (before, cut) =
            (record_bytes_left(brief), |text: &str| truncate_to_fit(text, *bytes_max));
        if brief.chronicle.fits_bytes(before) {
            break;
        }
        let mut is_cut = brief.chronicle.shorten_texts(rounds, *bytes_max);
        if let Some(report) = &mut brief.report {
            map_texts(report, &cut);
        }
        brief.view.additions.iter_mut().for_each(|added| added.text = cut(&added.text));
        is_cut |= record_bytes_left(brief) > before;
        if is_cut {
            notes = vec![format!("texts over {bytes_max} bytes were cut, head and tail kept")];
        }
    }
    notes
}
