//! Counts of review verdicts.

use serde::Serialize;

use crate::domain::gate::FinalVerdict;
use crate::record::share::percent_of;

/// Count per verdict. INCOMPLETE is not a decision and is counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictTally {
    pub ship: usize,
    pub revise: usize,
    pub hold: usize,
    pub incomplete: usize,
}

impl VerdictTally {
    pub fn count_logged(self) -> usize {
        self.count_decided() + self.incomplete
    }

    pub fn count_decided(self) -> usize {
        self.ship + self.count_not_ship()
    }

    pub fn count_not_ship(self) -> usize {
        self.revise + self.hold
    }

    pub(super) fn add_verdict(&mut self, verdict: FinalVerdict) {
        match verdict {
            FinalVerdict::Ship => self.ship += 1,
            FinalVerdict::Revise => self.revise += 1,
            FinalVerdict::Hold => self.hold += 1,
            FinalVerdict::Incomplete => self.incomplete += 1,
        }
    }

    pub(super) fn add_counts(&mut self, other: Self) {
        self.ship += other.ship;
        self.revise += other.revise;
        self.hold += other.hold;
        self.incomplete += other.incomplete;
    }
}

impl Serialize for VerdictTally {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut spread = serializer.serialize_struct("Spread", 7)?;
        spread.serialize_field("logged", &self.count_logged())?;
        spread.serialize_field("decided", &self.count_decided())?;
        spread.serialize_field("ship", &self.ship)?;
        spread.serialize_field("revise", &self.revise)?;
        spread.serialize_field("hold", &self.hold)?;
        spread.serialize_field("incomplete", &self.incomplete)?;
        spread.serialize_field(
            "not_ship_percent",
            &percent_of(self.count_not_ship(), self.count_decided()),
        )?;
        spread.end()
    }
}
