//! [`StatisticsTable`]: names with numbers in columns, or below each other on a narrow terminal.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::surfaces::cli::show::bar::bar;
use crate::surfaces::cli::show::canvas::Canvas;
use crate::surfaces::cli::show::layout::{MARGIN, block, heading};
use crate::surfaces::cli::show::line::Line;
use crate::surfaces::cli::show::palette::{FAINT, PLAIN, STRONG};
use crate::surfaces::cli::wrap::{fit, wrap_items};

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
pub(super) const NONE: &str = "–";

#[derive(Debug)]
pub(super) struct Grid {
    pub title: &'static str,
    pub note: String,
    pub headings: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Debug)]
pub(super) struct Row {
    /// Indent of a row that belongs to a group.
    pub indent: usize,
    pub name: String,
    /// Empty for a group's own row.
    pub cells: Vec<String>,
    pub bar: Option<Bar>,
}

/// A part of a whole, drawn as a bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    pub part: usize,
    pub whole: usize,
    pub style: Style,
}

impl Grid {
    pub(super) fn draw(&self, canvas: Canvas) -> Vec<Line> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let widths = self.widths();
        let numbers: usize = widths.iter().map(|width| width + GUTTER).sum();
        let names = self.rows.iter().map(|row| row.indent + fit(&row.name, NAME_MAX).width());
        let widest = names.max().unwrap_or(0);
        let room = canvas.columns().saturating_sub(MARGIN + numbers);
        let mut lines = heading(self.title, &self.note, canvas);
        if room < widest.min(NAME_MIN) {
            lines.extend(self.rows.iter().flat_map(|row| self.stacked(row, canvas)));
            return lines;
        }
        // Names give up width for the bars, down to the minimum.
        let wanted =
            if self.rows.iter().any(|row| row.bar.is_some()) { GUTTER + BAR_WANTED } else { 0 };
        let name = room.saturating_sub(wanted).max(NAME_MIN.min(room)).min(widest);
        lines.push(in_columns(Line::indented(MARGIN + name), &self.headings, &widths, |_| FAINT));
        lines.extend(self.rows.iter().map(|row| beside(row, name, &widths, canvas)));
        lines
    }

    fn widths(&self) -> Vec<usize> {
        let cells = |place: usize| self.rows.iter().filter_map(move |row| row.cells.get(place));
        let widest = |(place, heading): (usize, &String)| {
            cells(place).map(|cell| cell.width()).chain([heading.width()]).max().unwrap_or(0)
        };
        self.headings.iter().enumerate().map(widest).collect()
    }

    fn stacked(&self, row: &Row, canvas: Canvas) -> Vec<Line> {
        let named = row.start().fitted(&row.name, row.style(), canvas.columns());
        let told = self.headings.iter().zip(&row.cells);
        let told: Vec<String> = told.map(|(heading, cell)| format!("{heading} {cell}")).collect();
        let indent = MARGIN + row.indent + MARGIN;
        let set = wrap_items(&told, canvas.columns().saturating_sub(indent));
        let mut lines = vec![named];
        lines.extend(block(&set, indent, PLAIN));
        lines
    }
}

impl Row {
    fn start(&self) -> Line {
        Line::indented(MARGIN + self.indent)
    }

    fn style(&self) -> Style {
        if self.indent == 0 { STRONG } else { PLAIN }
    }
}

fn beside(row: &Row, name: usize, widths: &[usize], canvas: Canvas) -> Line {
    let named = row.start().fitted(&row.name, row.style(), MARGIN + name);
    let line = in_columns(named.pad_to(MARGIN + name), &row.cells, widths, |cell| {
        if matches!(cell, "0" | "0.0 %" | NONE) { FAINT } else { PLAIN }
    });
    let room = canvas.columns().saturating_sub(line.width() + GUTTER).min(BAR_MAX);
    match row.bar.filter(|_| room >= BAR_MIN) {
        Some(Bar { part, whole, style }) => {
            let [part, whole] = [part, whole].map(|count| i64::try_from(count).unwrap_or(0));
            line.plain(&" ".repeat(GUTTER)).styled(&bar(part, whole, room), style)
        }
        None => line,
    }
}

/// Appends right-aligned cells.
fn in_columns(
    start: Line,
    cells: &[String],
    widths: &[usize],
    style: impl Fn(&str) -> Style,
) -> Line {
    cells.iter().zip(widths).fold(start, |line, (cell, width)| {
        let end = line.width() + GUTTER + width;
        line.flush_right(Line::blank().styled(cell, style(cell)), end)
    })
}
