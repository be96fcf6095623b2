//! One thing that a rehearsed deliberator found.

use crate::domain::gate::Concern;

/// How much a fault weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Worth a word; several of them are worth a block.
    Remark,
    /// Must not go out like this; other words would do.
    Grave,
    /// Must not go out, in whatever words.
    Lasting,
}

#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) weight: Weight,
    /// Which of its seat's three scores suffers.
    pub(super) score: usize,
    pub(super) concern: Concern,
}

impl Fault {
    pub(super) fn new(weight: Weight, score: usize, said: [String; 3]) -> Self {
        let [locus, issue, fix] = said;
        Self { weight, score, concern: Concern { locus, issue, fix } }
    }
}
