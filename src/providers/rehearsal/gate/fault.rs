//! One fault found by a rehearsed deliberator.

use crate::domain::gate::Concern;

/// Severity of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Minor; several of them together block.
    Remark,
    /// Blocks until reworded.
    Grave,
    /// Blocks in any wording.
    Lasting,
}

#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) weight: Weight,
    /// Index of the seat's score that it lowers.
    pub(super) score: usize,
    pub(super) concern: Concern,
}

impl Fault {
    pub(super) fn new(weight: Weight, score: usize, said: [String; 3]) -> Self {
        let [locus, issue, fix] = said;
        Self { weight, score, concern: Concern { locus, issue, fix } }
    }
}
