//! [`replay_log`]: what another policy would have decided over recorded judgements. It calls no model.

use std::collections::BTreeMap;

use plenary_core::model::time::Moment;
use plenary_core::protocols::review::log_row::{LogQuery, LoggedVerdict, SeatRow};
use plenary_core::protocols::review::policy::{
    BlockTally, PolicyName, ReviewDecision, ReviewPolicy, ReviewVerdict,
};
use serde::Serialize;

use crate::app::project::Project;
use crate::engine::run_start::load_run_state;
use crate::error::Error;
use crate::store::traits::{LOG_PAGE_ROWS, log_pages};

/// Result of a replay.
#[derive(Debug, Serialize)]
pub struct ReplayResult {
    pub status: &'static str,
    pub policy: PolicyName,
    pub rows: usize,
    pub changed: Vec<ChangedVerdict>,
    pub distribution: VerdictShift,
}

/// Counts by verdict, before and after.
#[derive(Debug, Default, Serialize)]
pub struct VerdictShift {
    pub was: BTreeMap<&'static str, usize>,
    pub would_be: BTreeMap<&'static str, usize>,
}

/// A verdict that the policy would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedVerdict {
    pub verdict_id: String,
    pub artifact: String,
    pub was: ReviewVerdict,
    pub would_be: ReviewVerdict,
}

/// Applies a policy to every decided row, without rehearsals. People's decisions stay out: they are
/// not the policy's.
pub fn replay_log(
    project: &Project,
    policy: PolicyName,
    since: Option<Moment>,
) -> Result<ReplayResult, Error> {
    let distribution = VerdictShift::default();
    let mut replay =
        ReplayResult { status: "success", policy, rows: 0, changed: Vec::new(), distribution };
    let query = LogQuery { since, ..LogQuery::from_start(LOG_PAGE_ROWS) };
    for page in log_pages(project.store.as_ref(), &query) {
        for logged in page?.iter().filter(|logged| !logged.row.rehearsal) {
            let was = logged.row.adjudicator.final_verdict;
            if was.to_decision().is_none() {
                continue;
            }
            let would_be = replay_verdict(project, policy, logged);
            replay.rows += 1;
            *replay.distribution.was.entry(was.name()).or_default() += 1;
            *replay.distribution.would_be.entry(would_be.name()).or_default() += 1;
            if would_be != was {
                replay.changed.push(ChangedVerdict {
                    verdict_id: logged.verdict_id.clone(),
                    artifact: logged.row.artifact.clone(),
                    was,
                    would_be,
                });
            }
        }
    }
    Ok(replay)
}

fn replay_verdict(project: &Project, policy: PolicyName, logged: &LoggedVerdict) -> ReviewVerdict {
    let run = load_run_state(&project.protocols, project.store.as_ref(), &logged.dialogue_id).ok();
    let run = run.filter(|_| !logged.row.imported);
    let gate = run.as_ref().and_then(|run| run.review_plan());
    // A row had at least as many judgements as its own policy needed.
    let min_deliberators = gate.map_or(1, |gate| gate.policy.min_deliberators);
    let tally = count_row(logged, ReviewPolicy { name: policy, min_deliberators });
    let Some(computed) = tally.computed else { return ReviewVerdict::Incomplete };
    let outcome = run.as_ref().and_then(|run| run.review_outcome.as_ref());
    let decided = match outcome {
        Some(outcome) => tally.apply_adjudication(&outcome.adjudication),
        None => guess_decision(logged, computed),
    };
    decided.map_or(ReviewVerdict::Incomplete, ReviewVerdict::from)
}

/// Counts the judgements of the last round.
fn count_row(logged: &LoggedVerdict, policy: ReviewPolicy) -> BlockTally {
    let row = &logged.row;
    let last = if row.round2.is_empty() { &row.round1 } else { &row.round2 };
    policy.count_blocks(last.iter().filter_map(SeatRow::judgement))
}

/// An imported row does not have the adjudicator's own answer. If its verdict was stricter than its
/// count, the adjudicator was, and would be again.
fn guess_decision(logged: &LoggedVerdict, computed: ReviewDecision) -> Option<ReviewDecision> {
    let was = logged.row.adjudicator.final_verdict.to_decision()?;
    let own = logged.row.policy.as_ref().and_then(|tally| tally.computed);
    let is_stricter = own.is_none_or(|own| was > own);
    Some(if is_stricter { computed.max(was) } else { computed })
}
