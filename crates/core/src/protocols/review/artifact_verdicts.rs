//! Verdicts by artifact, and the decisions of people over them, for the statistics of a verdict log.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::time::Moment;
use crate::protocols::review::log_row::{LoggedVerdict, RecordedOverride};
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::verdict_counts::VerdictTally;

/// Artifacts and overrides that the statistics list; a long log has thousands.
const LISTED_MAX: usize = 100;

/// The verdicts on one artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactVerdicts {
    pub artifact: String,
    #[serde(flatten)]
    pub spread: VerdictTally,
    /// The newest verdict in effect: an override counts.
    pub newest: ReviewVerdict,
    pub newest_at: Moment,
}

/// A verdict that a person decided otherwise, or confirmed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverriddenVerdict {
    pub verdict_id: String,
    pub artifact: String,
    /// The verdict of the review.
    pub verdict: ReviewVerdict,
    #[serde(flatten)]
    pub decided: RecordedOverride,
}

/// Collects both lists.
#[derive(Debug, Default)]
pub(crate) struct ArtifactLists {
    artifacts: BTreeMap<String, ArtifactVerdicts>,
    overrides: Vec<OverriddenVerdict>,
}

impl ArtifactLists {
    pub(crate) fn add_verdict(&mut self, logged: &LoggedVerdict) {
        let row = &logged.row;
        let verdict = row.adjudicator.final_verdict;
        let known = self.artifacts.entry(row.artifact.clone());
        let artifact = known.or_insert_with(|| ArtifactVerdicts {
            artifact: row.artifact.clone(),
            spread: VerdictTally::default(),
            newest: verdict,
            newest_at: row.ts,
        });
        artifact.spread.add_verdict(verdict);
        if row.ts >= artifact.newest_at {
            (artifact.newest, artifact.newest_at) = (logged.effective_verdict(), row.ts);
        }
        self.overrides.extend(logged.overridden.clone().map(|decided| OverriddenVerdict {
            verdict_id: logged.verdict_id.clone(),
            artifact: row.artifact.clone(),
            verdict,
            decided,
        }));
    }

    /// Both lists, newest first.
    pub(crate) fn into_lists(self) -> (Vec<ArtifactVerdicts>, Vec<OverriddenVerdict>) {
        let mut artifacts: Vec<_> = self.artifacts.into_values().collect();
        artifacts.sort_by_key(|one| Reverse(one.newest_at));
        artifacts.truncate(LISTED_MAX);
        let mut overrides = self.overrides;
        overrides.sort_by_key(|one| Reverse(one.decided.at));
        overrides.truncate(LISTED_MAX);
        (artifacts, overrides)
    }
}
