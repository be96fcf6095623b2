//! The document and text of `sweep --dry-run`: [`SweepPlan`].

use std::collections::BTreeMap;

use plenary_core::model::time::Moment;
use plenary_core::protocols::review::policy::ReviewVerdict;
use plenary_core::protocols::review::types::ReviewTier;
use plenary_core::report::phrases::{count_noun, group_digits};
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_core::report::terminal::wrap::wrap_line;
use plenary_engine::app::planning::estimate::CostEstimate;
use serde::Serialize;

use crate::cli::sweep_selection::{
    ChosenFile, PassOverReason, PassedOverFile, SweepCounts, SweepSelection,
};

#[derive(Debug, Serialize)]
pub(crate) struct SweepPlan {
    status: &'static str,
    since: Moment,
    max: usize,
    would_review: Vec<PlannedReview>,
    left: Vec<String>,
    unreadable: Vec<UnreadableFile>,
    passed_over: Vec<PassedOverFile>,
    counts: SweepCounts,
    estimate: SweepEstimate,
    /// The budget of each review.
    usd_max_each: f64,
}

#[derive(Debug, Serialize)]
struct PlannedReview {
    path: String,
    artifact_type: String,
    tier: ReviewTier,
    modified: Option<Moment>,
    sha256: String,
}

#[derive(Debug, Serialize)]
struct UnreadableFile {
    path: String,
    message: String,
}

/// Upper bound of calls, tokens and cost for all reviews together.
#[derive(Debug, Serialize)]
struct SweepEstimate {
    calls: usize,
    tokens_max: u64,
    /// `None` if a price is unknown.
    usd_max: Option<f64>,
}

impl SweepPlan {
    pub(crate) fn new(swept: SweepResult, estimates: &[CostEstimate], usd_max_each: f64) -> Self {
        let SweepResult { since, max, counts, selection } = swept;
        let SweepSelection { chosen, passed_over, unreadable, left } = selection;
        Self {
            status: "planned",
            since,
            max,
            would_review: chosen.into_iter().map(PlannedReview::from_choice).collect(),
            left,
            unreadable: unreadable
                .into_iter()
                .map(|(path, error)| UnreadableFile { path, message: error.full_message() })
                .collect(),
            passed_over,
            counts,
            estimate: SweepEstimate {
                calls: estimates.iter().map(|one| one.calls).sum(),
                tokens_max: estimates.iter().map(|one| one.tokens_max).sum(),
                usd_max: estimates.iter().map(|one| one.usd_max).sum(),
            },
            usd_max_each,
        }
    }

    pub(crate) fn plan_text(&self, width: usize) -> String {
        let mut text = String::new();
        if !self.would_review.is_empty() {
            let mut table = TextTable::new(&["CHANGED", "TIER", "TYPE", "WOULD BE JUDGED"]);
            for one in &self.would_review {
                let tier = one.tier.tier_number().to_string();
                let changed = one.modified.map_or("unknown".to_owned(), Moment::format_minute);
                table.add_row([changed.as_str(), &tier, &one.artifact_type, &one.path]);
            }
            text = table.draw_table(width) + "\n";
        }
        let told = self.passed_over.iter().filter(|one| one.code != PassOverReason::Unchanged);
        for PassedOverFile { path, reason, .. } in told {
            text += &file_line("not judged", path, Some(reason));
        }
        for path in &self.left {
            text += &file_line("left for the next sweep", path, None);
        }
        for unread in &self.unreadable {
            text += &format!("{}\n", safe_line(&unread.message));
        }
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        let looked_at = describe_counts(self.counts, &tally_reasons(&self.passed_over), self.since);
        text + &wrap_paragraph(&format!("{looked_at}. {}", self.estimate_text()), width)
    }

    fn estimate_text(&self) -> String {
        let SweepEstimate { calls, tokens_max, usd_max } = self.estimate;
        if calls == 0 {
            return "There is nothing to judge.".to_owned();
        }
        let documents = count_noun(self.would_review.len(), "document");
        let tokens = group_digits(tokens_max);
        let cost = usd_max.map_or("an unknown cost".to_owned(), |usd| format!("${usd:.2}"));
        let cap = self.usd_max_each;
        format!(
            "Nobody was asked. {documents} would take {calls} calls, at the worst {tokens} tokens and {cost}, retries apart; each may spend ${cap:.2}."
        )
    }
}

impl PlannedReview {
    fn from_choice(chosen: ChosenFile) -> Self {
        let ChosenFile { artifact, modified } = chosen;
        Self {
            path: artifact.path,
            artifact_type: artifact.artifact_type,
            tier: artifact.tier,
            modified,
            sha256: artifact.sha256,
        }
    }
}

fn file_line(what: &str, path: &str, why: Option<&str>) -> String {
    let why = why.map_or(String::new(), |why| format!(" ({})", safe_line(why)));
    format!("{what}: {}{why}\n", safe_line(path))
}

#[derive(Debug, Serialize)]
pub(crate) struct SweepSummary {
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
    /// The summary before the reviews; [`Self::with_verdicts`] adds their verdicts.
    pub(crate) fn before_reviews(swept: &SweepResult) -> Self {
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

    pub(crate) fn with_verdicts(self, verdicts: VerdictCounts) -> Self {
        Self { verdicts, ..self }
    }

    /// For example `Judged 3 (2 SHIP, 1 HOLD), 1 could not be judged. …`.
    pub(crate) fn summary_text(&self, width: usize) -> String {
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
            let paths: Vec<String> = self.left_out.iter().map(|path| safe_line(path)).collect();
            text += &wrap_paragraph(&format!("Left out: {}.", paths.join(", ")), width);
        }
        text
    }
}

fn left_out_paths(passed_over: &[PassedOverFile]) -> Vec<String> {
    let is_left_out = |one: &&PassedOverFile| one.code == PassOverReason::LeftOut;
    passed_over.iter().filter(is_left_out).map(|one| one.path.clone()).collect()
}

#[derive(Debug)]
pub(crate) struct SweepResult {
    pub since: Moment,
    pub max: usize,
    pub counts: SweepCounts,
    pub selection: SweepSelection,
}

/// Number of files passed over, by reason.
pub(crate) type PassOverTally = BTreeMap<PassOverReason, usize>;

pub(crate) fn tally_reasons(passed_over: &[PassedOverFile]) -> PassOverTally {
    let mut tally = PassOverTally::new();
    for one in passed_over {
        *tally.entry(one.code).or_default() += 1;
    }
    tally
}

/// For example `Looked at 12 files: 8 that no rule fits, 1 decided before`.
pub(crate) fn describe_counts(
    counts: SweepCounts,
    passed_over: &PassOverTally,
    since: Moment,
) -> String {
    let of = |code: PassOverReason| passed_over.get(&code).copied().unwrap_or(0);
    let unchanged = format!("unchanged since {}", since.format_minute());
    let parts = [
        (counts.no_rule, "that no rule fits"),
        (counts.tier_2, "of tier 2"),
        (of(PassOverReason::Unchanged), unchanged.as_str()),
        (of(PassOverReason::NotDrawn), "of tier 3 that were not drawn"),
        (of(PassOverReason::Decided), "decided before"),
        (of(PassOverReason::Duplicate), "of the same content as another"),
        (of(PassOverReason::LeftOut), "left out"),
    ];
    let looked_at = count_noun(counts.looked_at, "file");
    match join_counts(&parts) {
        parts if parts.is_empty() => format!("Looked at {looked_at}"),
        parts => format!("Looked at {looked_at}: {parts}"),
    }
}

/// Lists the counts that are not zero.
pub(crate) fn join_counts(parts: &[(usize, &str)]) -> String {
    let there = parts.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// Wraps a paragraph to the page width.
pub(crate) fn wrap_paragraph(text: &str, width: usize) -> String {
    wrap_line(text, width).join("\n") + "\n"
}
