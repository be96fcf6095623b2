//! Layout of all pages: headings, indented blocks, text beside a label, colours and marks. Every
//! colour comes with a name or a mark of the same meaning.

use std::{fmt, iter};

use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthStr;

use crate::report::page::{RichText, TextSpan, TextTone};
use crate::report::safe_text::safe_line;
use crate::report::terminal::wrap::{fit_width, wrap_items};

/// Indent of the body of a section.
pub const MARGIN: usize = 2;

/// Joins the sections with a blank line between them; skips empty sections.
pub fn join_sections(sections: &[Vec<StyledLine>]) -> String {
    let drawn: Vec<String> = sections
        .iter()
        .filter(|lines| !lines.is_empty())
        .map(|lines| lines_to_text(lines))
        .collect();
    drawn.join("\n")
}

/// Draws `TITLE ─────────── note` and a blank line. Cuts a note that is too long.
pub fn draw_heading(title: &str, note: &str, canvas: PageCanvas) -> Vec<StyledLine> {
    let room = canvas.column_count().saturating_sub(title.width() + MARGIN * 2);
    draw_styled_heading(title, StyledLine::blank().push_fitted(note, PLAIN, room), canvas)
}

/// Draws the same heading with a note that has its own styles.
pub(crate) fn draw_styled_heading(
    title: &str,
    note: StyledLine,
    canvas: PageCanvas,
) -> Vec<StyledLine> {
    let columns = canvas.column_count();
    let note = if note.width() == 0 {
        note
    } else {
        StyledLine::blank().push_plain(" ").append_line(note)
    };
    let room = columns.saturating_sub(note.width() + MARGIN);
    let title = StyledLine::blank().push_fitted(title, STRONG, room).push_plain(" ");
    let rule = "─".repeat(columns.saturating_sub(title.width() + note.width()));
    vec![title.push_styled(&rule, FAINT).append_line(note), StyledLine::blank()]
}

/// Draws lines in one style, all with the same indent.
pub(crate) fn indent_block(lines: &[String], indent: usize, style: Style) -> Vec<StyledLine> {
    lines.iter().map(|line| StyledLine::with_indent(indent).push_styled(line, style)).collect()
}

/// Draws the first line after the lead, the others indented below it.
pub fn hang_block(lead: StyledLine, lines: &[String], style: Style) -> Vec<StyledLine> {
    let indent = lead.width();
    let leads = iter::once(lead).chain(iter::repeat_with(|| StyledLine::with_indent(indent)));
    leads.zip(lines).map(|(lead, line)| lead.push_styled(line, style)).collect()
}

/// Draws lines in the plain style.
pub fn indent_prose(lines: &[String], indent: usize) -> Vec<StyledLine> {
    indent_block(lines, indent, PLAIN)
}

fn lines_to_text(lines: &[StyledLine]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Eighths of a column, so that similar shares remain distinguishable.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Draws `part` of `whole`; the whole fills `columns`. A part or whole of zero or less is empty.
pub fn draw_bar(part: i64, whole: i64, columns: usize) -> String {
    if part <= 0 || whole <= 0 {
        return String::new();
    }
    let all = i128::try_from(columns * EIGHTHS.len()).unwrap_or(0);
    let filled = usize::try_from(i128::from(part) * all / i128::from(whole)).unwrap_or(0);
    let rest = EIGHTHS.get(filled % EIGHTHS.len()).copied().unwrap_or_default();
    "█".repeat(filled / EIGHTHS.len()) + rest
}

/// Minimum width for aligned columns. A narrower terminal wraps the lines itself.
const COLUMNS_MIN: usize = 40;

/// Maximum width of a page; longer lines are hard to follow.
const COLUMNS_MAX: usize = 140;

/// Maximum width of prose, also on wide terminals.
const TEXT_WIDTH_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCanvas {
    /// Width of the terminal in columns.
    pub width: usize,
}

impl PageCanvas {
    pub fn column_count(self) -> usize {
        self.width.clamp(COLUMNS_MIN, COLUMNS_MAX)
    }

    pub fn text_width(self) -> usize {
        self.column_count().min(TEXT_WIDTH_MAX)
    }
}

#[derive(Debug, Clone, Default)]
pub struct StyledLine {
    pieces: Vec<(String, Style)>,
    width: usize,
}

impl StyledLine {
    pub fn blank() -> Self {
        Self::default()
    }

    pub fn with_indent(columns: usize) -> Self {
        Self::default().pad_to_column(columns)
    }

    pub fn width(&self) -> usize {
        self.width
    }

    #[must_use]
    pub fn push_plain(self, text: &str) -> Self {
        self.push_styled(text, PLAIN)
    }

    #[must_use]
    pub fn push_styled(mut self, text: &str, style: Style) -> Self {
        let text = safe_line(text);
        self.width += text.width();
        self.pieces.push((text, style));
        self
    }

    /// Appends text, cut so that it ends before `column`.
    #[must_use]
    pub fn push_fitted(self, text: &str, style: Style, column: usize) -> Self {
        let room = column.saturating_sub(self.width);
        let text = fit_width(text, room);
        self.push_styled(&text, style)
    }

    #[must_use]
    pub fn pad_to_column(mut self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width);
        self.pieces.push((" ".repeat(missing), PLAIN));
        self.width += missing;
        self
    }

    /// Appends the other line so that it ends at `column`.
    #[must_use]
    pub(crate) fn append_right(self, other: Self, column: usize) -> Self {
        let start = column.saturating_sub(other.width);
        self.pad_to_column(start).append_line(other)
    }

    #[must_use]
    pub(crate) fn append_line(mut self, other: Self) -> Self {
        self.width += other.width;
        self.pieces.extend(other.pieces);
        self
    }
}

impl fmt::Display for StyledLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Trim padding at the end, so that a reader who copies the line does not get it.
        let ink = |(text, _): &(String, Style)| !text.trim_end().is_empty();
        let inked = self.pieces.iter().rposition(ink).map_or(0, |last| last + 1);
        for (place, (text, style)) in self.pieces.iter().take(inked).enumerate() {
            let text = if place + 1 == inked { text.trim_end() } else { text };
            if !text.is_empty() {
                write!(f, "{style}{text}{style:#}")?;
            }
        }
        Ok(())
    }
}

/// Space between columns.
const TABLE_GUTTER: &str = "  ";

/// Rows under headings. The last column gets the remaining width.
#[derive(Debug)]
pub struct TextTable {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// A path that is cut shorter says too little.
const LAST_COLUMN_MIN: usize = 24;

impl TextTable {
    pub fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new() }
    }

    /// Adds a row and escapes its cells.
    pub fn add_row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| safe_line(cell.as_ref())).collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn draw_table(&self, width: usize) -> String {
        let widths = self.column_widths();
        if self.is_too_wide(&widths, width) {
            return self.draw_stacked(width);
        }
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

    /// Whether too little room is left for the last column.
    fn is_too_wide(&self, widths: &[usize], width: usize) -> bool {
        let Some((last, others)) = widths.split_last() else { return false };
        let taken: usize = others.iter().map(|column| column + TABLE_GUTTER.len()).sum();
        taken + (*last).min(LAST_COLUMN_MIN) > width
    }

    /// Each row as its first cell, and below it the other cells with their headings.
    fn draw_stacked(&self, width: usize) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let mut cells = row.iter().zip(&self.headings).filter(|(cell, _)| !cell.is_empty());
            let Some((first, _)) = cells.next() else { continue };
            text.push_str(&format!("{STRONG}{first}{STRONG:#}\n"));
            let named = cells.map(|(cell, heading)| {
                RichText::from(format!("{} {cell}", heading.to_lowercase()).trim())
            });
            let named: Vec<RichText> = named.collect();
            for line in wrap_items(&named, PLAIN, width.saturating_sub(MARGIN)) {
                text.push_str(&format!("{}{line}\n", " ".repeat(MARGIN)));
            }
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

pub const PLAIN: Style = Style::new();
pub const STRONG: Style = Style::new().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const ID: Style = foreground_style(AnsiColor::Cyan);
pub const GOOD: Style = foreground_style(AnsiColor::Green);
pub const CAUTION: Style = foreground_style(AnsiColor::Yellow);
pub const BAD: Style = foreground_style(AnsiColor::Red);

const fn foreground_style(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// The style of a tone on the terminal.
impl TextTone {
    pub fn to_style(self) -> Style {
        match self {
            Self::Plain => PLAIN,
            Self::Faint => FAINT,
            Self::Id | Self::Code => ID,
            Self::Good => GOOD,
            Self::Caution => CAUTION,
            Self::Bad => BAD,
        }
    }
}

/// The style of a span in a text with this base style.
pub(crate) fn span_style(span: &TextSpan, base: Style) -> Style {
    let style = if span.tone == TextTone::Plain { base } else { span.tone.to_style() };
    if span.is_strong { style.bold() } else { style }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_the_share_of_the_whole() {
        let bar = |part, whole| draw_bar(part, whole, 10);
        assert_eq!(bar(40, 40), "██████████");
        assert_eq!(bar(20, 40), "█████");
        assert_eq!(bar(1, 40), "▎");
        assert_eq!([bar(0, 40), bar(-5, 40), bar(0, 0)], ["", "", ""]);
        assert_eq!(bar(i64::MAX, i64::MAX).chars().count(), 10);
    }
}

#[cfg(test)]
mod table_tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_is_cut() {
        let mut table = TextTable::new(&["ID", "TITLE"]);
        table.add_row(["a", "short"]);
        table.add_row(["北京", "a title that is too long for this table"]);
        let draw = |width| anstream::adapter::strip_str(&table.draw_table(width)).to_string();
        insta::assert_snapshot!(draw(32), @r"
        ID    TITLE
        a     short
        北京  a title that is too long…
        ");
        // Where too little of the last column is left, each row is a list.
        insta::assert_snapshot!(draw(24), @r"
        a
          title short
        北京
          title a title that is
          too long for this
          table
        ");
    }
}
