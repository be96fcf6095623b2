//! Finds the brackets of a paragraph. A bracket in inline code counts only if it fills the code
//! span: models copy markers together with the backticks that our prompts put around them.
//!
//! **Invariant:** each character is visited a bounded number of times, for any text.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use crate::markers::markdown::ProseLine;

/// Maximum nesting; brackets further out than this count as unclosed.
const NESTING_MAX: usize = 64;

/// A bracket that could contain a marker. Positions are byte offsets in the whole text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BracketSpan {
    /// Offset of the opening character; `inside` is the offset after it.
    pub open: usize,
    pub inside: usize,
    /// Index of its first line in the paragraph.
    pub line: usize,
    pub close: Option<BracketClose>,
    /// The inline code span that it fills.
    pub code: Option<InlineCode>,
}

impl BracketSpan {
    /// Start including the backticks before it.
    pub(crate) fn outer_start(&self) -> usize {
        self.code.map_or(self.open, |code| code.start)
    }
}

/// A span of inline code, backticks included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InlineCode {
    pub start: usize,
    pub end: usize,
    /// The line contains inline code only.
    pub is_alone: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BracketClose {
    /// Offset of the closing character; `after` is the offset behind it.
    pub at: usize,
    pub after: usize,
    pub line: usize,
}

/// Returns the brackets of a paragraph in the order in which they open.
pub(crate) fn find_brackets(text: &str, paragraph: &[ProseLine]) -> Vec<BracketSpan> {
    let spans = find_inline_code(text, paragraph);
    let mut code = spans.iter().peekable();
    let mut brackets: Vec<BracketSpan> = Vec::new();
    let mut open: VecDeque<Option<usize>> = VecDeque::new();
    for (line, row) in paragraph.iter().enumerate() {
        let content = text.get(row.text_start..row.end).unwrap_or_default();
        let is_alone = is_code_only(text, row, &spans);
        for (place, sign) in content.char_indices() {
            let at = row.text_start + place;
            while code.next_if(|span| span.end <= at).is_some() {}
            if let Some(span) = code.peek().filter(|span| span.contains(&at)) {
                if span.start == at && span.end <= row.end {
                    let code = InlineCode { start: at, end: span.end, is_alone };
                    brackets.extend(find_code_bracket(text, code, line));
                }
                continue;
            }
            let after = at + sign.len_utf8();
            match sign {
                '[' | '［' | '【' | '〔' => {
                    let fits = could_begin_marker(content.get(after - row.text_start..));
                    open.push_back(fits.then_some(brackets.len()));
                    if open.len() > NESTING_MAX {
                        open.pop_front();
                    }
                    if fits {
                        let (open, inside) = (at, after);
                        brackets.push(BracketSpan { open, inside, line, close: None, code: None });
                    }
                }
                ']' | '］' | '】' | '〕' => {
                    let opened = open.pop_back().flatten();
                    if let Some(bracket) = opened.and_then(|place| brackets.get_mut(place)) {
                        bracket.close = Some(BracketClose { at, after, line });
                    }
                }
                _ => {}
            }
        }
    }
    brackets
}

/// Returns the bracket that fills a code span, if one does.
fn find_code_bracket(text: &str, code: InlineCode, line: usize) -> Option<BracketSpan> {
    let inner = text.get(code.start..code.end)?.trim_matches('`');
    let bracket = inner.trim();
    let inside = bracket.strip_prefix('[')?.strip_suffix(']')?;
    let fits = could_begin_marker(Some(inside)) && !inside.contains(is_bracket);
    let backticks = text.get(code.start..)?.find(|sign| sign != '`')?;
    let open = code.start + backticks + inner.len() - inner.trim_start().len();
    let at = open + 1 + inside.len();
    let close = Some(BracketClose { at, after: at + 1, line });
    fits.then_some(BracketSpan { open, inside: open + 1, line, close, code: Some(code) })
}

/// Whether a line consists of inline code, emphasis and punctuation only.
fn is_code_only(text: &str, row: &ProseLine, spans: &[Range<usize>]) -> bool {
    let first = spans.partition_point(|span| span.end <= row.text_start);
    let spans = spans.iter().skip(first).take_while(|span| span.end <= row.end);
    let (mut at, mut gaps) = (row.text_start, Vec::new());
    for span in spans {
        gaps.push(at..span.start);
        at = span.end;
    }
    let has_code = !gaps.is_empty();
    gaps.push(at..row.end);
    let says_nothing = |gap: Range<usize>| {
        let gap = text.get(gap).unwrap_or_default();
        gap.trim_matches(|sign: char| sign.is_whitespace() || "*_~,;•–".contains(sign)).is_empty()
    };
    has_code && gaps.into_iter().all(says_nothing)
}

/// Whether a marker could begin like this: a letter after optional spaces and decoration.
fn could_begin_marker(inside: Option<&str>) -> bool {
    /// A marker begins within this many characters.
    const LOOKED_AT_MAX: usize = 8;
    let signs = inside.unwrap_or_default().chars().take(LOOKED_AT_MAX);
    let mut signs = signs.skip_while(|sign| !sign.is_alphanumeric() && !is_bracket(*sign));
    // A single character is shorter than the shortest id.
    let is_letter = signs.next().is_some_and(char::is_alphabetic);
    is_letter && signs.next().is_some_and(|sign| !is_bracket(sign))
}

fn is_bracket(sign: char) -> bool {
    "[]［］【】〔〕".contains(sign)
}

/// Returns the spans of inline code by the CommonMark rule: a run of backticks up to the next run
/// of the same length.
fn find_inline_code(text: &str, paragraph: &[ProseLine]) -> Vec<Range<usize>> {
    let runs: Vec<BacktickRun> =
        paragraph.iter().flat_map(|line| backtick_runs(text, line)).collect();
    // Walk backwards, so that each run finds the next run of its length in constant time.
    let mut next_of: HashMap<usize, usize> = HashMap::new();
    let mut closes: Vec<Option<usize>> = vec![None; runs.len()];
    for (place, run) in runs.iter().enumerate().rev() {
        if let Some(close) = closes.get_mut(place) {
            *close = next_of.get(&(run.length - usize::from(run.is_escaped))).copied();
        }
        next_of.insert(run.length, place);
    }
    let mut spans = Vec::new();
    let mut place = 0;
    while let (Some(run), Some(close)) = (runs.get(place), closes.get(place)) {
        place += 1;
        if let Some(close) = close
            && let Some(end) = runs.get(*close)
        {
            spans.push(run.start..end.start + end.length);
            place = close + 1;
        }
    }
    spans
}

/// A run of consecutive backticks.
struct BacktickRun {
    start: usize,
    length: usize,
    /// A backslash escapes the first backtick.
    is_escaped: bool,
}

fn backtick_runs(text: &str, line: &ProseLine) -> Vec<BacktickRun> {
    let content = text.get(line.text_start..line.end).unwrap_or_default();
    let mut runs: Vec<BacktickRun> = Vec::new();
    let mut backslashes = 0;
    for (place, sign) in content.bytes().enumerate() {
        let start = line.text_start + place;
        if sign == b'`' {
            match runs.last_mut().filter(|run| run.start + run.length == start) {
                Some(run) => run.length += 1,
                None => {
                    runs.push(BacktickRun { start, length: 1, is_escaped: backslashes % 2 == 1 })
                }
            }
        }
        backslashes = if sign == b'\\' { backslashes + 1 } else { 0 };
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markers::markdown::parse_layout;

    /// Checks the content of each bracket in order; `!` means an unclosed one.
    fn check(text: &str, expected: &[&str]) {
        let layout = parse_layout(text);
        let found = layout.paragraphs.iter().flat_map(|paragraph| find_brackets(text, paragraph));
        let found: Vec<&str> = found
            .map(|bracket| bracket.close.map_or("!", |close| &text[bracket.inside..close.at]))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn brackets_close_with_their_own() {
        check("[aa] bb [cc [dd] ee] ［ff］ 【gg]", &["aa", "cc [dd] ee", "dd", "ff", "gg"]);
        check("[aa [bb]", &["!", "bb"]);
        check("aa] [bb]", &["bb"]);
        check("[aa\nb]\n\n[cc\n\nd]", &["aa\nb", "!"]);
        check("[] [1] [!aa] [ **aa]", &["!aa", " **aa"]);
    }

    #[test]
    fn inline_code_holds_no_brackets_but_one_that_fills_it() {
        check("`[aa]` [bb] ``[cc] ` [dd]`` [ee]", &["aa", "bb", "ee"]);
        check("`[aa]\n[bb]` [cc]", &["cc"]);
        check("` [aa] ` `` [bb]`` `[cc] dd` `[e [f]]` `a` ``", &["aa", "bb"]);
        check("\\`[aa]\\` ` [bb]", &["aa", "bb"]);
        check("``` [aa] ` [bb]", &["aa", "bb"]);
        check("[aa `]` bb]", &["aa `]` bb"]);
    }
}
