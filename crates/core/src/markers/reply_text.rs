//! Markdown structure of a reply: which lines are prose and where inline code is.
//!
//! `pulldown-cmark` finds the code; this file finds the brackets in the prose lines and takes the
//! texts of entities and verdicts from the reply, without the markers that were read.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

/// A reply with the positions of its code. All ranges are byte offsets in `text`.
#[derive(Debug)]
pub(crate) struct ReplyText<'a> {
    pub text: &'a str,
    /// The part to read: the whole reply, or the content of the code block around it.
    pub body: Range<usize>,
    /// A code block named Markdown encloses the whole reply.
    pub is_wrapped: bool,
    /// Start of a code block that is never closed.
    pub open_fence: Option<usize>,
    code_blocks: Vec<Range<usize>>,
    code_spans: Vec<Range<usize>>,
}

/// A line outside code blocks, without its line break.
#[derive(Debug, Clone)]
pub(crate) struct ProseLine {
    /// Counted from 1.
    pub number: usize,
    pub range: Range<usize>,
    /// Offset of the first word or bracket, after bullets and punctuation.
    pub first_word: usize,
    /// Inline code, bullets and punctuation only.
    pub is_code_only: bool,
}

/// A pair of brackets on one line, or an opening bracket without its closing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BracketSpan {
    /// Offset of the opening bracket.
    pub open: usize,
    /// Offset of the closing bracket.
    pub close: Option<usize>,
    /// The inline code that consists of this bracket, backticks included.
    pub code: Option<Range<usize>>,
}

impl<'a> ReplyText<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let wrapped = find_wrapped_body(text);
        let body = wrapped.clone().unwrap_or(0..text.len());
        let mut reply = Self {
            text,
            body: body.clone(),
            is_wrapped: wrapped.is_some(),
            open_fence: None,
            code_blocks: Vec::new(),
            code_spans: Vec::new(),
        };
        let content = text.get(body.clone()).unwrap_or_default();
        for (event, range) in Parser::new(content).into_offset_iter() {
            let range = range.start + body.start..range.end + body.start;
            if matches!(event, Event::Code(_)) {
                reply.code_spans.push(range);
            } else if let Event::Start(Tag::CodeBlock(kind)) = event {
                let block = text.get(range.clone()).unwrap_or_default();
                if matches!(kind, CodeBlockKind::Fenced(_)) && !is_fence_closed(block) {
                    reply.open_fence.get_or_insert(range.start);
                }
                reply.code_blocks.push(range);
            }
        }
        reply
    }

    /// Whether a bracket is in code, where no marker is read.
    pub(crate) fn has_brackets_in_code(&self) -> bool {
        let code = self.code_blocks.iter().chain(&self.code_spans);
        code.into_iter().any(|code| self.text.get(code.clone()).is_some_and(|it| it.contains('[')))
    }

    pub(crate) fn line_number(&self, offset: usize) -> usize {
        self.text.get(..offset).unwrap_or_default().matches('\n').count() + 1
    }

    /// The lines outside code blocks.
    pub(crate) fn prose_lines(&self) -> Vec<ProseLine> {
        let mut blocks = self.code_blocks.iter().peekable();
        let mut lines = Vec::new();
        let mut start = self.body.start;
        let first = self.line_number(start);
        let body = self.text.get(self.body.clone()).unwrap_or_default();
        for (number, line) in (first..).zip(body.split_inclusive('\n')) {
            let mut end = start + line.trim_end_matches(['\n', '\r']).len();
            while blocks.next_if(|block| block.end <= start).is_some() {}
            // A block in a list begins after the bullet.
            if let Some(block) = blocks.peek() {
                end = end.min(block.start.max(start));
            }
            lines.push(self.describe_line(number, start..end));
            start += line.len();
        }
        lines
    }

    fn describe_line(&self, number: usize, range: Range<usize>) -> ProseLine {
        let content = self.text.get(range.clone()).unwrap_or_default();
        let first_word = range.end - skip_bullets(content).len();
        let mut at = range.start;
        let mut has_words_around = false;
        for span in self.spans_in(&range) {
            has_words_around |= has_words(self.text.get(at..span.start).unwrap_or_default());
            at = span.end;
        }
        has_words_around |= has_words(self.text.get(at..range.end).unwrap_or_default());
        ProseLine { number, range, first_word, is_code_only: !has_words_around }
    }

    /// Inline code that begins in a range, in order.
    fn spans_in(&self, range: &Range<usize>) -> &[Range<usize>] {
        let first = self.code_spans.partition_point(|span| span.end <= range.start);
        let spans = self.code_spans.get(first..).unwrap_or_default();
        let count = spans.partition_point(|span| span.start < range.end);
        spans.get(..count).unwrap_or_default()
    }

    /// The brackets of a line in the order in which they open, nested ones included.
    pub(crate) fn find_brackets(&self, line: &ProseLine) -> Vec<BracketSpan> {
        let mut brackets: Vec<BracketSpan> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut spans = self.spans_in(&line.range).iter().peekable();
        let content = self.text.get(line.range.clone()).unwrap_or_default();
        for (place, sign) in content.char_indices() {
            let at = line.range.start + place;
            while spans.next_if(|span| span.end <= at).is_some() {}
            if let Some(span) = spans.peek().filter(|span| span.contains(&at)) {
                if span.start == at {
                    brackets.extend(self.find_code_bracket(span));
                }
                continue;
            }
            match sign {
                '[' => {
                    open.push(brackets.len());
                    brackets.push(BracketSpan { open: at, close: None, code: None });
                }
                ']' => {
                    if let Some(bracket) = open.pop().and_then(|place| brackets.get_mut(place)) {
                        bracket.close = Some(at);
                    }
                }
                _ => {}
            }
        }
        brackets
    }

    /// The bracket that fills a span of inline code: models copy markers with the backticks that
    /// our prompts put around them.
    fn find_code_bracket(&self, span: &Range<usize>) -> Option<BracketSpan> {
        let code = self.text.get(span.clone())?;
        let inner = code.trim_matches(['`', ' ']);
        let inside = inner.strip_prefix('[')?.strip_suffix(']')?;
        let open = span.start + code.find('[')?;
        let close = open + 1 + inside.len();
        let is_single = !inside.contains(['[', ']', '\n']);
        is_single.then_some(BracketSpan { open, close: Some(close), code: Some(span.clone()) })
    }
}

/// Whether a text says something: more than a bullet, a number of a list, or punctuation.
pub(crate) fn has_words(text: &str) -> bool {
    skip_bullets(text).contains(char::is_alphanumeric)
}

/// Returns the text from its first word or bracket, after bullets, list numbers and punctuation.
fn skip_bullets(text: &str) -> &str {
    let is_decoration = |sign: char| !sign.is_alphanumeric() && sign != '[';
    let rest = text.trim_start_matches(is_decoration);
    let numbered = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_numbered = numbered.len() < rest.len() && numbered.starts_with(['.', ')']);
    if is_numbered { numbered.trim_start_matches(is_decoration) } else { rest }
}

/// Returns the text of a range without the gaps. A line that contained only markers is dropped,
/// and so are headings and rules at the end, which belong to the next section.
pub(crate) fn text_without_gaps(text: &str, range: Range<usize>, gaps: &[Range<usize>]) -> String {
    let first = gaps.partition_point(|gap| gap.start < range.start);
    let mut gaps = gaps.get(first..).unwrap_or_default().iter().peekable();
    let mut output = String::new();
    let mut start = range.start;
    for line in text.get(range).unwrap_or_default().split_inclusive('\n') {
        let end = start + line.len();
        match gaps.next_if(|gap| gap.end <= end) {
            None => output.push_str(line),
            Some(gap) => {
                let mut kept = text.get(start..gap.start).unwrap_or_default().to_owned();
                let mut at = gap.end;
                while let Some(gap) = gaps.next_if(|gap| gap.end <= end) {
                    join_words(&mut kept, text.get(at..gap.start).unwrap_or_default());
                    at = gap.end;
                }
                join_words(&mut kept, text.get(at..end).unwrap_or_default());
                if has_words(&kept) {
                    output.push_str(&kept);
                }
            }
        }
        start = end;
    }
    let output = output.trim_start_matches(|sign: char| sign == ':' || sign.is_whitespace());
    trim_headings(output).to_owned()
}

/// Appends the text after a removed marker with one space, or none before punctuation.
fn join_words(kept: &mut String, part: &str) {
    let rest = part.trim_start_matches([' ', '\t']);
    if !has_words(kept) {
        // In `- [RE:SUPPORT P0001]: because` the line begins with the marker.
        return kept.push_str(rest.trim_start_matches([':', '-', '–', '—', ',', ' ']));
    }
    kept.truncate(kept.trim_end_matches([' ', '\t']).len());
    let is_joined = rest.is_empty() || rest.starts_with(|sign: char| ".,;:!?)\r\n".contains(sign));
    if !is_joined {
        kept.push(' ');
    }
    kept.push_str(rest);
}

fn trim_headings(text: &str) -> &str {
    let mut text = text.trim_end();
    loop {
        let start = text.rfind('\n').map_or(0, |at| at + 1);
        let last = text.get(start..).unwrap_or_default();
        let is_rule = last.len() >= 3
            && ["-", "*", "_"].iter().any(|sign| last.replace(sign, "").trim().is_empty());
        let is_heading = last.trim_start_matches('#').starts_with(' ') && last.starts_with('#');
        if last.is_empty() || !(is_heading || is_rule) {
            return text;
        }
        text = text.get(..start).unwrap_or_default().trim_end();
    }
}

/// Returns the rest of a line and the lines after it up to a blank line.
pub(crate) fn first_paragraph(text: &str) -> &str {
    let mut end = 0;
    for (place, line) in text.split_inclusive('\n').enumerate() {
        if place > 0 && line.trim().is_empty() {
            break;
        }
        end += line.len();
    }
    let text = text.get(..end).unwrap_or_default().trim();
    text.trim_start_matches([':', '-', '–', '—']).trim_start()
}

/// Returns the content of a code block named Markdown that encloses the whole reply.
fn find_wrapped_body(text: &str) -> Option<Range<usize>> {
    let (event, range) = Parser::new(text).into_offset_iter().next()?;
    let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(name))) = event else { return None };
    let block = text.get(range.clone())?;
    let is_markdown = ["markdown", "md"].contains(&name.to_ascii_lowercase().trim());
    let is_whole = text.get(range.end..)?.trim().is_empty();
    if !(is_markdown && is_whole && is_fence_closed(block)) {
        return None;
    }
    let (first, last) = (block.find('\n')? + 1, block.trim_end().rfind('\n')? + 1);
    Some(range.start + first..range.start + last.max(first))
}

/// Whether the last line of a fenced code block is its closing fence.
fn is_fence_closed(block: &str) -> bool {
    let Some((first, rest)) = block.trim_end().split_once('\n') else { return false };
    let last = rest.rsplit('\n').next().unwrap_or_default();
    let last = last.trim_start_matches([' ', '\t', '>']).trim_end();
    let Some(sign) = first.chars().next() else { return false };
    let length = first.chars().take_while(|other| *other == sign).count();
    last.len() >= length && last.chars().all(|other| other == sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the content of each bracket in order; `!` means an unclosed one.
    fn check(text: &str, expected: &[&str]) {
        let reply = ReplyText::parse(text);
        let lines = reply.prose_lines();
        let found = lines.iter().flat_map(|line| reply.find_brackets(line));
        let found: Vec<&str> = found
            .map(|bracket| bracket.close.map_or("!", |close| &text[bracket.open + 1..close]))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn brackets_close_on_their_line() {
        check("[aa] bb [cc [dd] ee]", &["aa", "cc [dd] ee", "dd"]);
        check("[aa [bb]\n[cc]", &["!", "bb", "cc"]);
        check("aa] [bb]\n- [cc\ndd]", &["bb", "!"]);
    }

    #[test]
    fn code_has_no_brackets_except_inline_code_that_is_one() {
        check("`[aa]` [bb] ``[cc] ` [dd]`` [ee]", &["aa", "bb", "ee"]);
        check("`[aa]\n[bb]` [cc]", &["cc"]);
        check("[aa]\n\n    [bb]\n\n```\n[cc]\n```\n- ~~~\n  [dd]\n  ~~~\n  [ee]", &["aa", "ee"]);
    }

    #[test]
    fn a_fence_that_is_not_closed_is_found() {
        for (text, open) in [("```\na\n```", None), ("a\n~~~~\nb\n~~~", Some(2)), ("```", Some(0))]
        {
            assert_eq!(ReplyText::parse(text).open_fence, open, "{text}");
        }
    }
}
