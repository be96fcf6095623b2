//! The `log tail` page: time, verdict, type, artifact and id of the last reviews.

use unicode_width::UnicodeWidthStr;

use super::canvas::Canvas;
use super::layout::text_of;
use super::line::Line;
use super::palette::{CAUTION, FAINT, ID, PLAIN, STRONG, of_gate};
use crate::domain::gate::GateVerdict;
use crate::export::safe_text;
use crate::operations::TailRow;

/// `2026-05-18 10:00`.
const WHEN_COLUMNS: usize = 16;
const GUTTER: usize = 2;
/// `● INCOMPLETE`.
const VERDICT_COLUMNS: usize = 12;
/// A longer type is cut, to leave more space for the path.
const TYPE_COLUMNS_MAX: usize = 18;

const VERDICT_AT: usize = WHEN_COLUMNS + GUTTER;
const TYPE_AT: usize = VERDICT_AT + VERDICT_COLUMNS + GUTTER;

pub(in crate::surfaces::cli) fn draw(rows: &[TailRow], canvas: Canvas) -> String {
    let widest = rows.iter().map(|row| safe_text::line(&row.row.artifact_type).width()).max();
    let room = widest.unwrap_or(0).clamp("TYPE".len(), TYPE_COLUMNS_MAX);
    let artifact_at = TYPE_AT + room + GUTTER;
    let heading =
        Line::blank().styled("WHEN (UTC)", STRONG).pad_to(VERDICT_AT).styled("VERDICT", STRONG);
    let heading = heading.pad_to(TYPE_AT).styled("TYPE", STRONG);
    let mut lines = vec![heading.pad_to(artifact_at).styled("ARTIFACT", STRONG)];
    for row in rows {
        lines.extend(drawn(row, artifact_at, canvas));
    }
    text_of(&[lines])
}

fn drawn(tail: &TailRow, artifact_at: usize, canvas: Canvas) -> Vec<Line> {
    let row = &tail.row;
    let (mark, style) = of_gate(row.adjudicator.final_verdict.into());
    let first = Line::blank()
        .plain(&row.ts.minute())
        .pad_to(VERDICT_AT)
        .styled(&format!("{mark} {}", row.adjudicator.final_verdict), style)
        .pad_to(TYPE_AT)
        .fitted(&row.artifact_type, PLAIN, artifact_at - GUTTER)
        .pad_to(artifact_at)
        .fitted(&row.artifact, PLAIN, canvas.columns());
    // The reader copies the id, so it is never wrapped.
    let id = row.verdict_id.as_deref().unwrap_or_default();
    let mut second = Line::indented(VERDICT_AT).styled(id, ID);
    for (is_so, word) in [(row.rehearsal, "rehearsal"), (row.imported, "imported")] {
        if is_so {
            second = second.styled(&format!("  {word}"), CAUTION);
        }
    }
    let mut lines = vec![first, second];
    if let Some(word) = &tail.overridden {
        let (mark, style) = of_gate(GateVerdict::from(word.decision).into());
        let lead = Line::indented(VERDICT_AT).styled(&format!("{mark} {}", word.decision), style);
        let lead = lead.styled(" by a person: ", FAINT);
        lines.push(lead.fitted(&word.why, FAINT, canvas.columns()));
    }
    lines
}
