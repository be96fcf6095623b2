//! The result of the search and selection of a sweep, and the text that describes it.

use std::collections::BTreeMap;

use super::candidates::Counts;
use super::selection::{PassedOver, PassedOverBecause, Selection};
use crate::domain::time::Moment;
use crate::export::wording;
use crate::surfaces::cli::wrap::wrap_line;

#[derive(Debug)]
pub(super) struct Swept {
    pub since: Moment,
    pub max: usize,
    pub counts: Counts,
    pub selection: Selection,
}

/// Number of files passed over, by reason.
pub(super) type Tally = BTreeMap<PassedOverBecause, usize>;

pub(super) fn tally(passed_over: &[PassedOver]) -> Tally {
    let mut tally = Tally::new();
    for one in passed_over {
        *tally.entry(one.code).or_default() += 1;
    }
    tally
}

/// For example `Looked at 12 files: 8 that no rule fits, 1 decided before`.
pub(super) fn looked_at(counts: Counts, passed_over: &Tally, since: Moment) -> String {
    let of = |code: PassedOverBecause| passed_over.get(&code).copied().unwrap_or(0);
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

/// Lists the counts that are not zero.
pub(super) fn listed(parts: &[(usize, &str)]) -> String {
    let there = parts.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// Wraps a paragraph to the page width.
pub(super) fn paragraph(text: &str, width: usize) -> String {
    wrap_line(text, width).join("\n") + "\n"
}
