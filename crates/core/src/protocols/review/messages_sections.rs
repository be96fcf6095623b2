//! Judgements and artifact facts as JSON sections for other seats.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::model::ids::ExpertSlug;
use crate::prompting::condense::{
    INPUT_BYTES_MAX, OWN_TEXT_BYTES, TEXT_BYTES_STEPS, fits_budget, map_texts, rendered_bytes,
    truncate_to_fit,
};
use crate::prompting::reader_view::{FencedSection, to_pretty_json};
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
    whose: String,
    pub said: Value,
}

impl JudgementSection {
    /// The reader's own judgement of the first round.
    pub(crate) fn own_first(seat: &ExpertSlug, judgement: &DeliberatorJudgement) -> Self {
        Self {
            label: "YOUR FIRST JUDGEMENT".to_owned(),
            whose: "your own judgement at the first reading".to_owned(),
            said: first_judgement_json(seat, judgement),
        }
    }

    /// Another deliberator's judgement of the first round.
    pub(crate) fn peer_first(seat: &ExpertSlug, judgement: &DeliberatorJudgement) -> Self {
        Self {
            label: judgement_label(seat),
            whose: format!("the judgement of the deliberator `{seat}` at the first reading"),
            said: first_judgement_json(seat, judgement),
        }
    }

    /// A deliberator's current judgement. A concern kept from the first round keeps its id, so that
    /// citations of it remain valid.
    pub(crate) fn current_judgement(position: &SeatResult<'_>) -> Option<Self> {
        let (seat, held) = (position.seat, position.final_judgement()?);
        let ConcernIds { kept, dropped } = ConcernIds::from_results(position);
        let [concerns, dropped] =
            [kept, dropped].map(|numbered| numbered.into_iter().map(concern_to_json).collect());
        Some(Self {
            label: judgement_label(seat),
            whose: format!("the judgement of the deliberator `{seat}`"),
            said: judgement_to_json(&JudgementJson::from_judgement(seat, held, concerns, dropped)),
        })
    }

    pub(crate) fn to_section(&self) -> FencedSection {
        FencedSection::new(&self.label, &self.whose, to_pretty_json(&self.said))
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
    FencedSection::new("ABOUT THE ARTIFACT", "the artifact's path and type", to_pretty_json(&about))
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
    issue: &'a str,
    fix: &'a str,
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

fn first_judgement_json(seat: &ExpertSlug, judgement: &DeliberatorJudgement) -> Value {
    let concerns = NumberedConcern::from_first_round(seat, judgement)
        .into_iter()
        .map(concern_to_json)
        .collect();
    judgement_to_json(&JudgementJson::from_judgement(seat, judgement, concerns, Vec::new()))
}

fn judgement_to_json(judgement: &JudgementJson<'_>) -> Value {
    serde_json::to_value(judgement).unwrap_or_default()
}

fn concern_to_json(numbered: NumberedConcern<'_>) -> ConcernJson<'_> {
    let ReviewConcern { locus, issue, fix } = numbered.concern;
    ConcernJson { id: numbered.id, locus, issue, fix }
}

/// Limit for all judgements together. Four judgements with eight long concerns each take less
/// than a quarter of it.
const JUDGEMENTS_BYTES_MAX: usize = 200_000;

/// All context files together keep at least this many bytes.
const CONTEXT_BYTES_MIN: usize = 20_000;

/// The artifact keeps at least this many bytes.
const ARTIFACT_BYTES_MIN: usize = 4_000;

/// Whether the whole artifact always fits beside the other sections. Escapes count, since they
/// take more bytes.
pub fn fits_whole(artifact: &str) -> bool {
    let shown = [FencedSection::new("ARTIFACT", "the artifact", artifact.to_owned())];
    let others = JUDGEMENTS_BYTES_MAX + CONTEXT_BYTES_MIN + OWN_TEXT_BYTES;
    rendered_bytes(&shown) <= INPUT_BYTES_MAX.saturating_sub(others)
}

/// Cuts until everything fits; returns a note for each cut.
pub(crate) fn condense_deliberator_view(desk: &mut DeliberatorView) -> Vec<String> {
    let cuts: [fn(&mut DeliberatorView) -> Option<String>; 3] =
        [|desk| cut_judgements(&mut desk.judgements), cut_context, cut_artifact];
    let mut notes = Vec::new();
    for cut in cuts {
        if fits_budget(&desk.all_sections()) {
            break;
        }
        notes.extend(cut(desk));
    }
    notes
}

/// Cuts the texts of judgements to head and tail, with a smaller limit each time.
pub(crate) fn cut_judgements(judgements: &mut [JudgementSection]) -> Option<String> {
    let bytes = |judgements: &[JudgementSection]| {
        rendered_bytes(&judgements.iter().map(JudgementSection::to_section).collect::<Vec<_>>())
    };
    let mut note = None;
    for bytes_max in TEXT_BYTES_STEPS {
        if bytes(judgements) <= JUDGEMENTS_BYTES_MAX {
            break;
        }
        let cut = |text: &str| truncate_to_fit(text, bytes_max);
        judgements.iter_mut().for_each(|shown| map_texts(&mut shown.said, &cut));
        let what = "in the judgements, texts over";
        note = Some(format!("{what} {bytes_max} bytes were cut, head and tail kept"));
    }
    note
}

/// Cuts each file in proportion to its size.
fn cut_context(desk: &mut DeliberatorView) -> Option<String> {
    let bytes =
        |desk: &DeliberatorView| rendered_bytes(&desk.context_sections().collect::<Vec<_>>());
    let before = bytes(desk);
    let room = bytes_left_for(desk, before).max(CONTEXT_BYTES_MIN);
    if before <= room {
        return None;
    }
    let whole = desk.context.clone();
    let mut target = room;
    while bytes(desk) > room && target > CONTEXT_BYTES_MIN / 4 {
        for (file, whole) in desk.context.iter_mut().zip(&whole) {
            let share = |text: &String| text.len() as u128 * target as u128 / before as u128;
            let cut =
                |text: &String| truncate_to_fit(text, usize::try_from(share(text)).unwrap_or(0));
            file.text = whole.text.as_ref().map(cut);
        }
        target = target * 9 / 10;
    }
    let after = bytes(desk);
    Some(format!("the context files were cut from {before} to {after} bytes, head and tail kept"))
}

fn cut_artifact(desk: &mut DeliberatorView) -> Option<String> {
    let whole = std::mem::take(&mut desk.artifact);
    let before = whole.len();
    let mut target = bytes_left_for(desk, 0).max(ARTIFACT_BYTES_MIN);
    desk.artifact = truncate_to_fit(&whole, target);
    while !fits_budget(&desk.all_sections()) && target > ARTIFACT_BYTES_MIN {
        target = target * 9 / 10;
        desk.artifact = truncate_to_fit(&whole, target);
    }
    let after = desk.artifact.len();
    (after < before)
        .then(|| format!("the artifact was cut from {before} to {after} bytes, head and tail kept"))
}

/// Bytes available for a part that currently takes `part_bytes`.
fn bytes_left_for(desk: &DeliberatorView, part_bytes: usize) -> usize {
    let sections: Vec<FencedSection> = desk.all_sections();
    let others = rendered_bytes(&sections).saturating_sub(part_bytes) + OWN_TEXT_BYTES;
    INPUT_BYTES_MAX.saturating_sub(others)
}
