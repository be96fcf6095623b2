//! What a deliberator holds of an artifact.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::words::words;

words! {
    /// What a deliberator would do. It weighs nothing: a block is `would_block`, nothing else.
    pub enum Leaning {
        Ship = "ship",
        Revise = "revise",
        Hold = "hold",
    }
}

/// A deliberator's reply. The last three fields belong to the second round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub verdict: Leaning,
    /// From 1 (fails) to 5 (nothing to add), by name.
    pub scores: BTreeMap<String, u8>,
    /// Whether it must not go out as it is.
    pub would_block: bool,
    /// Whether no revision could lift the block.
    pub irreducible: bool,
    #[serde(default)]
    pub concerns: Vec<Concern>,
    /// What the producer should change.
    #[serde(default)]
    pub revision_brief: String,
    /// What peers' concerns made you give up; each names the concern, such as `evidence-2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concessions: Vec<String>,
    /// What peers' concerns made you press harder; each names the concern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalations: Vec<String>,
    /// What changed since the first round, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub delta_from_r1: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concern {
    /// The words it is about, quoted from the artifact, or a line such as `L12`.
    #[serde(default)]
    pub locus: String,
    pub issue: String,
    #[serde(default)]
    pub fix: String,
}

/// Whether a judgement stands in the way. What is irreducible and does not block is no block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Block {
    None,
    /// A revision could lift it.
    Reducible,
    Irreducible,
}

impl Block {
    /// Of both flags, as a reply has them.
    pub fn written(would_block: bool, irreducible: bool) -> Self {
        match (would_block, irreducible) {
            (false, _) => Self::None,
            (true, false) => Self::Reducible,
            (true, true) => Self::Irreducible,
        }
    }
}

impl Judgement {
    pub fn block(&self) -> Block {
        Block::written(self.would_block, self.irreducible)
    }
}
