//! Counts the stances of the first round.

use serde::{Deserialize, Serialize};

use super::words::OpinionStance;

/// Stances of the first round, counted independently of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StanceTally {
    pub approve: usize,
    pub reject: usize,
    pub conditional: usize,
    pub abstain: usize,
    pub none: usize,
}

impl StanceTally {
    pub fn from_stances(stances: impl IntoIterator<Item = OpinionStance>) -> Self {
        let mut tally = Self::default();
        for stance in stances {
            *tally.count_mut(stance) += 1;
        }
        tally
    }

    pub fn count_of(self, stance: OpinionStance) -> usize {
        let mut tally = self;
        *tally.count_mut(stance)
    }

    fn count_mut(&mut self, stance: OpinionStance) -> &mut usize {
        match stance {
            OpinionStance::Approve => &mut self.approve,
            OpinionStance::Reject => &mut self.reject,
            OpinionStance::Conditional => &mut self.conditional,
            OpinionStance::Abstain => &mut self.abstain,
            OpinionStance::None => &mut self.none,
        }
    }

    /// Returns true if the stances differ.
    pub fn is_split(self) -> bool {
        OpinionStance::ALL.iter().filter(|stance| self.count_of(**stance) > 0).count() > 1
    }
}
