//! The plan of a review, in addition to the plan of every run.

use serde::{Deserialize, Serialize};

use super::artifact::ReviewArtifact;
use super::policy::ReviewPolicy;
use super::ruling::FinalVerdict;
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;

/// The part of a plan that only a review has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPlan {
    pub artifact: ReviewArtifact,
    pub deliberators: Vec<DeliberatorPlan>,
    pub adjudicator: ExpertSlug,
    pub policy: ReviewPolicy,
    /// The last verdicts on artifacts of this type, newest first. Only the adjudicator sees them.
    pub priors: Vec<PriorVerdict>,
}

impl ReviewPlan {
    pub fn find_deliberator(&self, seat: &ExpertSlug) -> Option<&DeliberatorPlan> {
        self.deliberators.iter().find(|one| one.seat == *seat)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliberatorPlan {
    pub seat: ExpertSlug,
    /// The operator's instructions, which replace the built-in ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<DeliberatorContext>,
}

/// A file that a deliberator judges by, for example a voice corpus or goals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliberatorContext {
    pub path: String,
    /// `None` if the file could not be read; then `missing` gives the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// An earlier verdict on an artifact of the same type, with truncated texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorVerdict {
    pub ts: Moment,
    pub artifact: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    pub verdict: FinalVerdict,
    pub reasoning: String,
    pub revision_brief: String,
    pub concerns: Vec<String>,
}
