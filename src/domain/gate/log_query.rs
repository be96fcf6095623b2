//! Queries of the verdict log, and their results.

use super::policy::ReviewDecision;
use super::row::LogRow;
use super::ruling::FinalVerdict;
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;

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
    pub fn effective_verdict(&self) -> FinalVerdict {
        let decided = self.overridden.as_ref().map(|word| word.decision.into());
        decided.unwrap_or(self.row.adjudicator.final_verdict)
    }
}

/// A person's decision, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedOverride {
    pub decision: ReviewDecision,
    pub why: String,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentDecision {
    pub verdict_id: String,
    pub verdict: FinalVerdict,
    pub ts: Moment,
}
