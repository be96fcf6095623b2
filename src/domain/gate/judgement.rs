//! A deliberator's judgement of an artifact.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::words::words;

words! {
    /// A deliberator's recommendation. Only `would_block` counts for the policy, not this value.
    pub enum DeliberatorVerdict {
        Ship = "ship",
        Revise = "revise",
        Hold = "hold",
    }
}

/// A deliberator's reply. The last three fields belong to the second round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliberatorJudgement {
    pub verdict: DeliberatorVerdict,
    /// From 1 (fails) to 5 (nothing to add), by name.
    pub scores: BTreeMap<String, u8>,
    /// True if the artifact must not be published as it is.
    pub would_block: bool,
    /// True if no revision can remove the block.
    pub irreducible: bool,
    #[serde(default)]
    pub concerns: Vec<ReviewConcern>,
    /// What the producer should change.
    #[serde(default)]
    pub revision_brief: String,
    /// Points given up because of peers' concerns; each names the concern, such as `evidence-2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concessions: Vec<String>,
    /// Points pressed harder because of peers' concerns; each names the concern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalations: Vec<String>,
    /// What changed since the first round, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub delta_from_r1: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewConcern {
    /// A quotation from the artifact, or a line such as `L12`.
    #[serde(default)]
    pub locus: String,
    pub issue: String,
    #[serde(default)]
    pub fix: String,
}

/// Whether a judgement blocks. An irreducible judgement that does not block is no block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockLevel {
    None,
    /// A revision could remove the block.
    Reducible,
    Irreducible,
}

impl BlockLevel {
    /// Combines both flags of a reply.
    pub fn from_flags(would_block: bool, irreducible: bool) -> Self {
        match (would_block, irreducible) {
            (false, _) => Self::None,
            (true, false) => Self::Reducible,
            (true, true) => Self::Irreducible,
        }
    }
}

impl DeliberatorJudgement {
    pub fn block_level(&self) -> BlockLevel {
        BlockLevel::from_flags(self.would_block, self.irreducible)
    }
}
