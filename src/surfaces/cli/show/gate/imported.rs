//! Verdicts imported from another log, one line each.

use crate::domain::gate::{GateVerdict, LogRow};
use crate::surfaces::cli::show::canvas::{Canvas, Detail};
use crate::surfaces::cli::show::layout::{MARGIN, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{self, FAINT, PLAIN};

/// One or two screens; `show --full` prints all.
const ROWS_MAX: usize = 40;

/// Width of `INCOMPLETE` and a gap.
const VERDICT: usize = 11;

pub(in crate::surfaces::cli::show) fn draw(rows: &[LogRow], canvas: Canvas) -> Vec<Line> {
    let mut lines = heading("IMPORTED VERDICTS", &counts(rows), canvas);
    let shown = match canvas.detail {
        Detail::Brief => rows.len().min(ROWS_MAX),
        Detail::Full => rows.len(),
    };
    lines.extend(rows.iter().take(shown).map(|row| line(row, canvas)));
    if let Some(more) = rows.len().checked_sub(shown).filter(|more| *more > 0) {
        let told = format!("and {more} more; `--full` shows them");
        lines.push(Line::indented(MARGIN).styled(&told, FAINT));
    }
    lines
}

/// For example `3 SHIP · 1 HOLD`.
fn counts(rows: &[LogRow]) -> String {
    let count = |verdict: GateVerdict| {
        let count = rows.iter().filter(|row| row.adjudicator.final_verdict == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    };
    GateVerdict::ALL.iter().filter_map(|verdict| count(*verdict)).collect::<Vec<_>>().join(" · ")
}

fn line(row: &LogRow, canvas: Canvas) -> Line {
    let verdict = row.adjudicator.final_verdict;
    let (mark, style) = palette::of_gate(verdict.into());
    let day = format!("{}  ", row.ts.day());
    let rehearsal = if row.rehearsal { "REHEARSAL  " } else { "" };
    let told = format!("{rehearsal}{}  {}", row.artifact, row.artifact_type);
    Line::indented(MARGIN)
        .styled(mark, style)
        .plain(" ")
        .styled(&format!("{:<VERDICT$}", verdict.name()), style)
        .styled(&day, FAINT)
        .fitted(&told, PLAIN, canvas.columns())
}
