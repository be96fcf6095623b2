//! One review, or a skipped file, as a line; printed when several files are reviewed.

use crate::export::gate::ReviewDocument;
use crate::export::gate::words::blocks;
use crate::export::safe_text;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{self, FAINT, PLAIN};
use crate::surfaces::cli::wrap::wrap_line;

/// Width of `INCOMPLETE` and a gap.
const VERDICT: usize = 12;

/// Draws a review or a skipped file as one line; a skip reason goes below.
pub(crate) fn draw_line(told: &ReviewDocument, canvas: Canvas) -> String {
    let (mark, style) = palette::of_gate(told.verdict);
    let lead = Line::blank()
        .styled(mark, style)
        .plain(" ")
        .styled(told.verdict.name(), style)
        .pad_to(VERDICT)
        .plain(" ");
    // The path has priority: the note is cut first. A skip reason is always printed in full.
    let path = lead.fitted(&told.artifact, PLAIN, canvas.columns() - 2);
    match &told.skipped_because {
        Some(because) => {
            let room = canvas.measure().saturating_sub(VERDICT + 1);
            let lines = wrap_line(&safe_text::line(because), room);
            let indented = lines.iter().map(|line| format!("\n{:VERDICT$} {line}", ""));
            path.to_string() + &indented.collect::<String>()
        }
        None => path.plain("  ").fitted(&said(told), FAINT, canvas.columns()).to_string(),
    }
}

fn said(told: &ReviewDocument) -> String {
    let mut words = Vec::new();
    words.extend(told.rehearsal.then(|| "REHEARSAL".to_owned()));
    words.extend(told.panel.degraded.then(|| "DEGRADED".to_owned()));
    words.extend(told.policy.as_ref().map(|counted| blocks(counted.arithmetic.blocks)));
    words.extend(told.error.as_ref().map(|error| error.message.clone()));
    words.extend(told.verdict_id.clone());
    words.join(" · ")
}
