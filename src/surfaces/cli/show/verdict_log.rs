//! The `log tail` page: time, verdict, type, artifact and id of the last reviews.

use unicode_width::UnicodeWidthStr;

use super::canvas::PageCanvas;
use super::layout::join_sections;
use super::line::StyledLine;
use super::palette::{CAUTION, FAINT, ID, PLAIN, STRONG, review_mark};
use crate::domain::gate::FinalVerdict;
use crate::export::safe_text;
use crate::operations::TailRow;

/// `2026-05-18 10:00`.
const WHEN_COLUMNS: usize = 16;
const LOG_GUTTER: usize = 2;
/// `● INCOMPLETE`.
const VERDICT_COLUMNS: usize = 12;
/// A longer type is cut, to leave more space for the path.
const TYPE_COLUMNS_MAX: usize = 18;

const VERDICT_AT: usize = WHEN_COLUMNS + LOG_GUTTER;
const TYPE_AT: usize = VERDICT_AT + VERDICT_COLUMNS + LOG_GUTTER;

pub(in crate::surfaces::cli) fn draw_verdict_log(rows: &[TailRow], canvas: PageCanvas) -> String {
    let widest = rows.iter().map(|row| safe_text::safe_line(&row.row.artifact_type).width()).max();
    let room = widest.unwrap_or(0).clamp("TYPE".len(), TYPE_COLUMNS_MAX);
    let artifact_at = TYPE_AT + room + LOG_GUTTER;
    let heading = StyledLine::blank()
        .push_styled("WHEN (UTC)", STRONG)
        .pad_to_column(VERDICT_AT)
        .push_styled("VERDICT", STRONG);
    let heading = heading.pad_to_column(TYPE_AT).push_styled("TYPE", STRONG);
    let mut lines = vec![heading.pad_to_column(artifact_at).push_styled("ARTIFACT", STRONG)];
    for row in rows {
        lines.extend(draw_log_row(row, artifact_at, canvas));
    }
    join_sections(&[lines])
}

fn draw_log_row(tail: &TailRow, artifact_at: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let row = &tail.row;
    let (mark, style) = review_mark(row.adjudicator.final_verdict.into());
    let first = StyledLine::blank()
        .push_plain(&row.ts.format_minute())
        .pad_to_column(VERDICT_AT)
        .push_styled(&format!("{mark} {}", row.adjudicator.final_verdict), style)
        .pad_to_column(TYPE_AT)
        .push_fitted(&row.artifact_type, PLAIN, artifact_at - LOG_GUTTER)
        .pad_to_column(artifact_at)
        .push_fitted(&row.artifact, PLAIN, canvas.column_count());
    // The reader copies the id, so it is never wrapped.
    let id = row.verdict_id.as_deref().unwrap_or_default();
    let mut second = StyledLine::with_indent(VERDICT_AT).push_styled(id, ID);
    for (is_so, word) in [(row.rehearsal, "rehearsal"), (row.imported, "imported")] {
        if is_so {
            second = second.push_styled(&format!("  {word}"), CAUTION);
        }
    }
    let mut lines = vec![first, second];
    if let Some(word) = &tail.overridden {
        let (mark, style) = review_mark(FinalVerdict::from(word.decision).into());
        let lead = StyledLine::with_indent(VERDICT_AT)
            .push_styled(&format!("{mark} {}", word.decision), style);
        let lead = lead.push_styled(" by a person: ", FAINT);
        lines.push(lead.push_fitted(&word.why, FAINT, canvas.column_count()));
    }
    lines
}
