//! Next steps on a review page.

use crate::export::gate::{ReviewDocument, ReviewVerdict};
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, hang_text};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{FAINT, GOOD};

pub(super) fn draw_next_steps(told: &ReviewDocument, canvas: PageCanvas) -> Vec<StyledLine> {
    let verdict = told.verdict_id.as_ref();
    let decide = verdict.map(|id| format!("plenary override {id} --as SHIP --why \"…\""));
    let go_on = told.error.as_ref().map(|error| error.suggestion.as_str());
    let steps: Vec<(&str, Option<String>)> = match told.verdict {
        ReviewVerdict::Ship | ReviewVerdict::Skipped => Vec::new(),
        ReviewVerdict::Revise | ReviewVerdict::Hold => {
            vec![
                (change_advice(told), None),
                ("A person may decide otherwise, and says why:", decide),
            ]
        }
        ReviewVerdict::Incomplete => go_on.map(|go_on| (go_on, None)).into_iter().collect(),
    };
    if steps.is_empty() {
        return Vec::new();
    }
    let mut lines = draw_heading("NEXT", "", canvas);
    for (what, command) in steps {
        let lead = StyledLine::with_indent(MARGIN).push_styled("· ", FAINT);
        lines.extend(hang_text(lead, what, canvas.text_width()));
        let line =
            |command: String| StyledLine::with_indent(MARGIN * 2).push_styled(&command, GOOD);
        lines.extend(command.map(line));
    }
    lines
}

/// Advice to the author of the artifact.
fn change_advice(told: &ReviewDocument) -> &'static str {
    let sum = told.policy.as_ref().map(|counted| &counted.arithmetic);
    match sum.is_some_and(|sum| sum.blocks > 0 && sum.irreducible_blocks == sum.blocks) {
        true => "No revision would lift the blocks: write another, or let it be.",
        false => "Change it by the brief, and review it again.",
    }
}
