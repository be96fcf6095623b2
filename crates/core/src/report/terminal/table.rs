//! Draws a table on a terminal. Columns line up while they fit; else the cells of a row go below
//! its name.

use crate::report::page::{ColumnKind, PageTable, RichText, ShareBar, TableRow, TextTone};
use crate::report::terminal::layout::{FAINT, PLAIN, PageCanvas, StyledLine, draw_bar};
use crate::report::terminal::page::shift_lines;
use crate::report::terminal::wrap::{fit_rich, rich_width, wrap_items, wrap_rich};

/// Columns of space between cells.
const GUTTER: usize = 2;

/// Longer names are cut, so that a table fits eighty columns.
const NAME_WIDTH_MAX: usize = 26;

/// With less space than this for names, the cells go below each name.
const NAME_WIDTH_MIN: usize = 12;

/// With less space than this, a wrapping column goes below its row.
const WRAP_WIDTH_MIN: usize = 26;

/// Indent of cells below their row.
const BELOW_INDENT: usize = 2;

/// Widths of a full bar. A shorter bar shows no difference, so it is left out.
const BAR_WIDTH_MIN: usize = 5;
const BAR_WIDTH_WANTED: usize = 8;
const BAR_WIDTH_MAX: usize = 20;

/// Draws the rows with their headings; nothing without rows.
pub(crate) fn draw_table(table: &PageTable, indent: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    if table.rows.is_empty() {
        return Vec::new();
    }
    let room = canvas.column_count() - indent;
    let Some(layout) = TableLayout::fit(table, room) else {
        let rows = table.rows.iter().flat_map(|row| draw_stacked(table, row, room));
        return shift_lines(rows.collect(), indent);
    };
    let mut lines: Vec<StyledLine> = layout.draw_headings(table).into_iter().collect();
    let rows: Vec<Vec<StyledLine>> =
        table.rows.iter().map(|row| layout.draw_row(table, row, room)).collect();
    // Long texts below the rows need space between them.
    let has_texts = table.columns.iter().any(|column| column.kind == ColumnKind::Below);
    let is_loose = has_texts && rows.iter().any(|row| row.len() > 2);
    for (place, row) in rows.into_iter().enumerate() {
        if place > 0 && is_loose {
            lines.push(StyledLine::blank());
        }
        lines.extend(row);
    }
    shift_lines(lines, indent)
}

/// The widths of the columns that are drawn side by side.
struct TableLayout {
    /// Zero for a column that goes below its row.
    widths: Vec<usize>,
}

impl TableLayout {
    /// None if the columns do not fit side by side.
    fn fit(table: &PageTable, room: usize) -> Option<Self> {
        let mut widths: Vec<usize> = Vec::new();
        for (place, column) in table.columns.iter().enumerate() {
            let cells = table.rows.iter().filter_map(|row| row.cells.get(place));
            let widest = cells.map(rich_width).max().unwrap_or(0);
            widths.push(match column.kind {
                ColumnKind::Short | ColumnKind::Number if widest == 0 && place > 0 => 0,
                ColumnKind::Short | ColumnKind::Whole | ColumnKind::Number => {
                    widest.max(column.heading.chars().count())
                }
                ColumnKind::Wrap | ColumnKind::Below => 0,
            });
        }
        let is_nested = table.rows.iter().any(|row| row.is_nested);
        let others: usize =
            widths.iter().skip(1).filter(|width| **width > 0).map(|w| w + GUTTER).sum();
        let bar = table.rows.iter().any(|row| row.bar.is_some());
        let bar = if bar { BAR_WIDTH_WANTED + GUTTER } else { 0 };
        let name = widths.first_mut()?;
        let (least, most) = match table.columns.first().map(|column| column.kind) {
            Some(ColumnKind::Whole) => (usize::MAX, usize::MAX),
            Some(ColumnKind::Short | ColumnKind::Number | ColumnKind::Wrap | ColumnKind::Below)
            | None => (NAME_WIDTH_MIN, NAME_WIDTH_MAX),
        };
        *name = (*name + if is_nested { BELOW_INDENT } else { 0 }).min(most);
        let left = room.checked_sub(others).filter(|left| *left >= (*name).min(least))?;
        // Names give up width for the bars, down to the minimum.
        *name = left.saturating_sub(bar).max(least.min(left)).min(*name);
        let used: usize = widths.iter().filter(|width| **width > 0).map(|w| w + GUTTER).sum();
        let wrapped = table.columns.iter().position(|column| column.kind == ColumnKind::Wrap);
        let left = room.saturating_sub(used + bar);
        if let Some(width) = wrapped.and_then(|place| widths.get_mut(place)) {
            *width = if left >= WRAP_WIDTH_MIN { left } else { 0 };
        }
        Some(Self { widths })
    }

    /// The headings of the columns side by side; none if all are empty.
    fn draw_headings(&self, table: &PageTable) -> Option<StyledLine> {
        let headings: Vec<RichText> = table
            .columns
            .iter()
            .map(|column| RichText::toned(column.heading.as_str(), TextTone::Faint))
            .collect();
        let mut shown = headings.iter().zip(&self.widths).skip(1).filter(|(_, width)| **width > 0);
        let is_worth = shown.any(|(text, _)| !text.is_empty());
        let line = self.draw_cells(table, &TableRow::new(headings));
        is_worth.then(|| line.into_iter().next().unwrap_or_default())
    }

    fn draw_row(&self, table: &PageTable, row: &TableRow, room: usize) -> Vec<StyledLine> {
        let mut lines = self.draw_cells(table, row);
        let is_wrapped = self.wraps_beside(table);
        if let (Some(bar), Some(first), false) = (row.bar, lines.first_mut(), is_wrapped) {
            let width = room.saturating_sub(first.width() + GUTTER).min(BAR_WIDTH_MAX);
            *first = add_bar(std::mem::take(first), bar, width);
        }
        for (place, cell) in row.cells.iter().enumerate() {
            let is_below = self.widths.get(place) == Some(&0) && !cell.is_empty();
            if is_below {
                let below = wrap_rich(cell, PLAIN, room.min(98).saturating_sub(BELOW_INDENT));
                lines.extend(shift_lines(below, BELOW_INDENT));
            }
        }
        lines
    }

    /// Whether a wrapping column is beside the others.
    fn wraps_beside(&self, table: &PageTable) -> bool {
        let mut columns = table.columns.iter().zip(&self.widths);
        columns.any(|(column, width)| column.kind == ColumnKind::Wrap && *width > 0)
    }

    /// The cells side by side; the wrapping one makes further lines.
    fn draw_cells(&self, table: &PageTable, row: &TableRow) -> Vec<StyledLine> {
        let indent = if row.is_nested { BELOW_INDENT } else { 0 };
        let has_bars = table.rows.iter().any(|row| row.bar.is_some());
        let mut line = StyledLine::with_indent(indent);
        let mut below = Vec::new();
        let mut start = 0;
        for (place, (cell, width)) in row.cells.iter().zip(&self.widths).enumerate() {
            if *width == 0 {
                continue;
            }
            let kind = table.columns.get(place).map_or(ColumnKind::Short, |column| column.kind);
            let end = start + width;
            line = match kind {
                ColumnKind::Number => line.append_right(fit_rich(cell, PLAIN, *width), end),
                ColumnKind::Wrap => {
                    if has_bars {
                        line = match row.bar {
                            Some(bar) => add_bar(line, bar, BAR_WIDTH_WANTED),
                            None => line,
                        };
                        start += BAR_WIDTH_WANTED + GUTTER;
                    }
                    let mut parts = wrap_rich(cell, PLAIN, *width).into_iter();
                    let first = parts.next().unwrap_or_default();
                    below = shift_lines(parts.collect(), start);
                    line.pad_to_column(start).append_line(first)
                }
                ColumnKind::Short | ColumnKind::Whole | ColumnKind::Below => {
                    let indent = if place == 0 { indent } else { 0 };
                    let text = fit_rich(cell, PLAIN, width.saturating_sub(indent));
                    line.pad_to_column(start + indent).append_line(text)
                }
            };
            start = end + GUTTER;
        }
        std::iter::once(line).chain(below).collect()
    }
}

fn add_bar(line: StyledLine, bar: ShareBar, width: usize) -> StyledLine {
    if width < BAR_WIDTH_MIN {
        return line;
    }
    let drawn = draw_bar(bar.part, bar.whole, width);
    line.push_plain(&" ".repeat(GUTTER)).push_styled(&drawn, bar.tone.to_style())
}

/// The name of the row, then each cell with its heading.
fn draw_stacked(table: &PageTable, row: &TableRow, room: usize) -> Vec<StyledLine> {
    let indent = if row.is_nested { BELOW_INDENT } else { 0 };
    let is_whole = table.columns.first().is_some_and(|column| column.kind == ColumnKind::Whole);
    let fit_name = |name: &RichText| match is_whole {
        true => wrap_rich(name, PLAIN, room - indent),
        false => vec![fit_rich(name, PLAIN, room - indent)],
    };
    let name = row.cells.first().map(fit_name);
    let mut lines = shift_lines(name.unwrap_or_default(), indent);
    let cells = table.columns.iter().zip(&row.cells).skip(1);
    let (beside, below): (Vec<_>, Vec<_>) = cells
        .filter(|(_, cell)| !cell.is_empty())
        .partition(|(column, _)| matches!(column.kind, ColumnKind::Short | ColumnKind::Number));
    let items = beside.into_iter().map(|(column, cell)| {
        let heading = RichText::toned(format!("{} ", column.heading), TextTone::Faint);
        let heading = if column.heading.is_empty() { RichText::default() } else { heading };
        heading.append(cell.clone())
    });
    let at = indent + BELOW_INDENT;
    let items: Vec<RichText> = items.collect();
    lines.extend(shift_lines(wrap_items(&items, PLAIN, room - at), at));
    let below = below.into_iter().flat_map(|(_, cell)| wrap_rich(cell, FAINT, room - at));
    lines.extend(shift_lines(below.collect(), at));
    lines
}
