//! Judgements and artifact facts as JSON sections for other seats.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::domain::gate::{Artifact, Concern, Judgement, Leaning};
use crate::domain::ids::ExpertSlug;
use crate::prompting::view::{Section, as_text};
use crate::protocols::gate::{ConcernLedger, Numbered, Position};

/// Longer names and paths are truncated.
const NAME_CHARS_MAX: usize = 1_000;

/// A judgement as a fenced section.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    label: String,
    whose: String,
    pub said: Value,
}

impl Shown {
    /// The reader's own judgement of the first round.
    pub(super) fn own(seat: &ExpertSlug, judgement: &Judgement) -> Self {
        Self {
            label: "YOUR FIRST JUDGEMENT".to_owned(),
            whose: "your own judgement at the first reading".to_owned(),
            said: first_said(seat, judgement),
        }
    }

    /// Another deliberator's judgement of the first round.
    pub(super) fn first_of(seat: &ExpertSlug, judgement: &Judgement) -> Self {
        Self {
            label: label(seat),
            whose: format!("the judgement of the deliberator `{seat}` at the first reading"),
            said: first_said(seat, judgement),
        }
    }

    /// A deliberator's current judgement. A concern kept from the first round keeps its id, so that
    /// citations of it remain valid.
    pub(super) fn standing(position: &Position<'_>) -> Option<Self> {
        let (seat, held) = (position.seat, position.held()?);
        let ConcernLedger { kept, dropped } = ConcernLedger::of(position);
        let [concerns, dropped] =
            [kept, dropped].map(|numbered| numbered.into_iter().map(told_concern).collect());
        Some(Self {
            label: label(seat),
            whose: format!("the judgement of the deliberator `{seat}`"),
            said: told(&Told::of(seat, held, concerns, dropped)),
        })
    }

    pub(super) fn section(&self) -> Section {
        Section::new(&self.label, &self.whose, as_text(&self.said))
    }
}

fn label(seat: &ExpertSlug) -> String {
    format!("JUDGEMENT {seat}")
}

/// Whether a section names the producer of the artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    Named,
    /// Deliberators judge the text, not its producer.
    Unnamed,
}

/// Path and type of the artifact, and its producer if visible.
pub(super) fn about(artifact: &Artifact, maker: Maker) -> Section {
    #[derive(Serialize)]
    struct About {
        path: String,
        #[serde(rename = "type")]
        artifact_type: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        producer: Option<String>,
    }
    let producer = artifact.producer.as_deref().filter(|_| maker == Maker::Named).map(name);
    let (path, artifact_type) = (name(&artifact.path), name(&artifact.artifact_type));
    let about = About { path, artifact_type, producer };
    Section::new("ABOUT THE ARTIFACT", "the artifact's path and type", as_text(&about))
}

/// Truncates a foreign name or path.
pub(super) fn name(written: &str) -> String {
    written.chars().take(NAME_CHARS_MAX).collect()
}

/// A judgement with ids for its concerns.
#[derive(Serialize)]
struct Told<'a> {
    deliberator: &'a ExpertSlug,
    verdict: Leaning,
    would_block: bool,
    irreducible: bool,
    scores: &'a BTreeMap<String, u8>,
    concerns: Vec<ToldConcern<'a>>,
    /// Concerns dropped since the first round, listed because others may have cited them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped_since_first: Vec<ToldConcern<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    concessions: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    escalations: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    delta_from_r1: &'a str,
    revision_brief: &'a str,
}

#[derive(Serialize)]
struct ToldConcern<'a> {
    id: String,
    locus: &'a str,
    issue: &'a str,
    fix: &'a str,
}

impl<'a> Told<'a> {
    fn of(
        seat: &'a ExpertSlug,
        judgement: &'a Judgement,
        concerns: Vec<ToldConcern<'a>>,
        dropped_since_first: Vec<ToldConcern<'a>>,
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

fn first_said(seat: &ExpertSlug, judgement: &Judgement) -> Value {
    let concerns = Numbered::of_first(seat, judgement).into_iter().map(told_concern).collect();
    told(&Told::of(seat, judgement, concerns, Vec::new()))
}

fn told(judgement: &Told<'_>) -> Value {
    serde_json::to_value(judgement).unwrap_or_default()
}

fn told_concern(numbered: Numbered<'_>) -> ToldConcern<'_> {
    let Concern { locus, issue, fix } = numbered.concern;
    ToldConcern { id: numbered.id, locus, issue, fix }
}
