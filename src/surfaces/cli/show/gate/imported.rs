//! Verdicts imported from another log, one line each.

use crate::domain::gate::{FinalVerdict, LogRow};
use crate::surfaces::cli::show::canvas::{PageCanvas, PageDetail};
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{self, FAINT, PLAIN};

/// One or two screens; `show --full` prints all.
const IMPORTED_ROWS_MAX: usize = 40;

/// Width of `INCOMPLETE` and a gap.
const VERDICT: usize = 11;

pub(in crate::surfaces::cli::show) fn draw_imported_rows(
    rows: &[LogRow],
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let mut lines = draw_heading("IMPORTED VERDICTS", &count_verdicts(rows), canvas);
    let shown = match canvas.detail {
        PageDetail::Brief => rows.len().min(IMPORTED_ROWS_MAX),
        PageDetail::Full => rows.len(),
    };
    lines.extend(rows.iter().take(shown).map(|row| draw_imported_row(row, canvas)));
    if let Some(more) = rows.len().checked_sub(shown).filter(|more| *more > 0) {
        let told = format!("and {more} more; `--full` shows them");
        lines.push(StyledLine::with_indent(MARGIN).push_styled(&told, FAINT));
    }
    lines
}

/// For example `3 SHIP · 1 HOLD`.
fn count_verdicts(rows: &[LogRow]) -> String {
    let count = |verdict: FinalVerdict| {
        let count = rows.iter().filter(|row| row.adjudicator.final_verdict == verdict).count();
        (count > 0).then(|| format!("{count} {verdict}"))
    };
    FinalVerdict::ALL.iter().filter_map(|verdict| count(*verdict)).collect::<Vec<_>>().join(" · ")
}

fn draw_imported_row(row: &LogRow, canvas: PageCanvas) -> StyledLine {
    let verdict = row.adjudicator.final_verdict;
    let (mark, style) = palette::review_mark(verdict.into());
    let day = format!("{}  ", row.ts.utc_day());
    let rehearsal = if row.rehearsal { "REHEARSAL  " } else { "" };
    let told = format!("{rehearsal}{}  {}", row.artifact, row.artifact_type);
    StyledLine::with_indent(MARGIN)
        .push_styled(mark, style)
        .push_plain(" ")
        .push_styled(&format!("{:<VERDICT$}", verdict.name()), style)
        .push_styled(&day, FAINT)
        .push_fitted(&told, PLAIN, canvas.column_count())
}
