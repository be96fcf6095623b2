//! One review, or a skipped file, as a line; printed when several files are reviewed.

use crate::export::gate::ReviewDocument;
use crate::export::gate::words::count_blocks;
use crate::export::safe_text;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{self, FAINT, PLAIN};
use crate::surfaces::cli::wrap::wrap_line;

/// Width of `INCOMPLETE` and a gap.
const VERDICT: usize = 12;

/// Draws a review or a skipped file as one line; a skip reason goes below.
pub(crate) fn draw_review_line(told: &ReviewDocument, canvas: PageCanvas) -> String {
    let (mark, style) = palette::review_mark(told.verdict);
    let lead = StyledLine::blank()
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(told.verdict.name(), style)
        .pad_to_column(VERDICT)
        .push_plain(" ");
    // The path has priority: the note is cut first. A skip reason is always printed in full.
    let path = lead.push_fitted(&told.artifact, PLAIN, canvas.column_count() - 2);
    match &told.skipped_because {
        Some(because) => {
            let room = canvas.text_width().saturating_sub(VERDICT + 1);
            let lines = wrap_line(&safe_text::safe_line(because), room);
            let indented = lines.iter().map(|line| format!("\n{:VERDICT$} {line}", ""));
            path.to_string() + &indented.collect::<String>()
        }
        None => path
            .push_plain("  ")
            .push_fitted(&line_note(told), FAINT, canvas.column_count())
            .to_string(),
    }
}

fn line_note(told: &ReviewDocument) -> String {
    let mut words = Vec::new();
    words.extend(told.rehearsal.then(|| "REHEARSAL".to_owned()));
    words.extend(told.panel.degraded.then(|| "DEGRADED".to_owned()));
    words.extend(told.policy.as_ref().map(|counted| count_blocks(counted.arithmetic.blocks)));
    words.extend(told.error.as_ref().map(|error| error.message.clone()));
    words.extend(told.verdict_id.clone());
    words.join(" · ")
}
