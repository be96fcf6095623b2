//! The document and text that end a sweep: [`SweepSummary`].

use serde::Serialize;

use super::candidates::Counts;
use super::selection::{PassedOver, PassedOverBecause};
use super::swept::{Swept, Tally, listed, looked_at, paragraph, tally};
use crate::domain::gate::GateVerdict;
use crate::domain::time::Moment;
use crate::export::safe_text;

#[derive(Debug, Serialize)]
pub(super) struct Summary {
    status: &'static str,
    since: Moment,
    max: usize,
    reviewed: usize,
    verdicts: Verdicts,
    passed_over: Tally,
    unreadable: usize,
    left: Vec<String>,
    /// Excluded paths that a rule matches or may match, so that the author of the rule notices.
    left_out: Vec<String>,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Verdicts {
    #[serde(rename = "SHIP")]
    ship: usize,
    #[serde(rename = "REVISE")]
    revise: usize,
    #[serde(rename = "HOLD")]
    hold: usize,
    /// INCOMPLETE, or not reviewed because the sweep stopped.
    undecided: usize,
}

impl Verdicts {
    pub(super) fn note(&mut self, decided: Option<GateVerdict>) {
        match decided {
            Some(GateVerdict::Ship) => self.ship += 1,
            Some(GateVerdict::Revise) => self.revise += 1,
            Some(GateVerdict::Hold) => self.hold += 1,
            Some(GateVerdict::Incomplete) | None => self.undecided += 1,
        }
    }
}

impl Summary {
    /// The summary before the reviews; [`Self::with_verdicts`] adds their verdicts.
    pub(super) fn of(swept: &Swept) -> Self {
        let selection = &swept.selection;
        Self {
            status: "swept",
            since: swept.since,
            max: swept.max,
            reviewed: selection.chosen.len(),
            verdicts: Verdicts::default(),
            passed_over: tally(&selection.passed_over),
            unreadable: selection.unreadable.len(),
            left: selection.left.clone(),
            left_out: left_out(&selection.passed_over),
            counts: swept.counts,
        }
    }

    pub(super) fn with(self, verdicts: Verdicts) -> Self {
        Self { verdicts, ..self }
    }

    /// For example `Judged 3 (2 SHIP, 1 HOLD), 1 could not be judged. …`.
    pub(super) fn text(&self, width: usize) -> String {
        let Verdicts { ship, revise, hold, undecided } = self.verdicts;
        let verdicts =
            [(ship, "SHIP"), (revise, "REVISE"), (hold, "HOLD"), (undecided, "undecided")];
        let mut said = match self.reviewed {
            0 => "Nothing to judge".to_owned(),
            count => format!("Judged {count} ({})", listed(&verdicts)),
        };
        if self.unreadable > 0 {
            said += &format!(", {} could not be judged", self.unreadable);
        }
        if !self.left.is_empty() {
            let (left, max) = (self.left.len(), self.max);
            said += &format!(", {left} left for the next sweep (`--max {max}`)");
        }
        // Separate the summary from the page above it.
        let gap = if self.reviewed > 0 { "\n" } else { "" };
        let looked_at = looked_at(self.counts, &self.passed_over, self.since);
        let mut text = format!("{gap}{}", paragraph(&format!("{said}. {looked_at}."), width));
        if !self.left_out.is_empty() {
            let paths: Vec<String> =
                self.left_out.iter().map(|path| safe_text::line(path)).collect();
            text += &paragraph(&format!("Left out: {}.", paths.join(", ")), width);
        }
        text
    }
}

fn left_out(passed_over: &[PassedOver]) -> Vec<String> {
    let is_left_out = |one: &&PassedOver| one.code == PassedOverBecause::LeftOut;
    passed_over.iter().filter(is_left_out).map(|one| one.path.clone()).collect()
}
