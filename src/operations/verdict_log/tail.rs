//! `log tail`: the last verdicts.

use serde::Serialize;

use super::super::workspace::Workspace;
use crate::domain::gate::{Decision, GateVerdict, LogQuery, LogRow, LogStretch, LoggedVerdict};
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;
use crate::error::Error;

/// A row, with what a person said over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TailRow {
    #[serde(flatten)]
    pub row: LogRow,
    pub dialogue_id: DialogueId,
    /// What stands: a person's word where there is one, else the gate's.
    pub standing: GateVerdict,
    pub overridden: Option<PersonsDecision>,
}

/// A person's word over a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonsDecision {
    pub decision: Decision,
    pub why: String,
    pub at: Moment,
}

/// The last `limit` verdicts, of one type where it is given; in the order of the log.
pub fn tail_log(
    workspace: &Workspace,
    artifact_type: Option<String>,
    limit: usize,
) -> Result<Vec<TailRow>, Error> {
    let stretch = LogStretch::Last;
    let query = LogQuery { artifact_type, stretch, ..LogQuery::from_the_start(limit) };
    Ok(workspace.store.log_page(&query)?.into_iter().map(told).collect())
}

fn told(found: LoggedVerdict) -> TailRow {
    let standing = found.standing();
    let LoggedVerdict { row, dialogue_id, overridden, .. } = found;
    let word = overridden.map(|word| PersonsDecision {
        decision: word.decision,
        why: word.why,
        at: word.at,
    });
    TailRow { row, dialogue_id, standing, overridden: word }
}
