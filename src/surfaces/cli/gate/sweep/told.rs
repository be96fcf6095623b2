//! What a sweep would do, and what it did.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::super::table::Table;
use super::super::super::wrap::wrap_line;
use super::candidates::Counts;
use super::selection::{Chosen, PassedOver, PassedOverBecause, Selection};
use crate::convening::Estimate;
use crate::domain::gate::{GateVerdict, Tier};
use crate::domain::time::Moment;
use crate::export::{safe_text, wording};

/// What was found, before anything is judged.
#[derive(Debug)]
pub(super) struct Swept {
    pub since: Moment,
    pub max: usize,
    pub counts: Counts,
    pub selection: Selection,
}

/// What would be done.
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
    /// What `budget` lets each review spend.
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

/// Of all reviews together.
#[derive(Debug, Serialize)]
struct Worst {
    calls: usize,
    tokens_max: u64,
    /// Nothing, when a price is not known.
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
        let looked_at = looked_at(self.counts, &self.passed_over, self.since);
        text + &set(&format!("{looked_at}. {}", self.worst()), width)
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

/// What was done.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    status: &'static str,
    since: Moment,
    max: usize,
    reviewed: usize,
    verdicts: Verdicts,
    passed_over: BTreeMap<PassedOverBecause, usize>,
    unreadable: usize,
    left: Vec<String>,
    counts: Counts,
    #[serde(skip)]
    looked_at: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Verdicts {
    #[serde(rename = "SHIP")]
    ship: usize,
    #[serde(rename = "REVISE")]
    revise: usize,
    #[serde(rename = "HOLD")]
    hold: usize,
    /// INCOMPLETE, or not reached.
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
    /// The summary of a sweep that is about to judge; the verdicts come later.
    pub(super) fn of(swept: &Swept) -> Self {
        let selection = &swept.selection;
        let mut passed_over = BTreeMap::new();
        for one in &selection.passed_over {
            *passed_over.entry(one.code).or_default() += 1;
        }
        Self {
            status: "swept",
            since: swept.since,
            max: swept.max,
            reviewed: selection.chosen.len(),
            verdicts: Verdicts::default(),
            passed_over,
            unreadable: selection.unreadable.len(),
            left: selection.left.clone(),
            counts: swept.counts,
            looked_at: looked_at(swept.counts, &selection.passed_over, swept.since),
        }
    }

    pub(super) fn with(self, verdicts: Verdicts) -> Self {
        Self { verdicts, ..self }
    }

    /// `Judged 3 (2 SHIP, 1 HOLD), 1 could not be read; …`
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
        // The last page ends right above it.
        let gap = if self.reviewed > 0 { "\n" } else { "" };
        format!("{gap}{}", set(&format!("{said}. {}.", self.looked_at), width))
    }
}

/// `Looked at 12 files: 8 that no rule fits, 3 unchanged since 2026-02-01 09:30, 1 decided before`
fn looked_at(counts: Counts, passed_over: &[PassedOver], since: Moment) -> String {
    let of = |code: PassedOverBecause| passed_over.iter().filter(|one| one.code == code).count();
    let unchanged = format!("unchanged since {}", since.minute());
    let parts = [
        (counts.no_rule, "that no rule fits"),
        (counts.tier_2, "of tier 2"),
        (of(PassedOverBecause::Unchanged), unchanged.as_str()),
        (of(PassedOverBecause::NotDrawn), "of tier 3 that were not drawn"),
        (of(PassedOverBecause::Decided), "decided before"),
        (of(PassedOverBecause::Duplicate), "of the same content as another"),
        (of(PassedOverBecause::LeftOut), "left out"),
    ];
    let looked_at = wording::count(counts.looked_at, "file");
    match listed(&parts) {
        parts if parts.is_empty() => format!("Looked at {looked_at}"),
        parts => format!("Looked at {looked_at}: {parts}"),
    }
}

/// Those that there are, with their numbers.
fn listed(parts: &[(usize, &str)]) -> String {
    let there = parts.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

fn set(text: &str, width: usize) -> String {
    wrap_line(text, width).join("\n") + "\n"
}

fn line(what: &str, path: &str, why: Option<&str>) -> String {
    let why = why.map_or(String::new(), |why| format!(" ({})", safe_text::line(why)));
    format!("{what}: {}{why}\n", safe_text::line(path))
}
