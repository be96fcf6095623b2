//! The JSON document of a review (`review --json`).

use serde::Serialize;

use super::concerns::{PlacedConcern, placed_concerns};
use super::panel::{MissingContext, ReviewPanel, missing_context, review_warnings};
use super::rounds::{SeatRoundRow, review_rounds};
use crate::domain::gate::{
    AdjudicatorReply, BlockTally, DeliberatorJudgement, FinalVerdict, PriorVerdict, ReviewDecision,
    ReviewOutcome, ReviewPlan, ReviewTier, SeatRow, VerdictOverride,
};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::time::Moment;
use crate::domain::transcript::RunState;
use crate::domain::words::words;
use crate::export::council::{
    CompletionStatus, RunMetrics, StopNotice, completion_status, run_metrics, stop_notice,
};
use crate::protocols::gate::{
    consulted_verdicts, read_adjudication, tally_if_undecided, verdict_id,
};

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

impl From<FinalVerdict> for ReviewVerdict {
    fn from(verdict: FinalVerdict) -> Self {
        match verdict {
            FinalVerdict::Ship => Self::Ship,
            FinalVerdict::Revise => Self::Revise,
            FinalVerdict::Hold => Self::Hold,
            FinalVerdict::Incomplete => Self::Incomplete,
        }
    }
}

impl ReviewVerdict {
    /// `None` if there is no decision.
    pub fn to_decision(self) -> Option<ReviewDecision> {
        match self {
            Self::Ship => Some(ReviewDecision::Ship),
            Self::Revise => Some(ReviewDecision::Revise),
            Self::Hold => Some(ReviewDecision::Hold),
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
    pub tier: ReviewTier,
    pub rehearsal: bool,
    /// `None` for a skipped file.
    pub policy: Option<PolicyCount>,
    /// `None` if no adjudication could be parsed.
    pub adjudicator: Option<AdjudicatorAnswer>,
    pub round1: Vec<SeatRoundRow>,
    pub round2: Vec<SeatRoundRow>,
    pub panel: ReviewPanel,
    pub revision_brief: String,
    pub dialogue_id: Option<DialogueId>,
    /// The newest log row of this review; `None` if there is none yet.
    pub verdict_id: Option<String>,
    pub status: CompletionStatus,
    pub producer: Option<String>,
    pub artifact_sha256: Option<String>,
    /// The deliberators' final concerns, each with its lines.
    pub concerns: Vec<PlacedConcern>,
    /// The earlier verdicts that the adjudicator saw.
    pub prior_verdicts: Vec<PriorVerdict>,
    pub missing_context: Vec<MissingContext>,
    /// Human overrides; the last one counts.
    pub overrides: Vec<TimedOverride>,
    pub skipped_because: Option<String>,
    pub metrics: Option<RunMetrics>,
    pub warnings: Vec<String>,
    pub error: Option<StopNotice>,
}

/// The block tally of the policy.
#[derive(Debug, Serialize)]
pub struct PolicyCount {
    #[serde(flatten)]
    pub arithmetic: BlockTally,
    pub min_deliberators: usize,
    /// The adjudicator downgraded a reducible HOLD to REVISE.
    pub downgraded: bool,
}

/// The adjudicator's own answer; the resulting decision is the document's `verdict`.
#[derive(Debug, Serialize)]
pub struct AdjudicatorAnswer {
    pub seat: ExpertSlug,
    #[serde(flatten)]
    pub adjudication: AdjudicatorReply,
    pub applied_compounding: bool,
    pub prior_verdicts_consulted: usize,
    pub provider: ExpertSlug,
    pub model: String,
}

#[derive(Debug, Serialize)]
pub struct TimedOverride {
    pub at: Moment,
    #[serde(flatten)]
    pub decision: VerdictOverride,
}

impl ReviewDocument {
    /// Sets another path for annotations.
    pub fn with_found_at(self, path: String) -> Self {
        Self { found_at: path, ..self }
    }

    /// A deliberator's final judgement, if it answered.
    pub fn final_judgement(&self, deliberator: &str) -> Option<&DeliberatorJudgement> {
        let rows = self.round2.iter().chain(&self.round1).map(|said| &said.row);
        let mut own = rows.filter(|row| row.deliberator() == deliberator);
        own.find_map(SeatRow::judgement)
    }
}

/// The document of a review, finished or not.
pub fn review_document(transcript: &RunState) -> ReviewDocument {
    let title = &transcript.opening.title;
    let Some(gate) = transcript.review_plan() else {
        return empty_document(ReviewVerdict::Incomplete, title, "", ReviewTier::Always);
    };
    let artifact = &gate.artifact;
    let ruling = transcript.review_outcome.as_ref();
    let decided = ruling.map_or(FinalVerdict::Incomplete, |ruling| ruling.verdict.into());
    let (round1, round2) = review_rounds(transcript);
    let brief = ruling.map(|ruling| ruling.adjudication.revision_brief.clone());
    let logged = (transcript.rows_logged > 0).then_some(transcript.rows_logged);
    ReviewDocument {
        rehearsal: transcript.opening.rehearsal,
        policy: policy_count(transcript, gate),
        adjudicator: adjudicator_answer(transcript, gate),
        round1,
        round2,
        panel: ReviewPanel::from_state(transcript, gate),
        revision_brief: brief.unwrap_or_default(),
        dialogue_id: Some(transcript.opening.dialogue_id.clone()),
        verdict_id: logged.map(|number| verdict_id(transcript, number)),
        status: completion_status(transcript),
        producer: artifact.producer.clone(),
        artifact_sha256: Some(artifact.sha256.clone()),
        concerns: placed_concerns(transcript, artifact),
        prior_verdicts: consulted_verdicts(transcript).to_vec(),
        missing_context: missing_context(gate),
        overrides: transcript.overrides.iter().map(timed_override).collect(),
        metrics: Some(run_metrics(transcript)),
        warnings: review_warnings(transcript, gate),
        error: stop_notice(transcript),
        ..empty_document(decided.into(), &artifact.path, &artifact.artifact_type, artifact.tier)
    }
}

/// The document of a skipped file.
pub fn skipped_document(
    path: &str,
    artifact_type: &str,
    tier: ReviewTier,
    because: &str,
) -> ReviewDocument {
    ReviewDocument {
        skipped_because: Some(because.to_owned()),
        ..empty_document(ReviewVerdict::Skipped, path, artifact_type, tier)
    }
}

fn empty_document(
    verdict: ReviewVerdict,
    path: &str,
    artifact_type: &str,
    tier: ReviewTier,
) -> ReviewDocument {
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
        panel: ReviewPanel::default(),
        revision_brief: String::new(),
        dialogue_id: None,
        verdict_id: None,
        status: CompletionStatus::Done,
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

fn policy_count(transcript: &RunState, gate: &ReviewPlan) -> Option<PolicyCount> {
    let ruling = transcript.review_outcome.as_ref();
    let arithmetic =
        ruling.map_or_else(|| tally_if_undecided(transcript), |ruling| Some(ruling.tally))?;
    let downgraded = ruling.is_some_and(ReviewOutcome::is_downgraded);
    Some(PolicyCount { arithmetic, min_deliberators: gate.policy.min_deliberators, downgraded })
}

fn adjudicator_answer(transcript: &RunState, gate: &ReviewPlan) -> Option<AdjudicatorAnswer> {
    let word = read_adjudication(transcript)?.clone();
    let seat = transcript.plan.find_seat(&gate.adjudicator)?;
    let consulted = consulted_verdicts(transcript).len();
    Some(AdjudicatorAnswer {
        seat: seat.name.clone(),
        adjudication: word,
        applied_compounding: consulted > 0,
        prior_verdicts_consulted: consulted,
        provider: seat.provider.clone(),
        model: seat.model.clone(),
    })
}

fn timed_override((at, decision): &(Moment, VerdictOverride)) -> TimedOverride {
    TimedOverride { at: *at, decision: decision.clone() }
}
