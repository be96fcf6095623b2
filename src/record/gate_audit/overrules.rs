//! What people decided over the gate. Of several words over one verdict the newest counts.

use std::cmp::Ordering;

use serde::Serialize;

use super::share::percent;
use crate::domain::gate::{Decision, GateVerdict};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Overrules {
    /// Verdicts that could be overridden.
    pub decided: usize,
    pub overridden: usize,
    pub overridden_percent: Option<f64>,
    /// A person let through more than the gate did.
    pub softened: usize,
    /// A person let through less.
    pub hardened: usize,
    /// A person said the same.
    pub confirmed: usize,
    /// A person decided where the gate could not; no share of the others.
    pub of_incomplete: usize,
}

impl Overrules {
    pub(super) fn note(&mut self, verdict: GateVerdict, overridden: Option<Decision>) {
        let gate = verdict.decision();
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

    #[must_use]
    pub(super) fn told(self) -> Self {
        Self { overridden_percent: percent(self.overridden, self.decided), ..self }
    }
}
