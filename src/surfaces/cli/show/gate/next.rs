//! Next steps on a review page.

use crate::export::gate::{ReviewDocument, ReviewVerdict};
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, beside, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{FAINT, GOOD};

pub(super) fn draw(told: &ReviewDocument, canvas: Canvas) -> Vec<Line> {
    let verdict = told.verdict_id.as_ref();
    let decide = verdict.map(|id| format!("plenary override {id} --as SHIP --why \"…\""));
    let go_on = told.error.as_ref().map(|error| error.suggestion.as_str());
    let steps: Vec<(&str, Option<String>)> = match told.verdict {
        ReviewVerdict::Ship | ReviewVerdict::Skipped => Vec::new(),
        ReviewVerdict::Revise | ReviewVerdict::Hold => {
            vec![(change(told), None), ("A person may decide otherwise, and says why:", decide)]
        }
        ReviewVerdict::Incomplete => go_on.map(|go_on| (go_on, None)).into_iter().collect(),
    };
    if steps.is_empty() {
        return Vec::new();
    }
    let mut lines = heading("NEXT", "", canvas);
    for (what, command) in steps {
        let lead = Line::indented(MARGIN).styled("· ", FAINT);
        lines.extend(beside(lead, what, canvas.measure()));
        let line = |command: String| Line::indented(MARGIN * 2).styled(&command, GOOD);
        lines.extend(command.map(line));
    }
    lines
}

/// Advice to the author of the artifact.
fn change(told: &ReviewDocument) -> &'static str {
    let sum = told.policy.as_ref().map(|counted| &counted.arithmetic);
    match sum.is_some_and(|sum| sum.blocks > 0 && sum.irreducible_blocks == sum.blocks) {
        true => "No revision would lift the blocks: write another, or let it be.",
        false => "Change it by the brief, and review it again.",
    }
}
