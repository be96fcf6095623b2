//! Judgements and artifact facts as JSON sections for other seats.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::model::ids::ExpertSlug;
use crate::model::plan::INPUT_BYTES_MAX;
use crate::prompting::condense::{
    OWN_TEXT_BYTES, TEXT_BYTES_STEPS, fits_budget, map_texts, rendered_bytes, truncate_to_fit,
};
use crate::prompting::fence::FencedSection;
use crate::prompting::reader_view::to_pretty_json;
use crate::prompting::shared_block::number_lines;
use crate::protocols::review::locus::lacks_quote;
use crate::protocols::review::messages::DeliberatorView;
use crate::protocols::review::seat_results::{ConcernIds, NumberedConcern, SeatResult};
use crate::protocols::review::types::{
    DeliberatorJudgement, DeliberatorVerdict, ReviewArtifact, ReviewConcern,
};

/// Longer names and paths are truncated.
const NAME_CHARS_MAX: usize = 1_000;

/// A judgement as a fenced section.
#[derive(Debug, Clone)]
pub(crate) struct JudgementSection {
    label: String,
    pub content: Value,
}

impl JudgementSection {
    /// The reader's own judgement of the first round.
    pub(crate) fn own_first(
        seat: &ExpertSlug,
        judgement: &DeliberatorJudgement,
        artifact: &str,
    ) -> Self {
        let content = first_judgement_json(seat, judgement, artifact);
        Self { label: "YOUR FIRST JUDGEMENT".to_owned(), content }
    }

    /// Another deliberator's judgement of the first round.
    pub(crate) fn peer_first(
        seat: &ExpertSlug,
        judgement: &DeliberatorJudgement,
        artifact: &str,
    ) -> Self {
        let content = first_judgement_json(seat, judgement, artifact);
        Self { label: judgement_label(seat), content }
    }

    /// A deliberator's current judgement. A concern kept from the first round keeps its id, so that
    /// citations of it remain valid.
    pub(crate) fn current_judgement(position: &SeatResult<'_>, artifact: &str) -> Option<Self> {
        let (seat, held) = (position.seat, position.final_judgement()?);
        let ConcernIds { kept, dropped } = ConcernIds::from_results(position);
        let [concerns, dropped] = [kept, dropped].map(|numbered| {
            numbered.into_iter().map(|one| concern_to_json(one, artifact)).collect()
        });
        Some(Self {
            label: judgement_label(seat),
            content: judgement_to_json(&JudgementJson::from_judgement(
                seat, held, concerns, dropped,
            )),
        })
    }

    pub(crate) fn to_section(&self) -> FencedSection {
        FencedSection::material(&self.label, to_pretty_json(&self.content))
    }
}

fn judgement_label(seat: &ExpertSlug) -> String {
    format!("JUDGEMENT {seat}")
}

/// Whether a section names the producer of the artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProducerVisibility {
    Named,
    /// Deliberators judge the text, not its producer.
    Unnamed,
}

/// Path and type of the artifact, and its producer if visible.
pub(crate) fn about_artifact(
    artifact: &ReviewArtifact,
    maker: ProducerVisibility,
) -> FencedSection {
    #[derive(Serialize)]
    struct ArtifactFacts {
        path: String,
        #[serde(rename = "type")]
        artifact_type: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        producer: Option<String>,
    }
    let producer = artifact
        .producer
        .as_deref()
        .filter(|_| maker == ProducerVisibility::Named)
        .map(truncate_name);
    let (path, artifact_type) =
        (truncate_name(&artifact.path), truncate_name(&artifact.artifact_type));
    let about = ArtifactFacts { path, artifact_type, producer };
    FencedSection::material("ABOUT THE ARTIFACT", to_pretty_json(&about))
}

/// Truncates a foreign name or path.
pub(crate) fn truncate_name(written: &str) -> String {
    written.chars().take(NAME_CHARS_MAX).collect()
}

/// A judgement with ids for its concerns.
#[derive(Serialize)]
struct JudgementJson<'a> {
    deliberator: &'a ExpertSlug,
    verdict: DeliberatorVerdict,
    would_block: bool,
    irreducible: bool,
    scores: &'a BTreeMap<String, u8>,
    concerns: Vec<ConcernJson<'a>>,
    /// Concerns dropped since the first round, listed because others may have cited them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped_since_first: Vec<ConcernJson<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    concessions: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    escalations: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    delta_from_r1: &'a str,
    revision_brief: &'a str,
}

#[derive(Serialize)]
struct ConcernJson<'a> {
    id: String,
    locus: &'a str,
    /// The locus quotes words that are not in the artifact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    quote_not_found: bool,
    issue: &'a str,
    fix: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    code: &'a str,
}

impl<'a> JudgementJson<'a> {
    fn from_judgement(
        seat: &'a ExpertSlug,
        judgement: &'a DeliberatorJudgement,
        concerns: Vec<ConcernJson<'a>>,
        dropped_since_first: Vec<ConcernJson<'a>>,
    ) -> Self {
        Self {
            deliberator: seat,
            verdict: judgement.verdict,
            would_block: judgement.would_block,
            irreducible: judgement.irreducible,
            scores: &judgement.scores,
            concerns,
            dropped_since_first,
            concessions: &judgement.concessions,
            escalations: &judgement.escalations,
            delta_from_r1: &judgement.delta_from_r1,
            revision_brief: &judgement.revision_brief,
        }
    }
}

fn first_judgement_json(
    seat: &ExpertSlug,
    judgement: &DeliberatorJudgement,
    artifact: &str,
) -> Value {
    let concerns = NumberedConcern::from_first_round(seat, judgement);
    let concerns = concerns.into_iter().map(|one| concern_to_json(one, artifact)).collect();
    judgement_to_json(&JudgementJson::from_judgement(seat, judgement, concerns, Vec::new()))
}

fn judgement_to_json(judgement: &JudgementJson<'_>) -> Value {
    serde_json::to_value(judgement).unwrap_or_default()
}

fn concern_to_json<'a>(numbered: NumberedConcern<'a>, artifact: &str) -> ConcernJson<'a> {
    let quote_not_found = lacks_quote(numbered.concern, artifact);
    let ReviewConcern { locus, issue, fix, code } = numbered.concern;
    ConcernJson { id: numbered.id, locus, quote_not_found, issue, fix, code }
}

/// Limit for all judgements together. Four judgements with eight long concerns each take less
/// than a quarter of it.
const JUDGEMENTS_BYTES_MAX: usize = 200_000;

/// All context files together keep at least this many bytes.
const CONTEXT_BYTES_MIN: usize = 20_000;

/// The artifact keeps at least this many bytes.
const ARTIFACT_BYTES_MIN: usize = 4_000;

/// The artifact in the shared block takes at most what judgements and context leave, and at least a
/// third of a small window.
fn artifact_bytes_max(input_bytes: usize) -> usize {
    let others = JUDGEMENTS_BYTES_MAX + CONTEXT_BYTES_MIN + OWN_TEXT_BYTES;
    input_bytes.saturating_sub(others).max(input_bytes / 3)
}

/// Whether a deliberator with the usual window sees the whole artifact. Escapes and line numbers
/// count.
pub fn fits_whole(artifact: &str) -> bool {
    fits_into(artifact, artifact_bytes_max(INPUT_BYTES_MAX))
}

fn fits_into(artifact: &str, bytes_max: usize) -> bool {
    artifact.len() <= bytes_max
        && rendered_bytes(&[artifact_section(artifact, usize::MAX)]) <= bytes_max
}

/// The artifact with numbered lines, cut to head and tail if it is too long, and a note of the cut.
pub(crate) fn numbered_artifact(
    artifact: &str,
    input_bytes: usize,
) -> (FencedSection, Option<String>) {
    let bytes_max = artifact_bytes_max(input_bytes);
    if fits_into(artifact, bytes_max) {
        return (artifact_section(artifact, usize::MAX), None);
    }
    let mut target = bytes_max;
    let mut section = artifact_section(artifact, target);
    while rendered_bytes(std::slice::from_ref(&section)) > bytes_max && target > ARTIFACT_BYTES_MIN
    {
        target = target * 9 / 10;
        section = artifact_section(artifact, target);
    }
    let (before, after) = (artifact.len(), section.text.len());
    let note = format!("the artifact was cut from {before} to {after} bytes, head and tail kept");
    (section, Some(note))
}

fn artifact_section(artifact: &str, bytes_max: usize) -> FencedSection {
    let text = number_lines(artifact, bytes_max);
    FencedSection { is_neutral: true, ..FencedSection::material("ARTIFACT", text) }
}

/// Cuts until everything fits into `bytes_left`; returns a note for each cut.
pub(crate) fn condense_deliberator_view(
    view: &mut DeliberatorView,
    bytes_left: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    if !fits_budget(&view.all_sections(), bytes_left) {
        notes.extend(cut_judgements(&mut view.judgements, bytes_left));
    }
    if !fits_budget(&view.all_sections(), bytes_left) {
        notes.extend(cut_context(view, bytes_left));
    }
    notes
}

/// Cuts the texts of judgements to head and tail, with a smaller limit each time.
pub(crate) fn cut_judgements(
    judgements: &mut [JudgementSection],
    bytes_left: usize,
) -> Option<String> {
    let most = JUDGEMENTS_BYTES_MAX.min(bytes_left / 2);
    let bytes = |judgements: &[JudgementSection]| {
        rendered_bytes(&judgements.iter().map(JudgementSection::to_section).collect::<Vec<_>>())
    };
    let mut note = None;
    for bytes_max in TEXT_BYTES_STEPS {
        if bytes(judgements) <= most {
            break;
        }
        let cut = |text: &str| truncate_to_fit(text, bytes_max);
        judgements.iter_mut().for_each(|shown| map_texts(&mut shown.content, &cut));
        let what = "in the judgements, texts over";
        note = Some(format!("{what} {bytes_max} bytes were cut, head and tail kept"));
    }
    note
}

/// Cuts each file in proportion to its size.
fn cut_context(program: &mut DeliberatorView, bytes_left: usize) -> Option<String> {
    let bytes =
        |program: &DeliberatorView| rendered_bytes(&program.context_sections().collect::<Vec<_>>());
    let before = bytes(program);
    let judgements = rendered_bytes(&program.judgement_sections().collect::<Vec<_>>());
    let room = bytes_left.saturating_sub(judgements + OWN_TEXT_BYTES);
    let room = room.max(CONTEXT_BYTES_MIN.min(bytes_left));
    if before <= room {
        return None;
    }
    let whole = program.context.clone();
    let mut target = room;
    while bytes(program) > room && target > CONTEXT_BYTES_MIN / 4 {
        for (file, whole) in program.context.iter_mut().zip(&whole) {
            let share = |text: &String| text.len() as u128 * target as u128 / before as u128;
            let cut =
                |text: &String| truncate_to_fit(text, usize::try_from(share(text)).unwrap_or(0));
            file.text = whole.text.as_ref().map(cut);
        }
        target = target * 9 / 10;
    }
    let after = bytes(program);
    Some(format!("the context files were cut from {before} to {after} bytes, head and tail kept"))
}
