//! A line of the verdict log (version 2 of the seed's format, with our additional fields) and how it
//! is built for a review; queries of the log; the summary of an earlier verdict for the adjudicator.

use serde::{Deserialize, Serialize};

use crate::model::ask::CallErrorType;
use crate::model::hash::sha256_hex;
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::run_state::{RunState, RunStopReason};
use crate::model::string_enum::words;
use crate::model::text::truncate_within;
use crate::model::time::Moment;
use crate::protocols::review::earlier_decision::settings_digest;
use crate::protocols::review::imported_row::{RowParseError, describe_field_error};
use crate::protocols::review::policy::{
    BlockTally, ReviewDecision, ReviewOutcome, ReviewVerdict, VerdictOverride,
};
use crate::protocols::review::seat_results::{
    ADJUDICATION, RoundResult, SeatResult, list_seat_results, tally_if_undecided,
};
use crate::protocols::review::types::{
    DeliberatorJudgement, PriorOverride, PriorVerdict, ReviewTier,
};

/// Version of the format.
pub const ROW_VERSION: u8 = 2;

/// The row of one review. Fields are written in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRow {
    pub v: u8,
    pub ts: Moment,
    pub artifact: String,
    pub artifact_type: String,
    #[serde(default)]
    pub round1: Vec<SeatRow>,
    #[serde(default)]
    pub round2: Vec<SeatRow>,
    pub adjudicator: AdjudicatorRow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<ReviewTier>,
    #[serde(default)]
    pub producer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict_id: Option<String>,
    #[serde(default)]
    pub rehearsal: bool,
    /// The row was imported from another log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<BlockTally>,
    /// Digest of policy, panel and instructions. The same content with the same digest is not
    /// judged again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings_sha256: Option<String>,
}

impl LogRow {
    /// Hash of the content without id and import flag, to recognise a row again.
    pub fn content_hash(&self) -> Result<String, serde_json::Error> {
        let bare = Self { verdict_id: None, imported: false, ..self.clone() };
        Ok(sha256_hex([serde_json::to_string(&bare)?.as_bytes()]))
    }
}

/// The row of a person's decision over a verdict, for teams that share the log's file. It has no
/// `verdict_id` of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverrideRow {
    pub v: u8,
    pub kind: OverrideKind,
    pub ts: Moment,
    /// Id of the verdict.
    pub overrides: String,
    pub decision: ReviewDecision,
    pub why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Of the verdict, for readers; a line of another program may lack them.
    #[serde(default)]
    pub artifact: String,
    #[serde(default)]
    pub artifact_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_sha256: Option<String>,
}

words! {
    pub enum OverrideKind {
        Override = "override",
    }
}

impl OverrideRow {
    /// The row of a decision over `row`; `at` is the time of its entry.
    pub fn new(row: &LogRow, word: &VerdictOverride, at: Moment) -> Self {
        Self {
            v: ROW_VERSION,
            kind: OverrideKind::Override,
            ts: word.moment(at),
            overrides: word.verdict_id.clone(),
            decision: word.decision,
            why: word.why.clone(),
            by: word.by.clone(),
            artifact: row.artifact.clone(),
            artifact_type: row.artifact_type.clone(),
            artifact_sha256: row.artifact_sha256.clone(),
        }
    }

    /// The same row from the decision as the store lists it.
    pub fn from_recorded(row: &LogRow, word: RecordedOverride) -> Self {
        let RecordedOverride { decision, why, at, by } = word;
        let verdict_id = row.verdict_id.clone().unwrap_or_default();
        let decided = VerdictOverride { verdict_id, decision, why, by, decided_at: Some(at) };
        Self::new(row, &decided, at)
    }

    /// Reads a line; `None` if it is no such row, valid or not.
    pub fn parse_line(line: &[u8]) -> Option<Result<Self, RowParseError>> {
        #[derive(Deserialize)]
        struct KindField {
            kind: OverrideKind,
        }
        let KindField { kind: OverrideKind::Override } = serde_json::from_slice(line).ok()?;
        let mut source = serde_json::Deserializer::from_slice(line);
        let row = serde_path_to_error::deserialize(&mut source);
        Some(row.map_err(|error| describe_field_error(&error)))
    }

    /// The decision, as the record keeps it.
    pub fn to_decision(&self) -> VerdictOverride {
        VerdictOverride {
            verdict_id: self.overrides.clone(),
            decision: self.decision,
            why: self.why.clone(),
            by: self.by.clone(),
            decided_at: Some(self.ts),
        }
    }
}

/// A deliberator's judgement in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeatRow {
    Absent {
        deliberator: String,
        /// Always true; it distinguishes the two variants when parsing.
        absent: bool,
        error_type: CallErrorType,
    },
    Present {
        deliberator: String,
        #[serde(flatten)]
        judgement: DeliberatorJudgement,
        /// The second round was unreadable, so this repeats the judgement of the first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fallback: bool,
        /// The deliberator changed its position without naming a peer's concern.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncited: bool,
    },
}

impl SeatRow {
    pub fn deliberator(&self) -> &str {
        match self {
            Self::Absent { deliberator, .. } | Self::Present { deliberator, .. } => deliberator,
        }
    }

    /// `None` if the deliberator is absent.
    pub fn judgement(&self) -> Option<&DeliberatorJudgement> {
        match self {
            Self::Present { judgement, .. } => Some(judgement),
            Self::Absent { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjudicatorRow {
    /// The final verdict, from the adjudicator and the policy together.
    pub final_verdict: ReviewVerdict,
    #[serde(default)]
    pub reasoning: String,
    #[serde(default)]
    pub revision_brief: String,
    #[serde(default)]
    pub applied_compounding: bool,
    #[serde(default)]
    pub prior_verdicts_consulted: usize,
}

/// Selects rows of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Only artifacts of this type.
    pub artifact_type: Option<String>,
    /// Excludes rows older than this, by their own `ts`.
    pub since: Option<Moment>,
    pub range: LogRange,
    pub limit: usize,
}

impl LogQuery {
    /// Reads everything from the start, `limit` rows at a time.
    pub fn from_start(limit: usize) -> Self {
        Self { artifact_type: None, since: None, range: LogRange::After(0), limit }
    }
}

/// Which end of the log to read. Results are in log order in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogRange {
    /// The first rows after this one; 0 means from the start.
    After(u64),
    /// The last rows.
    Last,
}

/// A line of the file, with its position in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub seq: u64,
    pub line: String,
}

/// A row of the log, with the override of a person, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedVerdict {
    /// Position in the log; the next query can continue after it.
    pub seq: u64,
    pub verdict_id: String,
    /// The review, or the import that added the row.
    pub dialogue_id: DialogueId,
    pub row: LogRow,
    /// The row as it is in the file.
    pub line: String,
    /// The newest override, which replaces the verdict.
    pub overridden: Option<RecordedOverride>,
}

impl LoggedVerdict {
    /// The verdict in effect: the override if there is one, else the review's own.
    pub fn effective_verdict(&self) -> ReviewVerdict {
        let decided = self.overridden.as_ref().map(|word| word.decision.into());
        decided.unwrap_or(self.row.adjudicator.final_verdict)
    }
}

/// A person's decision over a verdict, with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedOverride {
    pub decision: ReviewDecision,
    pub why: String,
    /// The person who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    pub at: Moment,
}

/// Asks whether a content was already decided. Rehearsals and real reviews do not count for each
/// other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentQuery {
    pub sha256: String,
    pub rehearsal: bool,
}

/// The latest decision on a content.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ContentDecision {
    pub verdict_id: String,
    pub verdict: ReviewVerdict,
    pub ts: Moment,
}

/// Enough for the main point; five verdicts must not outweigh the current review.
const TEXT_CHARS_MAX: usize = 500;

/// Four deliberators with five concerns each.
const CONCERNS_MAX: usize = 20;

impl PriorVerdict {
    /// Uses the concerns of the last round, on which the verdict is based.
    pub fn from_row(row: &LogRow) -> Self {
        let last = if row.round2.is_empty() { &row.round1 } else { &row.round2 };
        Self {
            ts: row.ts,
            artifact: truncate_text(&row.artifact),
            producer: row.producer.as_deref().map(truncate_text),
            verdict: row.adjudicator.final_verdict,
            reasoning: truncate_text(&row.adjudicator.reasoning),
            revision_brief: truncate_text(&row.adjudicator.revision_brief),
            concerns: last.iter().flat_map(list_concerns).take(CONCERNS_MAX).collect(),
            overridden: None,
        }
    }

    /// Adds a person's decision over the verdict, which counts in its place.
    #[must_use]
    pub fn with_override(self, word: Option<&RecordedOverride>) -> Self {
        let to_prior = |word: &RecordedOverride| PriorOverride {
            decision: word.decision,
            why: truncate_text(&word.why),
        };
        Self { overridden: word.map(to_prior), ..self }
    }
}

fn list_concerns(seat: &SeatRow) -> Vec<String> {
    let SeatRow::Present { deliberator, judgement, .. } = seat else { return Vec::new() };
    let worded = judgement.concerns.iter().map(|concern| {
        let code = match concern.code.as_str() {
            "" => String::new(),
            code => format!("[{code}] "),
        };
        match concern.locus.trim() {
            "" => format!("{deliberator}: {code}{}", concern.issue),
            locus => format!("{deliberator}: {code}{} ({locus})", concern.issue),
        }
    });
    worded.map(|text| truncate_text(&text)).collect()
}

fn truncate_text(text: &str) -> String {
    truncate_within(text, TEXT_CHARS_MAX)
}

/// How a review ended.
#[derive(Debug, Clone, Copy)]
pub enum LoggedOutcome<'a> {
    Ruled(&'a ReviewOutcome),
    Undecided(&'a RunStopReason),
}

/// The line for this end; none for a council.
pub fn log_row(state: &RunState, outcome: LoggedOutcome<'_>, at: Moment) -> Option<LogRow> {
    let gate = state.review_plan()?;
    let artifact = &gate.artifact;
    let (round1, round2) = seat_rows(state);
    let policy = match outcome {
        LoggedOutcome::Ruled(ruling) => Some(ruling.tally),
        LoggedOutcome::Undecided(_) => tally_if_undecided(state),
    };
    Some(LogRow {
        v: ROW_VERSION,
        ts: at,
        artifact: artifact.path.clone(),
        artifact_type: artifact.artifact_type.clone(),
        round1,
        round2,
        adjudicator: adjudicator_row(state, outcome),
        artifact_sha256: Some(artifact.sha256.clone()),
        tier: Some(artifact.tier),
        producer: artifact.producer.clone(),
        verdict_id: Some(verdict_id(state, state.rows_logged + 1)),
        rehearsal: state.opening.rehearsal,
        imported: false,
        policy,
        settings_sha256: Some(settings_digest(&state.plan, gate)),
    })
}

/// The id of the n-th verdict of a dialogue, from 1. Every stop of a review is a verdict, at least
/// INCOMPLETE.
pub fn verdict_id(state: &RunState, number: usize) -> String {
    format!("{}/{number}", state.opening.dialogue_id)
}

/// The judgements of both rounds; the second is empty if it was not begun.
pub fn seat_rows(state: &RunState) -> (Vec<SeatRow>, Vec<SeatRow>) {
    let all = list_seat_results(state);
    let first = all.iter().map(|one| seat_row(one.seat, &one.first)).collect();
    let begun = all.iter().filter(|one| one.is_second_begun);
    let second = begun.map(|one| second_row(one, &all)).collect();
    (first, second)
}

/// The earlier verdicts that the adjudicator saw; empty until it is asked.
pub fn consulted_verdicts(state: &RunState) -> &[PriorVerdict] {
    let was_asked = state.asks_in_round(ADJUDICATION).next().is_some();
    let gate = state.review_plan().filter(|_| was_asked);
    gate.map(|gate| gate.priors.as_slice()).unwrap_or_default()
}

fn seat_row(seat: &ExpertSlug, result: &RoundResult<'_>) -> SeatRow {
    let deliberator = seat.to_string();
    let error_type = match result {
        RoundResult::Judged(judgement) => {
            let judgement = (*judgement).clone();
            return SeatRow::Present { deliberator, judgement, fallback: false, uncited: false };
        }
        RoundResult::Absent(failure) => failure.error_type,
        // The run ended before the seat answered or was asked.
        RoundResult::Open => CallErrorType::Unknown,
    };
    SeatRow::Absent { deliberator, absent: true, error_type }
}

fn second_row(seat: &SeatResult<'_>, all: &[SeatResult<'_>]) -> SeatRow {
    let result = if seat.is_fallback() { &seat.first } else { &seat.second };
    let mut row = seat_row(seat.seat, result);
    if let SeatRow::Present { fallback, uncited, .. } = &mut row {
        (*fallback, *uncited) = (seat.is_fallback(), seat.is_uncited(all));
    }
    row
}

fn adjudicator_row(state: &RunState, outcome: LoggedOutcome<'_>) -> AdjudicatorRow {
    let consulted = consulted_verdicts(state).len();
    let (final_verdict, reasoning, revision_brief) = match outcome {
        LoggedOutcome::Ruled(ruling) => {
            let word = &ruling.adjudication;
            (ruling.verdict.into(), word.reasoning.clone(), word.revision_brief.clone())
        }
        LoggedOutcome::Undecided(stop) => {
            (ReviewVerdict::Incomplete, incomplete_reason(stop), String::new())
        }
    };
    AdjudicatorRow {
        final_verdict,
        reasoning,
        revision_brief,
        applied_compounding: consulted > 0,
        prior_verdicts_consulted: consulted,
    }
}

/// Why the review has no outcome; it replaces the adjudicator's reasons.
fn incomplete_reason(stop: &RunStopReason) -> String {
    match stop {
        RunStopReason::Quorum { heard, needed, .. } => {
            format!("{heard} deliberators answered; the policy needs {needed}")
        }
        RunStopReason::Unadjudicated { seat, reason } => {
            format!("no readable adjudicator: {seat}: {reason}")
        }
        RunStopReason::Budget { shortage } => format!("the budget ran out: {shortage}"),
        RunStopReason::Deadline => "the run reached its deadline".to_owned(),
        RunStopReason::Interrupted => "it was interrupted".to_owned(),
        RunStopReason::Done
        | RunStopReason::Families { .. }
        | RunStopReason::Partial { .. }
        | RunStopReason::Stopped
        | RunStopReason::Uncalibrated { .. }
        | RunStopReason::Unjudged { .. }
        | RunStopReason::Unconcluded { .. } => "the review ended before a decision".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(text: &str) -> LogRow {
        let concern = json!({"locus": text, "issue": text, "fix": text});
        let seat = |name: &str| {
            json!({"deliberator": name, "verdict": "hold", "scores": {}, "would_block": true,
                   "irreducible": false, "concerns": vec![concern.clone(); 9]})
        };
        serde_json::from_value(json!({
            "v": 2, "ts": "2026-05-18T10:00:00Z", "artifact": text, "artifact_type": "post",
            "round1": [seat("skeptic")], "producer": text,
            "round2": [seat("skeptic"), seat("evidence"), seat("strategy"),
                       {"deliberator": "voice", "absent": true, "error_type": "timeout"}],
            "adjudicator": {"final_verdict": "HOLD", "reasoning": text, "revision_brief": text},
        }))
        .unwrap()
    }

    #[test]
    fn every_text_is_cut_and_says_so() {
        let prior = PriorVerdict::from_row(&row(&"ä".repeat(501)));
        let texts = [&prior.artifact, &prior.reasoning, &prior.revision_brief];
        for text in texts.into_iter().chain(&prior.producer).chain(&prior.concerns) {
            assert_eq!(text.chars().count(), 500);
            assert!(text.ends_with('…'), "{text}");
        }
        assert_eq!(prior.concerns.len(), 20, "of twenty-seven");
    }

    #[test]
    fn what_fits_is_whole() {
        let text = "ä".repeat(500);
        let prior = PriorVerdict::from_row(&row(&text));
        assert_eq!((&prior.artifact, &prior.reasoning), (&text, &text));
        let prior = PriorVerdict::from_row(&row("x"));
        assert_eq!(prior.concerns.first().map(String::as_str), Some("skeptic: x (x)"));
    }

    #[test]
    fn a_review_that_had_no_second_round_is_told_by_its_first() {
        let alone = LogRow { round2: Vec::new(), ..row("x") };
        assert_eq!(PriorVerdict::from_row(&alone).concerns.len(), 9);
    }
}
