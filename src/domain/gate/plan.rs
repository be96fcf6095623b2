//! What a review is set up with, besides what every run is.

use serde::{Deserialize, Serialize};

use super::artifact::Artifact;
use super::policy::Policy;
use super::ruling::GateVerdict;
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;

/// The part of a plan that only a review has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatePlan {
    pub artifact: Artifact,
    pub deliberators: Vec<Deliberator>,
    pub adjudicator: ExpertSlug,
    pub policy: Policy,
    /// The last verdicts on artifacts of this type, newest first: for the adjudicator alone.
    pub priors: Vec<PriorVerdict>,
}

impl GatePlan {
    pub fn deliberator(&self, seat: &ExpertSlug) -> Option<&Deliberator> {
        self.deliberators.iter().find(|one| one.seat == *seat)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deliberator {
    pub seat: ExpertSlug,
    /// The operator's own instructions, in place of the built-in ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextRef>,
}

/// A file that a deliberator judges by: a voice corpus, goals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRef {
    pub path: String,
    /// Nothing, when it could not be read; then `missing` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What the gate decided of another artifact of the same type, each text cut short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorVerdict {
    pub ts: Moment,
    pub artifact: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    pub verdict: GateVerdict,
    pub reasoning: String,
    pub revision_brief: String,
    pub concerns: Vec<String>,
}
