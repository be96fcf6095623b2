//! Counts the stances of the first round.

use serde::{Deserialize, Serialize};

use super::words::Stance;

/// Stances of the first round, counted independently of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub approve: usize,
    pub reject: usize,
    pub conditional: usize,
    pub abstain: usize,
    pub none: usize,
}

impl Tally {
    pub fn of(stances: impl IntoIterator<Item = Stance>) -> Self {
        let mut tally = Self::default();
        for stance in stances {
            *tally.count_mut(stance) += 1;
        }
        tally
    }

    pub fn count(self, stance: Stance) -> usize {
        let mut tally = self;
        *tally.count_mut(stance)
    }

    fn count_mut(&mut self, stance: Stance) -> &mut usize {
        match stance {
            Stance::Approve => &mut self.approve,
            Stance::Reject => &mut self.reject,
            Stance::Conditional => &mut self.conditional,
            Stance::Abstain => &mut self.abstain,
            Stance::None => &mut self.none,
        }
    }

    /// Returns true if the stances differ.
    pub fn is_split(self) -> bool {
        Stance::ALL.iter().filter(|stance| self.count(**stance) > 0).count() > 1
    }
}
