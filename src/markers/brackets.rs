//! Where brackets open and close in a paragraph, outside of inline code.
//!
//! **Invariant:** every sign is looked at a bounded number of times, whatever the text.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::prose::Line;

/// Brackets in brackets; the outermost of deeper ones count as never closed.
const NESTING_MAX: usize = 64;

/// A bracket that could hold a marker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    /// Of the opening sign, and of what is inside it.
    pub open: usize,
    pub inside: usize,
    /// Which line of the paragraph it opens on.
    pub line: usize,
    pub close: Option<Close>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Close {
    /// Of the closing sign, and of what comes after it.
    pub at: usize,
    pub after: usize,
    pub line: usize,
}

/// The brackets of a paragraph, in the order in which they open.
pub(super) fn brackets(text: &str, paragraph: &[Line]) -> Vec<Bracket> {
    let code = inline_code(text, paragraph);
    let mut code = code.iter().peekable();
    let mut brackets: Vec<Bracket> = Vec::new();
    let mut open: VecDeque<Option<usize>> = VecDeque::new();
    for (line, row) in paragraph.iter().enumerate() {
        let content = text.get(row.text_start..row.end).unwrap_or_default();
        for (place, sign) in content.char_indices() {
            let at = row.text_start + place;
            while code.next_if(|span| span.end <= at).is_some() {}
            if code.peek().is_some_and(|span| span.contains(&at)) {
                continue;
            }
            let after = at + sign.len_utf8();
            match sign {
                '[' | '［' | '【' | '〔' => {
                    let fits = could_begin(content.get(after - row.text_start..));
                    open.push_back(fits.then_some(brackets.len()));
                    if open.len() > NESTING_MAX {
                        open.pop_front();
                    }
                    if fits {
                        brackets.push(Bracket { open: at, inside: after, line, close: None });
                    }
                }
                ']' | '］' | '】' | '〕' => {
                    let opened = open.pop_back().flatten();
                    if let Some(bracket) = opened.and_then(|place| brackets.get_mut(place)) {
                        bracket.close = Some(Close { at, after, line });
                    }
                }
                _ => {}
            }
        }
    }
    brackets
}

/// Whether a marker could begin so: with a letter, after spaces and decoration.
fn could_begin(inside: Option<&str>) -> bool {
    /// A marker that begins further in is none.
    const LOOKED_AT_MAX: usize = 8;
    let signs = inside.unwrap_or_default().chars().take(LOOKED_AT_MAX);
    let mut signs = signs.skip_while(|sign| !sign.is_alphanumeric() && !is_bracket(*sign));
    // One sign alone is not even the shortest id.
    let is_letter = signs.next().is_some_and(char::is_alphabetic);
    is_letter && signs.next().is_some_and(|sign| !is_bracket(sign))
}

fn is_bracket(sign: char) -> bool {
    "[]［］【】〔〕".contains(sign)
}

/// The spans of inline code, as CommonMark finds them: a run of backticks to the next one of its
/// own length.
fn inline_code(text: &str, paragraph: &[Line]) -> Vec<Range<usize>> {
    let runs: Vec<Run> = paragraph.iter().flat_map(|line| runs(text, line)).collect();
    // From the end, so that each run finds the next of any length at once.
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

/// Backticks in a row.
struct Run {
    start: usize,
    length: usize,
    /// A backslash takes the first of them away.
    is_escaped: bool,
}

fn runs(text: &str, line: &Line) -> Vec<Run> {
    let content = text.get(line.text_start..line.end).unwrap_or_default();
    let mut runs: Vec<Run> = Vec::new();
    let mut backslashes = 0;
    for (place, sign) in content.bytes().enumerate() {
        let start = line.text_start + place;
        if sign == b'`' {
            match runs.last_mut().filter(|run| run.start + run.length == start) {
                Some(run) => run.length += 1,
                None => runs.push(Run { start, length: 1, is_escaped: backslashes % 2 == 1 }),
            }
        }
        backslashes = if sign == b'\\' { backslashes + 1 } else { 0 };
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::super::prose::lay_out;
    use super::*;

    /// What the brackets of a text hold, in order; `!` marks one that is never closed.
    fn check(text: &str, expected: &[&str]) {
        let layout = lay_out(text);
        let found = layout.paragraphs.iter().flat_map(|paragraph| brackets(text, paragraph));
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
    fn inline_code_holds_no_brackets() {
        check("`[aa]` [bb] ``[cc] ` [dd]`` [ee]", &["bb", "ee"]);
        check("`[aa]\n[bb]` [cc]", &["cc"]);
        check("\\`[aa]\\` ` [bb]", &["aa", "bb"]);
        check("``` [aa] ` [bb]", &["aa", "bb"]);
        check("[aa `]` bb]", &["aa `]` bb"]);
    }
}
