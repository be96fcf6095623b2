//! The document and text of `sweep --dry-run`: [`SweepPlan`].

use serde::Serialize;

use super::candidates::SweepCounts;
use super::selection::{ChosenFile, PassOverReason, PassedOverFile, SweepSelection};
use super::swept::{SweepResult, describe_counts, tally_reasons, wrap_paragraph};
use crate::convening::CostEstimate;
use crate::domain::gate::ReviewTier;
use crate::domain::time::Moment;
use crate::export::{safe_text, wording};
use crate::surfaces::cli::table::TextTable;

#[derive(Debug, Serialize)]
pub(super) struct SweepPlan {
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
    pub(super) fn new(swept: SweepResult, estimates: &[CostEstimate], usd_max_each: f64) -> Self {
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

    pub(super) fn plan_text(&self, width: usize) -> String {
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
            text += &format!("{}\n", safe_text::safe_line(&unread.message));
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
        let documents = wording::count_noun(self.would_review.len(), "document");
        let tokens = wording::group_digits(tokens_max);
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
    let why = why.map_or(String::new(), |why| format!(" ({})", safe_text::safe_line(why)));
    format!("{what}: {}{why}\n", safe_text::safe_line(path))
}
