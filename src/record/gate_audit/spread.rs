//! Counts of review verdicts.

use serde::Serialize;

use crate::domain::gate::GateVerdict;
use crate::record::share::percent;

/// Count per verdict. INCOMPLETE is not a decision and is counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    pub ship: usize,
    pub revise: usize,
    pub hold: usize,
    pub incomplete: usize,
}

impl Spread {
    pub fn logged(self) -> usize {
        self.decided() + self.incomplete
    }

    pub fn decided(self) -> usize {
        self.ship + self.not_ship()
    }

    pub fn not_ship(self) -> usize {
        self.revise + self.hold
    }

    pub(super) fn note(&mut self, verdict: GateVerdict) {
        match verdict {
            GateVerdict::Ship => self.ship += 1,
            GateVerdict::Revise => self.revise += 1,
            GateVerdict::Hold => self.hold += 1,
            GateVerdict::Incomplete => self.incomplete += 1,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.ship += other.ship;
        self.revise += other.revise;
        self.hold += other.hold;
        self.incomplete += other.incomplete;
    }
}

impl Serialize for Spread {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut spread = serializer.serialize_struct("Spread", 7)?;
        spread.serialize_field("logged", &self.logged())?;
        spread.serialize_field("decided", &self.decided())?;
        spread.serialize_field("ship", &self.ship)?;
        spread.serialize_field("revise", &self.revise)?;
        spread.serialize_field("hold", &self.hold)?;
        spread.serialize_field("incomplete", &self.incomplete)?;
        spread.serialize_field("not_ship_percent", &percent(self.not_ship(), self.decided()))?;
        spread.end()
    }
}
