//! The document and text that end a sweep: [`SweepSummary`].

use serde::Serialize;

use super::candidates::SweepCounts;
use super::selection::{PassOverReason, PassedOverFile};
use super::swept::{
    PassOverTally, SweepResult, describe_counts, join_counts, tally_reasons, wrap_paragraph,
};
use crate::domain::gate::FinalVerdict;
use crate::domain::time::Moment;
use crate::export::safe_text;

#[derive(Debug, Serialize)]
pub(super) struct SweepSummary {
    status: &'static str,
    since: Moment,
    max: usize,
    reviewed: usize,
    verdicts: VerdictCounts,
    passed_over: PassOverTally,
    unreadable: usize,
    left: Vec<String>,
    /// Excluded paths that a rule matches or may match, so that the author of the rule notices.
    left_out: Vec<String>,
    counts: SweepCounts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct VerdictCounts {
    #[serde(rename = "SHIP")]
    ship: usize,
    #[serde(rename = "REVISE")]
    revise: usize,
    #[serde(rename = "HOLD")]
    hold: usize,
    /// INCOMPLETE, or not reviewed because the sweep stopped.
    undecided: usize,
}

impl VerdictCounts {
    pub(super) fn count_verdict(&mut self, decided: Option<FinalVerdict>) {
        match decided {
            Some(FinalVerdict::Ship) => self.ship += 1,
            Some(FinalVerdict::Revise) => self.revise += 1,
            Some(FinalVerdict::Hold) => self.hold += 1,
            Some(FinalVerdict::Incomplete) | None => self.undecided += 1,
        }
    }
}

impl SweepSummary {
    /// The summary before the reviews; [`Self::with_verdicts`] adds their verdicts.
    pub(super) fn before_reviews(swept: &SweepResult) -> Self {
        let selection = &swept.selection;
        Self {
            status: "swept",
            since: swept.since,
            max: swept.max,
            reviewed: selection.chosen.len(),
            verdicts: VerdictCounts::default(),
            passed_over: tally_reasons(&selection.passed_over),
            unreadable: selection.unreadable.len(),
            left: selection.left.clone(),
            left_out: left_out_paths(&selection.passed_over),
            counts: swept.counts,
        }
    }

    pub(super) fn with_verdicts(self, verdicts: VerdictCounts) -> Self {
        Self { verdicts, ..self }
    }

    /// For example `Judged 3 (2 SHIP, 1 HOLD), 1 could not be judged. …`.
    pub(super) fn summary_text(&self, width: usize) -> String {
        let VerdictCounts { ship, revise, hold, undecided } = self.verdicts;
        let verdicts =
            [(ship, "SHIP"), (revise, "REVISE"), (hold, "HOLD"), (undecided, "undecided")];
        let mut said = match self.reviewed {
            0 => "Nothing to judge".to_owned(),
            count => format!("Judged {count} ({})", join_counts(&verdicts)),
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
        let looked_at = describe_counts(self.counts, &self.passed_over, self.since);
        let mut text = format!("{gap}{}", wrap_paragraph(&format!("{said}. {looked_at}."), width));
        if !self.left_out.is_empty() {
            let paths: Vec<String> =
                self.left_out.iter().map(|path| safe_text::safe_line(path)).collect();
            text += &wrap_paragraph(&format!("Left out: {}.", paths.join(", ")), width);
        }
        text
    }
}

fn left_out_paths(passed_over: &[PassedOverFile]) -> Vec<String> {
    let is_left_out = |one: &&PassedOverFile| one.code == PassOverReason::LeftOut;
    passed_over.iter().filter(is_left_out).map(|one| one.path.clone()).collect()
}
