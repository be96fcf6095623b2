//! The JSON document of a review (`review --json`).

use serde::Serialize;

use super::concerns::{PlacedConcern, placed};
use super::panel::{GatePanel, MissingContext, missing_context, warnings};
use super::rounds::{SeatSaid, rounds};
use crate::domain::gate::{
    Adjudication, Arithmetic, Decision, GatePlan, GateVerdict, Judgement, Override, PriorVerdict,
    Ruling, SeatRow, Tier,
};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::time::Moment;
use crate::domain::transcript::Transcript;
use crate::domain::words::words;
use crate::export::council::{Metrics, Status, Stopped, metrics, status, stopped};
use crate::protocols::gate::{adjudication, consulted, undecided, verdict_id};

words! {
    /// The result of a file's review.
    pub enum ReviewVerdict {
        Ship = "SHIP",
        Revise = "REVISE",
        Hold = "HOLD",
        Incomplete = "INCOMPLETE",
        /// The file's tier is not reviewed, or not selected this time.
        Skipped = "SKIPPED",
    }
}

impl From<GateVerdict> for ReviewVerdict {
    fn from(verdict: GateVerdict) -> Self {
        match verdict {
            GateVerdict::Ship => Self::Ship,
            GateVerdict::Revise => Self::Revise,
            GateVerdict::Hold => Self::Hold,
            GateVerdict::Incomplete => Self::Incomplete,
        }
    }
}

impl ReviewVerdict {
    /// `None` if there is no decision.
    pub fn decision(self) -> Option<Decision> {
        match self {
            Self::Ship => Some(Decision::Ship),
            Self::Revise => Some(Decision::Revise),
            Self::Hold => Some(Decision::Hold),
            Self::Incomplete | Self::Skipped => None,
        }
    }
}

/// The result of `review` for one file.
#[derive(Debug, Serialize)]
pub struct ReviewDocument {
    pub verdict: ReviewVerdict,
    pub artifact: String,
    /// The path used in annotations. The record uses `artifact`.
    #[serde(skip)]
    pub found_at: String,
    pub artifact_type: String,
    pub tier: Tier,
    pub rehearsal: bool,
    /// `None` for a skipped file.
    pub policy: Option<Counted>,
    /// `None` if no adjudication could be parsed.
    pub adjudicator: Option<Adjudicator>,
    pub round1: Vec<SeatSaid>,
    pub round2: Vec<SeatSaid>,
    pub panel: GatePanel,
    pub revision_brief: String,
    pub dialogue_id: Option<DialogueId>,
    /// The newest log row of this review; `None` if there is none yet.
    pub verdict_id: Option<String>,
    pub status: Status,
    pub producer: Option<String>,
    pub artifact_sha256: Option<String>,
    /// The deliberators' final concerns, each with its lines.
    pub concerns: Vec<PlacedConcern>,
    /// The earlier verdicts that the adjudicator saw.
    pub prior_verdicts: Vec<PriorVerdict>,
    pub missing_context: Vec<MissingContext>,
    /// Human overrides; the last one counts.
    pub overrides: Vec<Overruled>,
    pub skipped_because: Option<String>,
    pub metrics: Option<Metrics>,
    pub warnings: Vec<String>,
    pub error: Option<Stopped>,
}

/// The block tally of the policy.
#[derive(Debug, Serialize)]
pub struct Counted {
    #[serde(flatten)]
    pub arithmetic: Arithmetic,
    pub min_deliberators: usize,
    /// The adjudicator downgraded a reducible HOLD to REVISE.
    pub downgraded: bool,
}

/// The adjudicator's own answer; the resulting decision is the document's `verdict`.
#[derive(Debug, Serialize)]
pub struct Adjudicator {
    pub seat: ExpertSlug,
    #[serde(flatten)]
    pub word: Adjudication,
    pub applied_compounding: bool,
    pub prior_verdicts_consulted: usize,
    pub provider: ExpertSlug,
    pub model: String,
}

#[derive(Debug, Serialize)]
pub struct Overruled {
    pub at: Moment,
    #[serde(flatten)]
    pub decision: Override,
}

impl ReviewDocument {
    /// Sets another path for annotations.
    pub fn found_at(self, path: String) -> Self {
        Self { found_at: path, ..self }
    }

    /// A deliberator's final judgement, if it answered.
    pub fn held(&self, deliberator: &str) -> Option<&Judgement> {
        let rows = self.round2.iter().chain(&self.round1).map(|said| &said.row);
        let mut own = rows.filter(|row| row.deliberator() == deliberator);
        own.find_map(SeatRow::judgement)
    }
}

/// The document of a review, finished or not.
pub fn document(transcript: &Transcript) -> ReviewDocument {
    let title = &transcript.opening.title;
    let Some(gate) = transcript.gate() else {
        return blank(ReviewVerdict::Incomplete, title, "", Tier::Always);
    };
    let artifact = &gate.artifact;
    let ruling = transcript.ruling.as_ref();
    let decided = ruling.map_or(GateVerdict::Incomplete, |ruling| ruling.verdict.into());
    let (round1, round2) = rounds(transcript);
    let brief = ruling.map(|ruling| ruling.adjudication.revision_brief.clone());
    let logged = (transcript.rows_logged > 0).then_some(transcript.rows_logged);
    ReviewDocument {
        rehearsal: transcript.opening.rehearsal,
        policy: counted(transcript, gate),
        adjudicator: adjudicator(transcript, gate),
        round1,
        round2,
        panel: GatePanel::of(transcript, gate),
        revision_brief: brief.unwrap_or_default(),
        dialogue_id: Some(transcript.opening.dialogue_id.clone()),
        verdict_id: logged.map(|number| verdict_id(transcript, number)),
        status: status(transcript),
        producer: artifact.producer.clone(),
        artifact_sha256: Some(artifact.sha256.clone()),
        concerns: placed(transcript, artifact),
        prior_verdicts: consulted(transcript).to_vec(),
        missing_context: missing_context(gate),
        overrides: transcript.overrides.iter().map(overruled).collect(),
        metrics: Some(metrics(transcript)),
        warnings: warnings(transcript, gate),
        error: stopped(transcript),
        ..blank(decided.into(), &artifact.path, &artifact.artifact_type, artifact.tier)
    }
}

/// The document of a skipped file.
pub fn skipped(path: &str, artifact_type: &str, tier: Tier, because: &str) -> ReviewDocument {
    ReviewDocument {
        skipped_because: Some(because.to_owned()),
        ..blank(ReviewVerdict::Skipped, path, artifact_type, tier)
    }
}

fn blank(verdict: ReviewVerdict, path: &str, artifact_type: &str, tier: Tier) -> ReviewDocument {
    ReviewDocument {
        verdict,
        artifact: path.to_owned(),
        found_at: path.to_owned(),
        artifact_type: artifact_type.to_owned(),
        tier,
        rehearsal: false,
        policy: None,
        adjudicator: None,
        round1: Vec::new(),
        round2: Vec::new(),
        panel: GatePanel::default(),
        revision_brief: String::new(),
        dialogue_id: None,
        verdict_id: None,
        status: Status::Done,
        producer: None,
        artifact_sha256: None,
        concerns: Vec::new(),
        prior_verdicts: Vec::new(),
        missing_context: Vec::new(),
        overrides: Vec::new(),
        skipped_because: None,
        metrics: None,
        warnings: Vec::new(),
        error: None,
    }
}

fn counted(transcript: &Transcript, gate: &GatePlan) -> Option<Counted> {
    let ruling = transcript.ruling.as_ref();
    let arithmetic =
        ruling.map_or_else(|| undecided(transcript), |ruling| Some(ruling.arithmetic))?;
    let downgraded = ruling.is_some_and(Ruling::is_downgraded);
    Some(Counted { arithmetic, min_deliberators: gate.policy.min_deliberators, downgraded })
}

fn adjudicator(transcript: &Transcript, gate: &GatePlan) -> Option<Adjudicator> {
    let word = adjudication(transcript)?.clone();
    let seat = transcript.plan.seat(&gate.adjudicator)?;
    let consulted = consulted(transcript).len();
    Some(Adjudicator {
        seat: seat.name.clone(),
        word,
        applied_compounding: consulted > 0,
        prior_verdicts_consulted: consulted,
        provider: seat.provider.clone(),
        model: seat.model.clone(),
    })
}

fn overruled((at, decision): &(Moment, Override)) -> Overruled {
    Overruled { at: *at, decision: decision.clone() }
}
