//! The document and text of `sweep --dry-run`: [`SweepPlan`].

use serde::Serialize;

use super::candidates::Counts;
use super::selection::{Chosen, PassedOver, PassedOverBecause, Selection};
use super::swept::{Swept, looked_at, paragraph, tally};
use crate::convening::Estimate;
use crate::domain::gate::Tier;
use crate::domain::time::Moment;
use crate::export::{safe_text, wording};
use crate::surfaces::cli::table::Table;

#[derive(Debug, Serialize)]
pub(super) struct Planned {
    status: &'static str,
    since: Moment,
    max: usize,
    would_review: Vec<ToReview>,
    left: Vec<String>,
    unreadable: Vec<Unreadable>,
    passed_over: Vec<PassedOver>,
    counts: Counts,
    estimate: Worst,
    /// The budget of each review.
    usd_max_each: f64,
}

#[derive(Debug, Serialize)]
struct ToReview {
    path: String,
    artifact_type: String,
    tier: Tier,
    modified: Option<Moment>,
    sha256: String,
}

#[derive(Debug, Serialize)]
struct Unreadable {
    path: String,
    message: String,
}

/// Upper bound of calls, tokens and cost for all reviews together.
#[derive(Debug, Serialize)]
struct Worst {
    calls: usize,
    tokens_max: u64,
    /// `None` if a price is unknown.
    usd_max: Option<f64>,
}

impl Planned {
    pub(super) fn new(swept: Swept, estimates: &[Estimate], usd_max_each: f64) -> Self {
        let Swept { since, max, counts, selection } = swept;
        let Selection { chosen, passed_over, unreadable, left } = selection;
        Self {
            status: "planned",
            since,
            max,
            would_review: chosen.into_iter().map(ToReview::of).collect(),
            left,
            unreadable: unreadable
                .into_iter()
                .map(|(path, error)| Unreadable { path, message: error.sentence() })
                .collect(),
            passed_over,
            counts,
            estimate: Worst {
                calls: estimates.iter().map(|one| one.calls).sum(),
                tokens_max: estimates.iter().map(|one| one.tokens_max).sum(),
                usd_max: estimates.iter().map(|one| one.usd_max).sum(),
            },
            usd_max_each,
        }
    }

    pub(super) fn text(&self, width: usize) -> String {
        let mut text = String::new();
        if !self.would_review.is_empty() {
            let mut table = Table::new(&["CHANGED", "TIER", "TYPE", "WOULD BE JUDGED"]);
            for one in &self.would_review {
                let tier = one.tier.number().to_string();
                let changed = one.modified.map_or("unknown".to_owned(), Moment::minute);
                table.row([changed.as_str(), &tier, &one.artifact_type, &one.path]);
            }
            text = table.draw(width) + "\n";
        }
        let told = self.passed_over.iter().filter(|one| one.code != PassedOverBecause::Unchanged);
        for PassedOver { path, reason, .. } in told {
            text += &line("not judged", path, Some(reason));
        }
        for path in &self.left {
            text += &line("left for the next sweep", path, None);
        }
        for unread in &self.unreadable {
            text += &format!("{}\n", safe_text::line(&unread.message));
        }
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        let looked_at = looked_at(self.counts, &tally(&self.passed_over), self.since);
        text + &paragraph(&format!("{looked_at}. {}", self.worst()), width)
    }

    fn worst(&self) -> String {
        let Worst { calls, tokens_max, usd_max } = self.estimate;
        if calls == 0 {
            return "There is nothing to judge.".to_owned();
        }
        let documents = wording::count(self.would_review.len(), "document");
        let tokens = wording::grouped(tokens_max);
        let cost = usd_max.map_or("an unknown cost".to_owned(), |usd| format!("${usd:.2}"));
        let cap = self.usd_max_each;
        format!(
            "Nobody was asked. {documents} would take {calls} calls, at the worst {tokens} tokens and {cost}, retries apart; each may spend ${cap:.2}."
        )
    }
}

impl ToReview {
    fn of(chosen: Chosen) -> Self {
        let Chosen { artifact, modified } = chosen;
        Self {
            path: artifact.path,
            artifact_type: artifact.artifact_type,
            tier: artifact.tier,
            modified,
            sha256: artifact.sha256,
        }
    }
}

fn line(what: &str, path: &str, why: Option<&str>) -> String {
    let why = why.map_or(String::new(), |why| format!(" ({})", safe_text::line(why)));
    format!("{what}: {}{why}\n", safe_text::line(path))
}
