//! The JSON document of a review (`review --json`).

use std::collections::BTreeSet;

use serde::Serialize;

use crate::model::ids::{DialogueId, EntityId, EntityKind, ExpertSlug};
use crate::model::run_state::RunState;
use crate::model::time::Moment;
use crate::protocols::classification::finding::ClassifierFinding;
use crate::protocols::council::document::{
    PanelAttendance, family_warning, price_warning, reply_warnings,
};
use crate::protocols::review::earlier_decision::{DecisionMark, EarlierDecision, UNNAMED_PERSON};
use crate::protocols::review::locus::{lacks_quote, resolve_locus};
use crate::protocols::review::log_row::{SeatRow, consulted_verdicts, seat_rows, verdict_id};
use crate::protocols::review::phrases::{end_with_stop, explain_shipped_blocks};
use crate::protocols::review::policy::{
    AdjudicatorReply, BlockTally, ReviewDecision, ReviewOutcome, ReviewVerdict, VerdictOverride,
};
use crate::protocols::review::seat_results::{
    ConcernIds, FIRST, NumberedConcern, SECOND, SeatResult, list_seat_results, read_adjudication,
    tally_if_undecided,
};
use crate::protocols::review::types::{
    BlockLevel, DeliberatorJudgement, PriorVerdict, ReviewArtifact, ReviewConcern, ReviewPlan,
    ReviewTier,
};
use crate::report::run_metrics::{RunMetrics, run_metrics};
use crate::report::run_status::{CompletionStatus, StopNotice, completion_status, stop_notice};

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
    /// The verdict; a SHIP also says how many would block it.
    pub headline: String,
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
    /// The person's decision in effect.
    #[serde(rename = "override", skip_serializing_if = "Option::is_none")]
    pub overridden: Option<OverrideMark>,
    /// The content was decided before, and no model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_before: Option<DecisionMark>,
    /// No tier rule names the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_covered: bool,
    /// What the classifier said, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classified: Option<ClassifierFinding>,
}

/// A person's decision, as `review --json` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverrideMark {
    #[serde(rename = "as")]
    pub decision: ReviewDecision,
    pub by: String,
    pub why: String,
    pub at: Moment,
    /// The verdict of the review; `None` if the store does not have the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<ReviewVerdict>,
}

impl OverrideMark {
    fn new(word: &VerdictOverride, at: Moment, over: ReviewVerdict) -> Self {
        let by = word.by.clone().unwrap_or_else(|| UNNAMED_PERSON.to_owned());
        Self { decision: word.decision, by, why: word.why.clone(), at, over: Some(over) }
    }

    /// `maria overrode REVISE: Legal has approved the figures.`
    pub fn sentence(&self) -> String {
        let over = self.over.map_or("the verdict", ReviewVerdict::name);
        format!("{} overrode {over}: {}", self.by, end_with_stop(&self.why))
    }
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
        let rows = self.round2.iter().chain(&self.round1).map(|message| &message.row);
        let mut own = rows.filter(|row| row.deliberator() == deliberator);
        own.find_map(SeatRow::judgement)
    }
}

/// The document of a review, finished or not.
pub fn review_document(state: &RunState) -> ReviewDocument {
    let title = &state.opening.title;
    let Some(gate) = state.review_plan() else {
        return empty_document(ReviewVerdict::Incomplete, title, "", ReviewTier::Always);
    };
    let artifact = &gate.artifact;
    let ruling = state.review_outcome.as_ref();
    let decided = ruling.map_or(ReviewVerdict::Incomplete, |ruling| ruling.verdict.into());
    let (round1, round2) = review_rounds(state);
    let brief = ruling.map(|ruling| ruling.adjudication.revision_brief.clone());
    let logged = (state.rows_logged > 0).then_some(state.rows_logged);
    let newest = logged.map(|number| verdict_id(state, number));
    let overridden =
        state.overrides.iter().rfind(|(_, word)| Some(&word.verdict_id) == newest.as_ref());
    let result = ReviewDocument {
        overridden: overridden.map(|(at, word)| OverrideMark::new(word, *at, decided)),
        rehearsal: state.opening.rehearsal,
        policy: policy_count(state, gate),
        adjudicator: adjudicator_answer(state, gate),
        round1,
        round2,
        panel: ReviewPanel::from_state(state, gate),
        revision_brief: brief.unwrap_or_default(),
        dialogue_id: Some(state.opening.dialogue_id.clone()),
        verdict_id: newest,
        status: completion_status(state),
        producer: artifact.producer.clone(),
        classified: artifact.classified.clone(),
        artifact_sha256: Some(artifact.sha256.clone()),
        concerns: placed_concerns(state, artifact),
        prior_verdicts: consulted_verdicts(state).to_vec(),
        missing_context: missing_context(gate),
        overrides: state.overrides.iter().map(timed_override).collect(),
        metrics: Some(run_metrics(state)),
        warnings: review_warnings(state, gate),
        error: stop_notice(state),
        ..empty_document(decided, &artifact.path, &artifact.artifact_type, artifact.tier)
    };
    match explain_shipped_blocks(&result) {
        Some(blocks) => {
            ReviewDocument { headline: format!("{} · {blocks}", result.verdict), ..result }
        }
        None => result,
    }
}

/// The document of a content that was decided before; `run` is the review that decided, if the store
/// has it.
pub fn decided_document(
    run: Option<&RunState>,
    artifact: &ReviewArtifact,
    earlier: &EarlierDecision,
) -> ReviewDocument {
    let result = match run {
        Some(run) => review_document(run),
        None => {
            empty_document(earlier.verdict, &artifact.path, &artifact.artifact_type, artifact.tier)
        }
    };
    let over = run.map(|_| result.verdict);
    let overridden = earlier.overridden.as_ref().map(|word| {
        let by = earlier.to_mark().by;
        OverrideMark { decision: word.decision, by, why: word.why.clone(), at: word.at, over }
    });
    let person = overridden.as_ref().map(|mark| format!(", overridden by {}", mark.by));
    ReviewDocument {
        verdict: earlier.verdict,
        headline: format!("{} · decided before{}", earlier.verdict, person.unwrap_or_default()),
        artifact: artifact.path.clone(),
        found_at: artifact.path.clone(),
        status: CompletionStatus::Done,
        verdict_id: Some(earlier.verdict_id.clone()),
        decided_before: Some(earlier.to_mark()),
        overridden,
        error: None,
        ..result
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
        headline: verdict.name().to_owned(),
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
        overridden: None,
        decided_before: None,
        not_covered: false,
        classified: None,
    }
}

fn policy_count(state: &RunState, gate: &ReviewPlan) -> Option<PolicyCount> {
    let ruling = state.review_outcome.as_ref();
    let arithmetic =
        ruling.map_or_else(|| tally_if_undecided(state), |ruling| Some(ruling.tally))?;
    let downgraded = ruling.is_some_and(ReviewOutcome::is_downgraded);
    Some(PolicyCount { arithmetic, min_deliberators: gate.policy.min_deliberators, downgraded })
}

fn adjudicator_answer(state: &RunState, gate: &ReviewPlan) -> Option<AdjudicatorAnswer> {
    let word = read_adjudication(state)?.clone();
    let seat = state.plan.find_seat(&gate.adjudicator)?;
    let consulted = consulted_verdicts(state).len();
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

/// A concern with its location in the artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedConcern {
    /// The id by which other deliberators cite it.
    pub id: String,
    /// Its number among its deliberator's concerns. In JSON it is part of the id.
    #[serde(skip)]
    pub number: usize,
    pub deliberator: ExpertSlug,
    /// The round of the judgement that counts.
    pub round: u8,
    /// The claim that records it; `None` until its round is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<EntityId>,
    /// Whether its deliberator blocks, and whether the block is irreducible.
    pub blocking: bool,
    pub irreducible: bool,
    #[serde(flatten)]
    pub concern: ReviewConcern,
    /// `None` if the locus does not occur in the artifact.
    pub line: Option<usize>,
    pub end_line: Option<usize>,
    /// True if the concern quotes words that the artifact does not contain.
    pub quote_not_found: bool,
}

impl PlacedConcern {
    pub(crate) fn block_kind(&self) -> BlockLevel {
        BlockLevel::from_flags(self.blocking, self.irreducible)
    }
}

pub(crate) fn placed_concerns(state: &RunState, artifact: &ReviewArtifact) -> Vec<PlacedConcern> {
    list_seat_results(state)
        .iter()
        .flat_map(|position| position_concerns(state, position, artifact))
        .collect()
}

fn position_concerns(
    state: &RunState,
    position: &SeatResult<'_>,
    artifact: &ReviewArtifact,
) -> Vec<PlacedConcern> {
    let Some(held) = position.final_judgement() else { return Vec::new() };
    let round = if position.second.judgement().is_some() { SECOND } else { FIRST };
    let mut claims = claims_of_seat(state, position.seat, round);
    let place = |NumberedConcern { id, number, concern }: NumberedConcern<'_>| {
        // A concern without an issue has no claim.
        let claim = if concern.issue.trim().is_empty() { None } else { claims.next() };
        let lines = resolve_locus(&concern.locus, &artifact.text);
        PlacedConcern {
            id,
            number,
            deliberator: position.seat.clone(),
            round,
            claim,
            blocking: held.would_block,
            irreducible: held.block_level() == BlockLevel::Irreducible,
            concern: concern.clone(),
            line: lines.map(|lines| lines.start),
            end_line: lines.map(|lines| lines.end),
            quote_not_found: lacks_quote(concern, &artifact.text),
        }
    };
    ConcernIds::from_results(position).kept.into_iter().map(place).collect()
}

/// The claims of a seat in a round: one for each of its concerns, in their order.
fn claims_of_seat<'a>(
    state: &'a RunState,
    seat: &'a ExpertSlug,
    round: u8,
) -> impl Iterator<Item = EntityId> + 'a {
    let claims = state
        .entities
        .iter()
        .filter(move |(id, _)| (id.kind, id.round) == (EntityKind::Claim, round));
    claims.filter(move |(_, by)| by.as_slice() == [seat.clone()]).map(|(id, _)| *id)
}

#[derive(Debug, Default, Serialize)]
pub struct ReviewPanel {
    #[serde(flatten)]
    pub panel: PanelAttendance,
    /// A seat failed in one of the rounds or at the adjudication.
    pub degraded: bool,
    /// All deliberators who answered are of one model family.
    pub single_family: bool,
}

/// A context file that a deliberator did not get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingContext {
    pub deliberator: ExpertSlug,
    pub path: String,
    pub reason: String,
}

impl ReviewPanel {
    pub(crate) fn from_state(state: &RunState, gate: &ReviewPlan) -> Self {
        let panel = PanelAttendance::from_state(state);
        let is_short = list_seat_results(state).iter().any(|one| one.final_judgement().is_none());
        Self {
            degraded: !panel.failed.is_empty() || (is_short && state.stopped.is_some()),
            single_family: deliberator_families(state, gate).len() == 1,
            panel,
        }
    }
}

/// Model families of the deliberators who answered, or of all deliberators if none did.
fn deliberator_families<'a>(state: &'a RunState, gate: &'a ReviewPlan) -> BTreeSet<&'a str> {
    let positions = list_seat_results(state);
    let heard: Vec<&ExpertSlug> = positions
        .iter()
        .filter(|one| one.final_judgement().is_some())
        .map(|one| one.seat)
        .collect();
    let seats = gate.deliberators.iter().map(|deliberator| &deliberator.seat);
    let counted = seats.filter(|seat| heard.is_empty() || heard.contains(seat));
    let seats = counted.filter_map(|seat| state.plan.find_seat(seat));
    seats.map(|seat| seat.family.as_str()).collect()
}

pub(crate) fn missing_context(gate: &ReviewPlan) -> Vec<MissingContext> {
    let files = gate
        .deliberators
        .iter()
        .flat_map(|deliberator| deliberator.context.iter().map(|file| (&deliberator.seat, file)));
    let missing = files.filter(|(_, file)| file.text.is_none());
    missing
        .map(|(seat, file)| MissingContext {
            deliberator: seat.clone(),
            path: file.path.clone(),
            reason: file.missing.clone().unwrap_or_default(),
        })
        .collect()
}

/// Warnings that no other part of the document contains.
pub(crate) fn review_warnings(state: &RunState, gate: &ReviewPlan) -> Vec<String> {
    let mut warnings = state.plan.notes.clone();
    warnings.extend(family_warning(state, &deliberator_families(state, gate)));
    warnings.extend(price_warning(state));
    warnings.extend(reply_warnings(state));
    warnings
}

/// One deliberator's row in one round.
#[derive(Debug, Serialize)]
pub struct SeatRoundRow {
    #[serde(flatten)]
    pub row: SeatRow,
    pub provider: Option<ExpertSlug>,
    pub model: String,
}

pub(crate) fn review_rounds(state: &RunState) -> (Vec<SeatRoundRow>, Vec<SeatRoundRow>) {
    let (first, second) = seat_rows(state);
    let result =
        |rows: Vec<SeatRow>| rows.into_iter().map(|row| seat_round_row(state, row)).collect();
    (result(first), result(second))
}

fn seat_round_row(state: &RunState, row: SeatRow) -> SeatRoundRow {
    let seat = row.deliberator().parse().ok().and_then(|name| state.plan.find_seat(&name));
    SeatRoundRow {
        provider: seat.map(|seat| seat.provider.clone()),
        model: seat.map(|seat| seat.model.clone()).unwrap_or_default(),
        row,
    }
}
