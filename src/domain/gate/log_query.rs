//! What can be asked of the verdict log, and what comes back.

use super::policy::Decision;
use super::row::LogRow;
use super::ruling::GateVerdict;
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;

/// Which rows to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogQuery {
    /// Only artifacts of this type.
    pub artifact_type: Option<String>,
    /// None that is older than this, by its own `ts`.
    pub since: Option<Moment>,
    pub stretch: LogStretch,
    pub limit: usize,
}

impl LogQuery {
    /// Everything from the beginning, so many rows at a time.
    pub fn from_the_start(limit: usize) -> Self {
        Self { artifact_type: None, since: None, stretch: LogStretch::After(0), limit }
    }
}

/// Which end of the log is read. What comes back is in the order of the log either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStretch {
    /// The first rows after this one; 0 is before the first.
    After(u64),
    /// The last rows.
    Last,
}

/// A line of the file, and its place in the order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub seq: u64,
    pub line: String,
}

/// A row of the log, with what a person decided over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedVerdict {
    /// Its place in the order of the log; to go on after it.
    pub seq: u64,
    pub verdict_id: String,
    /// The review, or the import that brought it.
    pub dialogue_id: DialogueId,
    pub row: LogRow,
    /// The row as it stands in the file.
    pub line: String,
    /// The newest decision of a person, where there is one: it stands.
    pub overridden: Option<RecordedOverride>,
}

impl LoggedVerdict {
    /// What stands: a person's word where there is one, else the gate's.
    pub fn standing(&self) -> GateVerdict {
        let decided = self.overridden.as_ref().map(|word| word.decision.into());
        decided.unwrap_or(self.row.adjudicator.final_verdict)
    }
}

/// A person's decision, and when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedOverride {
    pub decision: Decision,
    pub why: String,
    pub at: Moment,
}

/// The content of an artifact, to ask whether it was decided on. A rehearsal decides nothing for
/// a real review, nor the other way round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentQuery {
    pub sha256: String,
    pub rehearsal: bool,
}

/// What was decided of a content, the last time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedContent {
    pub verdict_id: String,
    pub verdict: GateVerdict,
    pub ts: Moment,
}
