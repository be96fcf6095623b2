//! Builds the messages of the synthesizer and the reviser, who write the conclusion.
//!
//! Unlike the chair they see the agents' names, because the conclusion names them; so nothing is
//! masked.

use serde_json::{Value, json};

use crate::model::ask::Ask;
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::model::time::Day;
use crate::prompting::condense::{
    FENCE_BYTES, OWN_TEXT_BYTES, map_texts, rendered_bytes, truncate_to_fit,
};
use crate::prompting::fence::FencedSection;
use crate::prompting::instructions::{DRAFT, REVISION, RoleText};
use crate::prompting::layout::{MessageParts, RenderedPrompt};
use crate::prompting::reader_view::{ReaderView, to_pretty_json};
use crate::prompting::shared_block::{SeatBlock, block_day, question_block, today_line};
use crate::protocols::conclusion::next::{audit_trail, draft_conclusion};
use crate::protocols::conclusion::record_digest::{DetailLevel, RecordDigest, to_json_line};
use crate::protocols::conclusion::types::{AuditObjection, Conclusion, ConclusionParticipant};
use crate::protocols::council::answers::{SeatLetters, list_opinions, tally_stances};
use crate::protocols::council::types::OpinionStance;
use crate::protocols::pending_asks::InterventionScope;

/// The synthesizer's messages: the whole record, without private whispers.
pub fn synthesizer_messages(
    state: &RunState,
    record: &DialogueRecord,
    ask: &Ask,
) -> RenderedPrompt {
    let brief = ConclusionBrief::from_state(state, record, ask);
    render_messages(state, DRAFT, brief, ask, Vec::new())
}

/// The reviser's messages: the same, with the conclusion and the objections to it.
pub fn reviser_messages(state: &RunState, record: &DialogueRecord, ask: &Ask) -> RenderedPrompt {
    let mut brief = ConclusionBrief::from_state(state, record, ask);
    let mut remarks = Vec::new();
    if let (Some(draft), Some(trail)) = (draft_conclusion(state), audit_trail(state)) {
        brief = brief.with_objections(draft, &trail.objections);
        let fields = trail.revised_fields.iter().map(|field| format!("`{field}`"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        remarks.push(format!("Flagged fields to fix: {fields}. Everything else stays."));
    }
    render_messages(state, REVISION, brief, ask, remarks)
}

fn render_messages(
    state: &RunState,
    role: RoleText,
    mut brief: ConclusionBrief<'_>,
    ask: &Ask,
    more: Vec<String>,
) -> RenderedPrompt {
    let notes = condense_brief(&mut brief);
    let mut remarks: Vec<String> = stances_remark(state).into_iter().collect();
    // A run may be concluded long after it started.
    let day = ask_day(state, ask);
    remarks.extend((day != block_day(state)).then(|| today_line(day)));
    remarks.extend(more);
    let parts = MessageParts {
        secret: &state.plan.secret,
        block: Some(&brief.block),
        role: &role.parts(state.plan.mode),
        sections: &brief.all_sections(),
        remarks: &remarks,
    };
    let condensed = brief.block.notes().chain(notes).collect();
    RenderedPrompt { messages: parts.render_messages(ask), condensed }
}

/// The stances of a council's first round, counted by the program.
fn stances_remark(state: &RunState) -> Option<String> {
    let tally = tally_stances(state);
    let counts =
        OpinionStance::ALL.iter().map(|stance| format!("{} {stance}", tally.count_of(*stance)));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let is_council = !list_opinions(state).is_empty();
    is_council.then(|| format!("The stances of the first round, counted: {counts}."))
}

/// The day the ask was made, also when it is sent again after a crash.
fn ask_day(state: &RunState, ask: &Ask) -> Day {
    let made = state.find_ask(ask.id).map_or(state.last_entry_at, |asked| asked.prepared_at);
    made.utc_day()
}

/// The beginning of an expert's role is enough.
const ROLE_CHARS_MAX: usize = 200;

#[derive(Debug)]
pub(crate) struct ConclusionBrief<'a> {
    /// The question and its files.
    pub block: SeatBlock,
    /// The interventions.
    pub view: ReaderView,
    /// The dialogue's background.
    pub background: Option<String>,
    pub participants: String,
    pub digest: RecordDigest<'a>,
    pub report: Option<Value>,
    /// The conclusion and the objections to it; only for the reviser.
    pub revision_sections: Vec<FencedSection>,
}

impl<'a> ConclusionBrief<'a> {
    pub(crate) fn from_state(state: &RunState, record: &'a DialogueRecord, ask: &Ask) -> Self {
        Self {
            block: question_block(state, &ask.seat),
            view: ReaderView::of_participant(state, ask, InterventionScope::Public),
            background: state.opening.background.as_ref().map(to_pretty_json),
            participants: participant_lines(state, record),
            digest: RecordDigest::from_record(record),
            report: state.report.as_ref().and_then(|report| serde_json::to_value(report).ok()),
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
        let sections = vec![
            FencedSection::material("CONCLUSION", to_pretty_json(conclusion)),
            FencedSection::material("OBJECTIONS", to_pretty_json(&objections)),
        ];
        Self { revision_sections: sections, ..self }
    }

    /// All fenced sections, in reading order.
    pub(crate) fn all_sections(&self) -> Vec<FencedSection> {
        let record = FencedSection::material("RECORD", self.digest.full_text());
        self.before_record().into_iter().chain([record]).chain(self.after_record()).collect()
    }

    fn before_record(&self) -> Vec<FencedSection> {
        let background = self.background.clone();
        let background = background.map(|text| FencedSection::material("BACKGROUND", text));
        let participants = FencedSection::material("PARTICIPANTS", self.participants.clone());
        background.into_iter().chain([participants]).collect()
    }

    fn after_record(&self) -> Vec<FencedSection> {
        let report = self
            .report
            .as_ref()
            .map(|report| FencedSection::material("REPORT", to_pretty_json(report)));
        let more = self.revision_sections.iter().chain(&self.view.additions).cloned();
        report.into_iter().chain(more).collect()
    }
}

/// One JSON line per participant, with its role; in a council with the letter under which others
/// wrote about it.
fn participant_lines(state: &RunState, record: &DialogueRecord) -> String {
    let letters = SeatLetters::from_plan(&state.plan);
    let is_council = !list_opinions(state).is_empty();
    let role = |agent| {
        let role = &record.find_expert(agent)?.profile.role;
        Some(role.chars().take(ROLE_CHARS_MAX).collect::<String>())
    };
    let lines = state.participants.iter().flatten().map(|participant| {
        let ConclusionParticipant { agent, version } = participant;
        match is_council {
            true => to_json_line(json!({
                "agent": agent, "version": version,
                "letter": letters.letter_of(agent), "role": role(agent),
            })),
            false => to_json_line(json!({
                "agent": agent, "version": version, "role": role(agent),
            })),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

const BACKGROUND_BYTES_MAX: usize = 50_000;

/// The rounds that a cut applies to.
#[derive(Debug, Clone, Copy)]
enum RoundChoice {
    All,
    /// The newest round with entities.
    Newest,
    Older,
}

/// The cuts of the record, tried in order until everything fits. Open tensions are always named,
/// so only thousands of them can exceed the budget.
const RECORD_CUTS: [(RoundChoice, DetailLevel); 10] = [
    (RoundChoice::All, DetailLevel::Texts(8_000)),
    (RoundChoice::All, DetailLevel::Texts(4_000)),
    (RoundChoice::Older, DetailLevel::Labels),
    (RoundChoice::Older, DetailLevel::OpenTensions { label_chars: 160 }),
    (RoundChoice::Newest, DetailLevel::Texts(1_000)),
    (RoundChoice::Newest, DetailLevel::Texts(300)),
    (RoundChoice::Newest, DetailLevel::Labels),
    (RoundChoice::All, DetailLevel::OpenTensions { label_chars: 160 }),
    (RoundChoice::All, DetailLevel::OpenTensions { label_chars: 40 }),
    (RoundChoice::All, DetailLevel::OpenTensions { label_chars: 0 }),
];

/// Cuts until everything fits; returns a note for each cut.
pub(crate) fn condense_brief(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    if brief.fits_budget() {
        return Vec::new();
    }
    let mut notes: Vec<String> = cut_background(brief).into_iter().collect();
    for (rounds, detail) in RECORD_CUTS {
        notes.extend(brief.cut_record(rounds, detail));
    }
    notes
}

fn cut_background(brief: &mut ConclusionBrief<'_>) -> Option<String> {
    let background = brief.background.as_mut()?;
    let (before, cut) = (background.len(), truncate_to_fit(background, BACKGROUND_BYTES_MAX));
    let after = cut.len();
    *background = cut;
    (after < before).then(|| format!("the background was cut from {before} to {after} bytes"))
}

impl ConclusionBrief<'_> {
    fn fits_budget(&self) -> bool {
        self.digest.fits_bytes(self.record_bytes_left())
    }

    /// Bytes available for the record.
    fn record_bytes_left(&self) -> usize {
        let around = rendered_bytes(&self.before_record()) + rendered_bytes(&self.after_record());
        self.block.bytes_left.saturating_sub(around + FENCE_BYTES + OWN_TEXT_BYTES)
    }

    /// Renders rounds in less detail, the oldest first, until everything fits.
    fn cut_record(&mut self, rounds: RoundChoice, detail: DetailLevel) -> Option<String> {
        if self.fits_budget() {
            return None;
        }
        let (before, left) = (self.digest.plain_bytes(), self.record_bytes_left());
        if let DetailLevel::Texts(bytes_max) = detail {
            self.cut_other_texts(bytes_max);
        }
        let (newest, older) = self.digest.newest_and_older();
        let rounds: Vec<u8> = match rounds {
            RoundChoice::All => older.into_iter().chain(newest).collect(),
            RoundChoice::Newest => newest.into_iter().collect(),
            RoundChoice::Older => older,
        };
        let room = self.record_bytes_left();
        let mut cut: Vec<u8> = Vec::new();
        for round in rounds {
            if self.digest.fits_bytes(room) {
                break;
            }
            self.digest.rerender_round(round, detail);
            cut.push(round);
        }
        let is_shorter = self.digest.plain_bytes() < before || room > left;
        is_shorter.then(|| detail.describe_cut(&cut))
    }

    /// Cuts the texts outside of the rounds to head and tail.
    fn cut_other_texts(&mut self, bytes_max: usize) {
        let cut = |text: &str| truncate_to_fit(text, bytes_max);
        self.digest.shorten_verdicts(bytes_max);
        if let Some(report) = &mut self.report {
            map_texts(report, &cut);
        }
        self.view.additions.iter_mut().for_each(|added| added.text = cut(&added.text));
    }
}
