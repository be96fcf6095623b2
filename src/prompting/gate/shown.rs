//! Judgements and artifact facts as JSON sections for other seats.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::domain::gate::{
    DeliberatorJudgement, DeliberatorVerdict, ReviewArtifact, ReviewConcern,
};
use crate::domain::ids::ExpertSlug;
use crate::prompting::view::{FencedSection, to_pretty_json};
use crate::protocols::gate::{ConcernIds, NumberedConcern, SeatResult};

/// Longer names and paths are truncated.
const NAME_CHARS_MAX: usize = 1_000;

/// A judgement as a fenced section.
#[derive(Debug, Clone)]
pub(super) struct JudgementSection {
    label: String,
    whose: String,
    pub said: Value,
}

impl JudgementSection {
    /// The reader's own judgement of the first round.
    pub(super) fn own_first(seat: &ExpertSlug, judgement: &DeliberatorJudgement) -> Self {
        Self {
            label: "YOUR FIRST JUDGEMENT".to_owned(),
            whose: "your own judgement at the first reading".to_owned(),
            said: first_judgement_json(seat, judgement),
        }
    }

    /// Another deliberator's judgement of the first round.
    pub(super) fn peer_first(seat: &ExpertSlug, judgement: &DeliberatorJudgement) -> Self {
        Self {
            label: judgement_label(seat),
            whose: format!("the judgement of the deliberator `{seat}` at the first reading"),
            said: first_judgement_json(seat, judgement),
        }
    }

    /// A deliberator's current judgement. A concern kept from the first round keeps its id, so that
    /// citations of it remain valid.
    pub(super) fn current_judgement(position: &SeatResult<'_>) -> Option<Self> {
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

    pub(super) fn to_section(&self) -> FencedSection {
        FencedSection::new(&self.label, &self.whose, to_pretty_json(&self.said))
    }
}

fn judgement_label(seat: &ExpertSlug) -> String {
    format!("JUDGEMENT {seat}")
}

/// Whether a section names the producer of the artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProducerVisibility {
    Named,
    /// Deliberators judge the text, not its producer.
    Unnamed,
}

/// Path and type of the artifact, and its producer if visible.
pub(super) fn about_artifact(
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
pub(super) fn truncate_name(written: &str) -> String {
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
