//! [`TextTable`]: aligned text columns, measured by display width.

use unicode_width::UnicodeWidthStr;

use super::wrap::fit_width;
use crate::export::safe_text;

/// Space between columns.
const TABLE_GUTTER: &str = "  ";

/// Rows under headings. The last column gets the remaining width.
#[derive(Debug)]
pub(super) struct TextTable {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Adds a row and escapes its cells.
    pub(super) fn add_row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| safe_text::safe_line(cell.as_ref())).collect());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn draw_table(&self, width: usize) -> String {
        let widths = self.column_widths();
        let headings =
            self.headings.iter().map(|heading| (*heading).to_owned()).collect::<Vec<_>>();
        let bold = anstyle::Style::new().bold();
        let mut text = format!("{bold}{}{bold:#}\n", draw_table_row(&headings, &widths, width));
        for row in &self.rows {
            text.push_str(&draw_table_row(row, &widths, width));
            text.push('\n');
        }
        text
    }

    fn column_widths(&self) -> Vec<usize> {
        let column = |place: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.width());
            let heading = self.headings.get(place).map_or(0, |heading| heading.width());
            cells.chain([heading]).max().unwrap_or(0)
        };
        (0..self.headings.len()).map(column).collect()
    }
}

fn draw_table_row(cells: &[String], widths: &[usize], width: usize) -> String {
    let last = cells.len().saturating_sub(1);
    let mut text = String::new();
    for (place, (cell, column)) in cells.iter().zip(widths).enumerate() {
        if place == last {
            let room = width.saturating_sub(text.width()).max(12);
            text.push_str(&fit_width(cell, room));
        } else {
            text.push_str(cell);
            text.push_str(&" ".repeat(column.saturating_sub(cell.width())));
            text.push_str(TABLE_GUTTER);
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_is_cut() {
        let mut table = TextTable::new(&["ID", "TITLE"]);
        table.add_row(["a", "short"]);
        table.add_row(["北京", "a title that is too long for this table"]);
        let drawn = anstream::adapter::strip_str(&table.draw_table(24)).to_string();
        insta::assert_snapshot!(drawn, @r"
        ID    TITLE
        a     short
        北京  a title that is t…
        ");
    }
}
