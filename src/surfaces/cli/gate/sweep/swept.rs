//! The result of the search and selection of a sweep, and the text that describes it.

use std::collections::BTreeMap;

use super::candidates::SweepCounts;
use super::selection::{PassOverReason, PassedOverFile, SweepSelection};
use crate::domain::time::Moment;
use crate::export::wording;
use crate::surfaces::cli::wrap::wrap_line;

#[derive(Debug)]
pub(super) struct SweepResult {
    pub since: Moment,
    pub max: usize,
    pub counts: SweepCounts,
    pub selection: SweepSelection,
}

/// Number of files passed over, by reason.
pub(super) type PassOverTally = BTreeMap<PassOverReason, usize>;

pub(super) fn tally_reasons(passed_over: &[PassedOverFile]) -> PassOverTally {
    let mut tally = PassOverTally::new();
    for one in passed_over {
        *tally.entry(one.code).or_default() += 1;
    }
    tally
}

/// For example `Looked at 12 files: 8 that no rule fits, 1 decided before`.
pub(super) fn describe_counts(
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
    let looked_at = wording::count_noun(counts.looked_at, "file");
    match join_counts(&parts) {
        parts if parts.is_empty() => format!("Looked at {looked_at}"),
        parts => format!("Looked at {looked_at}: {parts}"),
    }
}

/// Lists the counts that are not zero.
pub(super) fn join_counts(parts: &[(usize, &str)]) -> String {
    let there = parts.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// Wraps a paragraph to the page width.
pub(super) fn wrap_paragraph(text: &str, width: usize) -> String {
    wrap_line(text, width).join("\n") + "\n"
}
