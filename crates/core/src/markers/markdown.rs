//! Finds the prose lines of a Markdown text and groups them into paragraphs. `scan.rs` searches
//! these for brackets.
//!
//! Code is defined by CommonMark: fenced with any length, or indented after a blank line. One
//! exception is more lenient: only a fence closes a fence inside a list, because models forget to
//! indent the lines between.

use crate::markers::warnings::{DeviationSet, MarkerDeviation};

/// Consecutive lines of one paragraph, heading or list item.
pub(crate) type ProseParagraph = Vec<ProseLine>;

/// A line of prose. Positions are byte offsets in the whole text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProseLine {
    /// Counted from 1, as in editors.
    pub number: usize,
    pub start: usize,
    /// After quote marks, bullets and heading marks.
    pub text_start: usize,
    /// Before the line break.
    pub end: usize,
    /// What precedes the text, as deviations of a marker at its start.
    pub decoration: DeviationSet,
}

impl ProseLine {
    pub(crate) fn is_heading(&self) -> bool {
        self.decoration.contains(MarkerDeviation::Heading)
    }
}

/// Markdown structure of a text.
#[derive(Debug, Default)]
pub(crate) struct MarkdownLayout {
    pub paragraphs: Vec<ProseParagraph>,
    /// Some skipped code contains a bracket.
    pub has_brackets_in_code: bool,
    /// Line of a code fence that is never closed.
    pub open_fence: Option<usize>,
    /// Line of a code fence that encloses the whole text.
    pub wrapped_on: Option<usize>,
    /// End of the text, or start of the closing fence around it.
    pub end: usize,
}

pub(crate) fn parse_layout(text: &str) -> MarkdownLayout {
    let wrapping = find_wrapping_fence(text);
    let (mut reader, mut end) = (LayoutBuilder::default(), text.len());
    for row in source_lines(text) {
        match wrapping {
            Some((first, last)) if row.number <= first || row.number > last => {}
            Some((_, last)) if row.number == last => end = row.start,
            Some(_) | None => reader.read_line(row),
        }
    }
    reader.end_paragraph();
    let open_fence = reader.fence.map(|fence| fence.line);
    let wrapped_on = wrapping.map(|(first, _)| first);
    MarkdownLayout { open_fence, wrapped_on, end, ..reader.layout }
}

fn source_lines(text: &str) -> impl Iterator<Item = SourceLine<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').zip(1..).map(move |(line, number)| {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').unwrap_or(content);
        let row = SourceLine { text: content, number, start };
        start += line.len();
        row
    })
}

/// Models sometimes return a whole document as one code block labelled Markdown. Returns the first
/// and last line of such a block.
fn find_wrapping_fence(text: &str) -> Option<(usize, usize)> {
    let mut rows = source_lines(text).filter(|row| !row.text.trim().is_empty());
    let first = rows.next()?;
    let opening = first.text.trim();
    let (sign, length) = parse_fence(opening)?;
    let info = opening.get(length..)?.trim();
    if !["markdown", "md"].iter().any(|name| info.eq_ignore_ascii_case(name)) {
        return None;
    }
    // Inner code blocks have an info string; a bare fence closes a block.
    let (mut depth, mut last) = (1_usize, None);
    for row in rows {
        if last.is_some() {
            return None;
        }
        let line = row.text.trim();
        let Some((_, run)) =
            parse_fence(line).filter(|(other, run)| *other == sign && *run >= length)
        else {
            continue;
        };
        depth = if run == line.len() { depth - 1 } else { depth + 1 };
        last = (depth == 0).then_some(row.number);
    }
    Some((first.number, last?))
}

/// An input line without its line break.
#[derive(Debug, Clone, Copy)]
struct SourceLine<'a> {
    text: &'a str,
    number: usize,
    start: usize,
}

#[derive(Debug, Clone, Copy)]
struct CodeFence {
    sign: u8,
    length: usize,
    quotes: usize,
    line: usize,
}

#[derive(Debug, Default)]
struct LayoutBuilder {
    layout: MarkdownLayout,
    paragraph: ProseParagraph,
    fence: Option<CodeFence>,
    /// Text columns of the open list items.
    items: Vec<usize>,
}

/// Tab stop width.
const TAB_COLUMNS: usize = 4;

/// Additional indentation that makes a line code.
const CODE_INDENT: usize = 4;

/// Maximum list nesting; deeper bullets are treated as text.
const ITEMS_DEPTH_MAX: usize = 32;

impl LayoutBuilder {
    fn read_line(&mut self, row: SourceLine<'_>) {
        let (quotes, quoted) = strip_quote_marks(row.text);
        if let Some(fence) = self.fence
            && quotes >= fence.quotes
        {
            return self.read_code(fence, row.text, quoted);
        }
        self.fence = None;
        if quoted.trim().is_empty() {
            return self.end_paragraph();
        }
        let (indent, text) = split_indentation(quoted);
        while self.items.last().is_some_and(|column| indent < *column) {
            self.items.pop();
        }
        let over = indent - self.items.last().copied().unwrap_or(0);
        if over >= CODE_INDENT && self.paragraph.is_empty() {
            return self.skip_code(row.text);
        }
        let mut decoration = DeviationSet::default();
        if quotes > 0 {
            decoration.add(MarkerDeviation::BlockQuote);
        }
        if over >= CODE_INDENT {
            // An indented line continues the paragraph above.
            return self.push_line(row, text, decoration);
        }
        self.read_block(row, (quotes, indent, text), decoration);
    }

    fn read_code(&mut self, fence: CodeFence, whole: &str, line: &str) {
        let (indent, text) = split_indentation(line);
        let text = text.trim_end();
        let is_fence = text.len() >= fence.length && text.bytes().all(|sign| sign == fence.sign);
        if is_fence && indent < self.items.last().copied().unwrap_or(0) + CODE_INDENT {
            self.fence = None;
        }
        self.skip_code(whole);
    }

    /// Reads nested bullets, then a fence, heading, rule or text.
    fn read_block(
        &mut self,
        row: SourceLine<'_>,
        (quotes, mut indent, mut text): (usize, usize, &str),
        mut decoration: DeviationSet,
    ) {
        if is_rule(text) {
            return self.end_paragraph();
        }
        while self.items.len() < ITEMS_DEPTH_MAX
            && let Some(bullet) = bullet_length(text)
        {
            self.end_paragraph();
            decoration.add(MarkerDeviation::ListItem);
            let (columns, rest) = split_indentation(text.get(bullet..).unwrap_or_default());
            if columns > CODE_INDENT {
                self.items.push(indent + bullet + 1);
                return self.skip_code(row.text);
            }
            indent += bullet + columns;
            self.items.push(indent);
            text = rest;
        }
        if let Some((sign, length)) = parse_fence(text) {
            self.end_paragraph();
            self.fence = Some(CodeFence { sign, length, quotes, line: row.number });
            return self.skip_code(row.text);
        }
        let Some(title) = heading_text(text) else { return self.push_line(row, text, decoration) };
        self.end_paragraph();
        self.push_line(row, title, decoration.with(MarkerDeviation::Heading));
        self.end_paragraph();
    }

    fn push_line(&mut self, row: SourceLine<'_>, text: &str, decoration: DeviationSet) {
        let end = row.start + row.text.len();
        let text_start = end - text.len();
        let (number, start) = (row.number, row.start);
        self.paragraph.push(ProseLine { number, start, text_start, end, decoration });
    }

    fn skip_code(&mut self, line: &str) {
        self.layout.has_brackets_in_code |= line.contains('[');
    }

    fn end_paragraph(&mut self) {
        if !self.paragraph.is_empty() {
            self.layout.paragraphs.push(std::mem::take(&mut self.paragraph));
        }
    }
}

/// Returns the quotation depth and the line without its quote marks.
fn strip_quote_marks(line: &str) -> (usize, &str) {
    let (mut depth, mut rest) = (0, line);
    loop {
        let text = rest.trim_start_matches(' ');
        let Some(inner) = text.strip_prefix('>').filter(|_| rest.len() - text.len() < CODE_INDENT)
        else {
            return (depth, rest);
        };
        depth += 1;
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
}

/// Returns the indentation in columns and the rest of the line.
fn split_indentation(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches([' ', '\t']);
    let blank = line.strip_suffix(text).unwrap_or_default();
    let columns = blank.bytes().fold(0, |column, sign| match sign {
        b'\t' => column + TAB_COLUMNS - column % TAB_COLUMNS,
        _ => column + 1,
    });
    (columns, text)
}

/// Returns the character and length of an opening fence.
fn parse_fence(text: &str) -> Option<(u8, usize)> {
    let sign = text.bytes().next().filter(|sign| matches!(sign, b'`' | b'~'))?;
    let length = text.bytes().take_while(|other| *other == sign).count();
    let info = text.get(length..)?;
    let is_fence = length >= 3 && !(sign == b'`' && info.contains('`'));
    is_fence.then_some((sign, length))
}

/// Returns the title if the line is a heading.
fn heading_text(text: &str) -> Option<&str> {
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    let is_heading =
        (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| title.trim_start())
}

/// Returns the byte length of a list bullet or number at the start of the line.
pub(crate) fn bullet_length(text: &str) -> Option<usize> {
    const NUMBER_DIGITS_MAX: usize = 9;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = text.as_bytes().get(digits)?;
    let is_bullet = match digits {
        0 => matches!(sign, b'-' | b'*' | b'+'),
        1..=NUMBER_DIGITS_MAX => matches!(sign, b'.' | b')'),
        _ => false,
    };
    let after = text.get(digits + 1..)?;
    (is_bullet && after.starts_with([' ', '\t'])).then_some(digits + 1)
}

/// Matches `---`, `* * *` and similar lines.
pub(crate) fn is_rule(text: &str) -> bool {
    let mut signs = text.bytes().filter(|sign| !matches!(sign, b' ' | b'\t'));
    let Some(first) = signs.next().filter(|sign| matches!(sign, b'-' | b'*' | b'_')) else {
        return false;
    };
    let mut count = 1;
    let is_same = signs.all(|sign| {
        count += 1;
        sign == first
    });
    is_same && count >= 3
}

pub(crate) fn is_heading(text: &str) -> bool {
    heading_text(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the prose lines, grouped by paragraph.
    fn check(text: &str, expected: &[&[&str]]) {
        let layout = parse_layout(text);
        let prose: Vec<Vec<&str>> = layout
            .paragraphs
            .iter()
            .map(|lines| lines.iter().map(|line| &text[line.text_start..line.end]).collect())
            .collect();
        assert_eq!(prose, expected, "{text}");
    }

    #[test]
    fn fences_of_any_length_close_with_their_like() {
        check("a\n```\nb\n```\nc", &[&["a"], &["c"]]);
        check("````md\n```\nb\n```\n````\nc", &[&["c"]]);
        check("~~~\n```\nb\n~~\n~~~~\nc", &[&["c"]]);
        check("``` not ` a fence\nb", &[&["``` not ` a fence", "b"]]);
        check("```\nnever closed\n\n# c", &[]);
        check("> ```\n> b\nc", &[&["c"]]);
        check("```\n    ```\nb\n   ```\nc", &[&["c"]]);
        check("- ```\n  b\n  ```\n- c", &[&["c"]]);
        check("1. a\n   ```\nnot indented\n   ```\n2. c", &[&["a"], &["c"]]);
    }

    #[test]
    fn a_text_that_is_one_block_of_markdown_is_read() {
        check("\n```markdown\na\n```json\nb\n```\nc\n```\n", &[&["a"], &["c"]]);
        check("~~~~MD\na\n~~~\nb\n~~~~", &[&["a"]]);
        check("```markdown\na\n```\nc\n```python\nb\n```", &[&["c"]]);
        check("```markdown\na\n```\n\nc", &[&["c"]]);
        check("```markdown\na", &[]);
        check("```\na\n```", &[]);
    }

    #[test]
    fn what_is_indented_after_a_blank_line_is_code() {
        check("a\n\n    b\n\n\tb\n\nc", &[&["a"], &["c"]]);
        check("a\n    b", &[&["a", "b"]]);
        check("    b\nc", &[&["c"]]);
        check("- a\n\n  c\n\n      code\n", &[&["a"], &["c"]]);
        check("- a\n\n    c in the item", &[&["a"], &["c in the item"]]);
        check("-     code", &[]);
        check("# a\n    code", &[&["a"]]);
    }

    #[test]
    fn headings_items_and_rules_stand_apart() {
        check(
            "# a\nb\n- c\n- d\n1) e\n> f\n---\ng",
            &[&["a"], &["b"], &["c"], &["d"], &["e", "f"], &["g"]],
        );
        check("#no heading\n-no item\r\nb", &[&["#no heading", "-no item", "b"]]);
        check("- - ### a", &[&["a"]]);
    }
}
