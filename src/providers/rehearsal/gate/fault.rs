//! One fault found by a rehearsed deliberator.

use crate::domain::gate::ReviewConcern;

/// Severity of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FaultWeight {
    /// Minor; several of them together block.
    Remark,
    /// Blocks until reworded.
    Grave,
    /// Blocks in any wording.
    Lasting,
}

#[derive(Debug, Clone)]
pub(super) struct PageFault {
    pub(super) weight: FaultWeight,
    /// Index of the seat's score that it lowers.
    pub(super) score: usize,
    pub(super) concern: ReviewConcern,
}

impl PageFault {
    pub(super) fn new(weight: FaultWeight, score: usize, said: [String; 3]) -> Self {
        let [locus, issue, fix] = said;
        Self { weight, score, concern: ReviewConcern { locus, issue, fix } }
    }
}
