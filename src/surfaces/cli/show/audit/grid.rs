//! [`StatisticsTable`]: names with numbers in columns, or below each other on a narrow terminal.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::surfaces::cli::show::bar::draw_bar;
use crate::surfaces::cli::show::canvas::PageCanvas;
use crate::surfaces::cli::show::layout::{MARGIN, draw_heading, indent_block};
use crate::surfaces::cli::show::line::StyledLine;
use crate::surfaces::cli::show::palette::{FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{fit_width, wrap_items};

/// Longer names are cut, so that a table fits eighty columns.
const NAME_MAX: usize = 26;

/// With less space than this for names, the numbers go below each name.
const NAME_MIN: usize = 12;

/// Columns of space between cells.
const GUTTER: usize = 2;

/// Maximum width of a full bar.
const BAR_MAX: usize = 20;

/// Preferred width of a full bar; it shows steps of about a tenth.
const BAR_WANTED: usize = 8;

/// A shorter bar shows no difference, so it is left out.
const BAR_MIN: usize = 5;

/// Shown for a number that cannot be computed.
pub(super) const NO_VALUE: &str = "–";

#[derive(Debug)]
pub(super) struct StatisticsTable {
    pub title: &'static str,
    pub note: String,
    pub headings: Vec<String>,
    pub rows: Vec<StatisticsRow>,
}

#[derive(Debug)]
pub(super) struct StatisticsRow {
    /// Indent of a row that belongs to a group.
    pub indent: usize,
    pub name: String,
    /// Empty for a group's own row.
    pub cells: Vec<String>,
    pub bar: Option<ShareBar>,
}

/// A part of a whole, drawn as a bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShareBar {
    pub part: usize,
    pub whole: usize,
    pub style: Style,
}

impl StatisticsTable {
    pub(super) fn draw_table(&self, canvas: PageCanvas) -> Vec<StyledLine> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let widths = self.column_widths();
        let numbers: usize = widths.iter().map(|width| width + GUTTER).sum();
        let names = self.rows.iter().map(|row| row.indent + fit_width(&row.name, NAME_MAX).width());
        let widest = names.max().unwrap_or(0);
        let room = canvas.column_count().saturating_sub(MARGIN + numbers);
        let mut lines = draw_heading(self.title, &self.note, canvas);
        if room < widest.min(NAME_MIN) {
            lines.extend(self.rows.iter().flat_map(|row| self.draw_stacked(row, canvas)));
            return lines;
        }
        // Names give up width for the bars, down to the minimum.
        let wanted =
            if self.rows.iter().any(|row| row.bar.is_some()) { GUTTER + BAR_WANTED } else { 0 };
        let name = room.saturating_sub(wanted).max(NAME_MIN.min(room)).min(widest);
        lines.push(add_cells(
            StyledLine::with_indent(MARGIN + name),
            &self.headings,
            &widths,
            |_| FAINT,
        ));
        lines.extend(self.rows.iter().map(|row| draw_row(row, name, &widths, canvas)));
        lines
    }

    fn column_widths(&self) -> Vec<usize> {
        let cells = |place: usize| self.rows.iter().filter_map(move |row| row.cells.get(place));
        let widest = |(place, heading): (usize, &String)| {
            cells(place).map(|cell| cell.width()).chain([heading.width()]).max().unwrap_or(0)
        };
        self.headings.iter().enumerate().map(widest).collect()
    }

    fn draw_stacked(&self, row: &StatisticsRow, canvas: PageCanvas) -> Vec<StyledLine> {
        let named =
            row.start_line().push_fitted(&row.name, row.name_style(), canvas.column_count());
        let told = self.headings.iter().zip(&row.cells);
        let told: Vec<String> = told.map(|(heading, cell)| format!("{heading} {cell}")).collect();
        let indent = MARGIN + row.indent + MARGIN;
        let set = wrap_items(&told, canvas.column_count().saturating_sub(indent));
        let mut lines = vec![named];
        lines.extend(indent_block(&set, indent, PLAIN));
        lines
    }
}

impl StatisticsRow {
    fn start_line(&self) -> StyledLine {
        StyledLine::with_indent(MARGIN + self.indent)
    }

    fn name_style(&self) -> Style {
        if self.indent == 0 { STRONG } else { PLAIN }
    }
}

fn draw_row(row: &StatisticsRow, name: usize, widths: &[usize], canvas: PageCanvas) -> StyledLine {
    let named = row.start_line().push_fitted(&row.name, row.name_style(), MARGIN + name);
    let line = add_cells(named.pad_to_column(MARGIN + name), &row.cells, widths, |cell| {
        if matches!(cell, "0" | "0.0 %" | NO_VALUE) { FAINT } else { PLAIN }
    });
    let room = canvas.column_count().saturating_sub(line.width() + GUTTER).min(BAR_MAX);
    match row.bar.filter(|_| room >= BAR_MIN) {
        Some(ShareBar { part, whole, style }) => {
            let [part, whole] = [part, whole].map(|count| i64::try_from(count).unwrap_or(0));
            line.push_plain(&" ".repeat(GUTTER)).push_styled(&draw_bar(part, whole, room), style)
        }
        None => line,
    }
}

/// Appends right-aligned cells.
fn add_cells(
    start: StyledLine,
    cells: &[String],
    widths: &[usize],
    style: impl Fn(&str) -> Style,
) -> StyledLine {
    cells.iter().zip(widths).fold(start, |line, (cell, width)| {
        let end = line.width() + GUTTER + width;
        line.append_right(StyledLine::blank().push_styled(cell, style(cell)), end)
    })
}
