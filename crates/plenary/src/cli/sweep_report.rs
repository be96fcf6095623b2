//! The documents and texts of `sweep`: the plan of a dry run, and the summary of a sweep.

use std::collections::BTreeMap;

use plenary_core::model::time::Moment;
use plenary_core::protocols::review::policy::ReviewVerdict;
use plenary_core::report::phrases::{count_noun, group_digits};
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_core::report::terminal::wrap::wrap_line;
use plenary_engine::app::planning::estimate::CostEstimate;
use plenary_engine::app::sweep::{
    ChosenDocument, ChosenFile, PassOverReason, PassedOverFile, SweepCounts, SweepSelection,
};
use serde::Serialize;
use serde_json::{Value, json};

/// A selection of files, with an upper bound of calls, tokens and cost for all reviews together.
pub(crate) struct SweepPlan {
    pub since: Moment,
    pub max: usize,
    pub selection: SweepSelection,
    pub estimates: Vec<CostEstimate>,
    /// The budget of each review.
    pub usd_max_each: f64,
}

impl SweepPlan {
    pub(crate) fn to_document(&self) -> Value {
        let SweepSelection { chosen, passed_over, unreadable, left, counts } = &self.selection;
        let planned = chosen.iter().map(|ChosenFile { document, modified }| {
            let artifact = document.artifact();
            json!({
                "path": artifact.path,
                "artifact_type": artifact.artifact_type,
                "tier": artifact.tier,
                "modified": modified,
                "sha256": artifact.sha256,
            })
        });
        let unreadable = unreadable
            .iter()
            .map(|(path, error)| json!({ "path": path, "message": error.full_message() }));
        json!({
            "status": "planned",
            "since": self.since,
            "max": self.max,
            "would_review": planned.collect::<Vec<_>>(),
            "left": left,
            "unreadable": unreadable.collect::<Vec<_>>(),
            "passed_over": passed_over,
            "counts": counts,
            "estimate": {
                "calls": self.call_count(),
                "tokens_max": self.tokens_max(),
                "usd_max": self.usd_max(),
            },
            "usd_max_each": self.usd_max_each,
        })
    }

    fn call_count(&self) -> usize {
        self.estimates.iter().map(|one| one.calls).sum()
    }

    fn tokens_max(&self) -> u64 {
        self.estimates.iter().map(|one| one.tokens_max).sum()
    }

    /// `None` if a price is unknown.
    fn usd_max(&self) -> Option<f64> {
        self.estimates.iter().map(|one| one.usd_max).sum()
    }

    pub(crate) fn plan_text(&self, width: usize) -> String {
        let SweepSelection { chosen, passed_over, unreadable, left, counts } = &self.selection;
        let mut text = String::new();
        if !chosen.is_empty() {
            let mut table = TextTable::new(&["CHANGED", "TIER", "TYPE", "WOULD REVIEW"]);
            for ChosenFile { document, modified } in chosen {
                let artifact = document.artifact();
                let tier = match document {
                    ChosenDocument::Artifact(artifact) => artifact.tier.tier_number().to_string(),
                    ChosenDocument::Unclassified(_) => "by classifier".to_owned(),
                };
                let changed = modified.map_or("unknown".to_owned(), Moment::format_minute);
                table.add_row([changed.as_str(), &tier, &artifact.artifact_type, &artifact.path]);
            }
            text = table.draw_table(width) + "\n";
        }
        let reported = passed_over.iter().filter(|one| one.code != PassOverReason::Unchanged);
        for PassedOverFile { path, reason, .. } in reported {
            text += &format!("not reviewed: {} ({})\n", safe_line(path), safe_line(reason));
        }
        for path in left {
            text += &format!("left for the next sweep: {}\n", safe_line(path));
        }
        for (_, error) in unreadable {
            text += &format!("{}\n", safe_line(&error.full_message()));
        }
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        let looked_at = describe_counts(*counts, &tally_reasons(passed_over), self.since);
        text + &wrap_paragraph(&format!("{looked_at}. {}", self.estimate_text()), width)
    }

    fn estimate_text(&self) -> String {
        let calls = self.call_count();
        if calls == 0 {
            return "There is nothing to review.".to_owned();
        }
        let documents = count_noun(self.selection.chosen.len(), "document");
        let tokens = group_digits(self.tokens_max());
        let cost = self.usd_max().map_or("an unknown cost".to_owned(), |usd| format!("${usd:.2}"));
        let cap = self.usd_max_each;
        format!(
            "No model was called. {documents} would take {calls} calls, at most {tokens} tokens and {cost} without retries; each may spend ${cap:.2}."
        )
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct SweepSummary {
    status: &'static str,
    since: Moment,
    max: usize,
    reviewed: usize,
    pub verdicts: VerdictCounts,
    passed_over: BTreeMap<PassOverReason, usize>,
    unreadable: usize,
    left: Vec<String>,
    /// Excluded paths that a rule matches or may match, so that the author of the rule notices.
    left_out: Vec<String>,
    counts: SweepCounts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct VerdictCounts {
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
    pub(crate) fn count_verdict(&mut self, decided: Option<ReviewVerdict>) {
        match decided {
            Some(ReviewVerdict::Ship) => self.ship += 1,
            Some(ReviewVerdict::Revise) => self.revise += 1,
            Some(ReviewVerdict::Hold) => self.hold += 1,
            Some(ReviewVerdict::Incomplete | ReviewVerdict::Skipped) | None => self.undecided += 1,
        }
    }
}

impl SweepSummary {
    /// The summary before the reviews.
    pub(crate) fn before_reviews(selection: &SweepSelection, since: Moment, max: usize) -> Self {
        let left_out = selection.passed_over.iter();
        let left_out = left_out.filter(|one| one.code == PassOverReason::LeftOut);
        Self {
            status: "swept",
            since,
            max,
            reviewed: selection.chosen.len(),
            verdicts: VerdictCounts::default(),
            passed_over: tally_reasons(&selection.passed_over),
            unreadable: selection.unreadable.len(),
            left: selection.left.clone(),
            left_out: left_out.map(|one| one.path.clone()).collect(),
            counts: selection.counts,
        }
    }

    /// Counts a document that the classifier decided not to review.
    pub(crate) fn count_classified(&mut self, code: PassOverReason) {
        self.reviewed -= 1;
        *self.passed_over.entry(code).or_default() += 1;
    }

    /// For example `Reviewed 3 (2 SHIP, 1 HOLD), 1 could not be reviewed. …`.
    pub(crate) fn summary_text(&self, width: usize) -> String {
        let VerdictCounts { ship, revise, hold, undecided } = self.verdicts;
        let verdicts =
            [(ship, "SHIP"), (revise, "REVISE"), (hold, "HOLD"), (undecided, "undecided")];
        let mut result = match self.reviewed {
            0 => "Nothing to review".to_owned(),
            count => format!("Reviewed {count} ({})", join_counts(&verdicts)),
        };
        if self.unreadable > 0 {
            result += &format!(", {} could not be reviewed", self.unreadable);
        }
        if !self.left.is_empty() {
            let (left, max) = (self.left.len(), self.max);
            result += &format!(", {left} left for the next sweep (`--max {max}`)");
        }
        // Separate the summary from the page above it.
        let gap = if self.reviewed > 0 { "\n" } else { "" };
        let looked_at = describe_counts(self.counts, &self.passed_over, self.since);
        let mut text =
            format!("{gap}{}", wrap_paragraph(&format!("{result}. {looked_at}."), width));
        if !self.left_out.is_empty() {
            let paths: Vec<String> = self.left_out.iter().map(|path| safe_line(path)).collect();
            text += &wrap_paragraph(&format!("Left out: {}.", paths.join(", ")), width);
        }
        text
    }
}

fn tally_reasons(passed_over: &[PassedOverFile]) -> BTreeMap<PassOverReason, usize> {
    let mut tally = BTreeMap::new();
    for one in passed_over {
        *tally.entry(one.code).or_default() += 1;
    }
    tally
}

/// For example `Looked at 12 files: 8 that no rule matches, 1 decided before`.
fn describe_counts(
    counts: SweepCounts,
    passed_over: &BTreeMap<PassOverReason, usize>,
    since: Moment,
) -> String {
    let of = |code: PassOverReason| passed_over.get(&code).copied().unwrap_or(0);
    let unchanged = format!("unchanged since {}", since.format_minute());
    let parts = [
        (counts.no_rule, "that no rule matches"),
        (counts.tier_2, "of tier 2"),
        (of(PassOverReason::Unchanged), unchanged.as_str()),
        (of(PassOverReason::NotDrawn), "of tier 3 that were not drawn"),
        (of(PassOverReason::Decided), "decided before"),
        (of(PassOverReason::Duplicate), "with the same content as another"),
        (of(PassOverReason::LeftOut), "left out"),
        (of(PassOverReason::Classified), "of tier 2 by the classifier"),
    ];
    let looked_at = count_noun(counts.looked_at, "file");
    match join_counts(&parts) {
        parts if parts.is_empty() => format!("Looked at {looked_at}"),
        parts => format!("Looked at {looked_at}: {parts}"),
    }
}

/// Lists the counts that are not zero.
fn join_counts(parts: &[(usize, &str)]) -> String {
    let there = parts.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

fn wrap_paragraph(text: &str, width: usize) -> String {
    wrap_line(text, width).join("\n") + "\n"
}
