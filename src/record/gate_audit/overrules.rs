//! Human overrides of review verdicts. If a verdict has several, the newest counts.

use std::cmp::Ordering;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::domain::gate::{FinalVerdict, ReviewDecision};
use crate::record::share::percent_of;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverrideCounts {
    /// Decided verdicts.
    pub decided: usize,
    pub overridden: usize,
    /// The override is more lenient than the verdict.
    pub softened: usize,
    /// The override is stricter than the verdict.
    pub hardened: usize,
    /// The override confirms the verdict.
    pub confirmed: usize,
    /// Overrides of INCOMPLETE verdicts; not part of the percentage.
    pub of_incomplete: usize,
}

impl OverrideCounts {
    pub(super) fn add_verdict(
        &mut self,
        verdict: FinalVerdict,
        overridden: Option<ReviewDecision>,
    ) {
        let gate = verdict.to_decision();
        self.decided += usize::from(gate.is_some());
        let Some(person) = overridden else { return };
        let Some(gate) = gate else {
            self.of_incomplete += 1;
            return;
        };
        self.overridden += 1;
        match person.cmp(&gate) {
            Ordering::Less => self.softened += 1,
            Ordering::Equal => self.confirmed += 1,
            Ordering::Greater => self.hardened += 1,
        }
    }
}

impl Serialize for OverrideCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut overrules = serializer.serialize_struct("Overrules", 7)?;
        overrules.serialize_field("decided", &self.decided)?;
        overrules.serialize_field("overridden", &self.overridden)?;
        overrules
            .serialize_field("overridden_percent", &percent_of(self.overridden, self.decided))?;
        overrules.serialize_field("softened", &self.softened)?;
        overrules.serialize_field("hardened", &self.hardened)?;
        overrules.serialize_field("confirmed", &self.confirmed)?;
        overrules.serialize_field("of_incomplete", &self.of_incomplete)?;
        overrules.end()
    }
}
