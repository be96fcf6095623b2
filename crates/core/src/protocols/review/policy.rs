//! The policy: computes a verdict from the number of blocks and the adjudicator's reply. Also the
//! outcome of a review, and its override by a person.

use serde::{Deserialize, Serialize};

use crate::model::string_enum::words;
use crate::model::time::Moment;
use crate::protocols::review::types::{BlockLevel, DeliberatorJudgement, DeliberatorVerdict};

/// Number of blocks that lead to HOLD.
pub(crate) const BLOCKS_TO_HOLD: usize = 3;

words! {
    /// The rule that turns blocks into a verdict.
    pub enum PolicyName {
        Seed = "seed",
        Strict = "strict",
    }
}

words! {
    /// The decision on an artifact; later variants are stricter.
    pub enum ReviewDecision {
        Ship = "SHIP",
        Revise = "REVISE",
        Hold = "HOLD",
    }
}

impl From<DeliberatorVerdict> for ReviewDecision {
    fn from(leaning: DeliberatorVerdict) -> Self {
        match leaning {
            DeliberatorVerdict::Ship => Self::Ship,
            DeliberatorVerdict::Revise => Self::Revise,
            DeliberatorVerdict::Hold => Self::Hold,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    pub name: PolicyName,
    /// With fewer judgements than this, there is no decision.
    pub min_deliberators: usize,
}

/// The counted blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTally {
    pub name: PolicyName,
    pub present: usize,
    pub blocks: usize,
    pub irreducible_blocks: usize,
    /// The decision that follows from the counts; `None` if too few judgements are present.
    pub computed: Option<ReviewDecision>,
}

impl ReviewPolicy {
    /// Counts the blocks of the present judgements.
    pub fn count_blocks<'a>(
        &self,
        present: impl IntoIterator<Item = &'a DeliberatorJudgement>,
    ) -> BlockTally {
        let (mut heard, mut blocks, mut irreducible_blocks) = (0, 0, 0);
        for judgement in present {
            heard += 1;
            blocks += usize::from(judgement.would_block);
            irreducible_blocks += usize::from(judgement.block_level() == BlockLevel::Irreducible);
        }
        let computed = match self.name {
            PolicyName::Seed if blocks >= BLOCKS_TO_HOLD => ReviewDecision::Hold,
            PolicyName::Seed => ReviewDecision::Ship,
            PolicyName::Strict if blocks == 0 => ReviewDecision::Ship,
            PolicyName::Strict if blocks >= BLOCKS_TO_HOLD || irreducible_blocks > 0 => {
                ReviewDecision::Hold
            }
            PolicyName::Strict => ReviewDecision::Revise,
        };
        let is_enough = heard >= self.min_deliberators.max(1);
        BlockTally {
            name: self.name,
            present: heard,
            blocks,
            irreducible_blocks,
            computed: is_enough.then_some(computed),
        }
    }
}

impl BlockTally {
    /// Returns true if the blocks may count as REVISE. Irreducible blocks may not.
    pub fn may_be_downgraded(&self) -> bool {
        let is_lasting = match self.name {
            PolicyName::Seed => self.irreducible_blocks >= BLOCKS_TO_HOLD,
            PolicyName::Strict => self.irreducible_blocks > 0,
        };
        self.computed == Some(ReviewDecision::Hold) && !is_lasting
    }

    /// Combines the counts with the adjudicator's decision: never softer, except for a downgrade.
    pub fn apply_adjudication(&self, word: &AdjudicatorReply) -> Option<ReviewDecision> {
        let computed = self.computed?;
        let downgraded = self.may_be_downgraded() && word.asks_for_downgrade();
        let floor = if downgraded { ReviewDecision::Revise } else { computed };
        Some(floor.max(word.final_verdict))
    }
}

/// The adjudicator's decision. The policy counts the blocks in any case: the adjudicator can be
/// stricter, but softer only with a downgrade that gives a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjudicatorReply {
    pub final_verdict: ReviewDecision,
    /// Reasoning, based only on the deliberators' judgements.
    pub reasoning: String,
    /// What the producer should change, in order; empty if nothing.
    #[serde(default)]
    pub revision_brief: String,
    /// Requests that reducible blocks count as REVISE instead of HOLD.
    #[serde(default)]
    pub downgrade: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downgrade_reason: Option<String>,
}

impl AdjudicatorReply {
    /// Ignores a downgrade without a reason.
    pub fn asks_for_downgrade(&self) -> bool {
        let reason = self.downgrade_reason.as_deref().unwrap_or_default();
        self.downgrade && !reason.trim().is_empty()
    }
}

words! {
    /// The result of a file's review.
    pub enum ReviewVerdict {
        Ship = "SHIP",
        Revise = "REVISE",
        Hold = "HOLD",
        /// Too few judgements to decide; the gate fails closed.
        Incomplete = "INCOMPLETE",
        /// The file's tier is not reviewed, or not selected this time. It has no log line.
        Skipped = "SKIPPED",
    }
}

impl ReviewVerdict {
    /// `None` if nothing was decided.
    pub fn to_decision(self) -> Option<ReviewDecision> {
        match self {
            Self::Ship => Some(ReviewDecision::Ship),
            Self::Revise => Some(ReviewDecision::Revise),
            Self::Hold => Some(ReviewDecision::Hold),
            Self::Incomplete | Self::Skipped => None,
        }
    }
}

impl From<ReviewDecision> for ReviewVerdict {
    fn from(decision: ReviewDecision) -> Self {
        match decision {
            ReviewDecision::Ship => Self::Ship,
            ReviewDecision::Revise => Self::Revise,
            ReviewDecision::Hold => Self::Hold,
        }
    }
}

/// The outcome of a review that could be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewOutcome {
    pub verdict: ReviewDecision,
    #[serde(rename = "arithmetic")]
    pub tally: BlockTally,
    pub adjudication: AdjudicatorReply,
}

impl ReviewOutcome {
    /// Only a downgrade makes the verdict softer than the computed one.
    pub fn is_downgraded(&self) -> bool {
        self.tally.computed.is_some_and(|computed| self.verdict < computed)
    }
}

/// A person's decision that overrides the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictOverride {
    pub verdict_id: String,
    pub decision: ReviewDecision,
    pub why: String,
    /// The person who decided; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When it was decided, if another store recorded it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Moment>,
}

impl VerdictOverride {
    /// When it was decided; `recorded` is the time of its entry.
    pub fn moment(&self, recorded: Moment) -> Moment {
        self.decided_at.unwrap_or(recorded)
    }
}
