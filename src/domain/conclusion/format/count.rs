//! Counts lines, bullets, sentences and words of a text, as a reader would.

use super::sentences::count_sentences;
use super::wish::FormatUnit;

/// Indentation that starts a new list level; less is treated as sloppy formatting.
const LEVEL_SPACES: usize = 2;

/// Counts the units; `None` if the script does not mark words and sentences.
pub fn count_units(measure: FormatUnit, text: &str) -> Option<usize> {
    let text = unescape_breaks(text);
    match measure {
        FormatUnit::Lines => Some(content_lines(&text).count()),
        FormatUnit::Bullets => Some(count_bullets(&text)),
        FormatUnit::Sentences => is_countable(&text).then(|| count_sentences(&text)),
        FormatUnit::Words => is_countable(&text).then(|| count_words(&text)),
    }
}

/// Treats an escaped break as a break, because models write `\\n` in JSON.
fn unescape_breaks(text: &str) -> String {
    text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\r\n", "\n").replace('\r', "\n")
}

/// Skips blank lines: they separate paragraphs, and padding with them must not change the count.
pub(super) fn content_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// Counts the bullets of the outermost level; nested bullets belong to their parent.
fn count_bullets(text: &str) -> usize {
    let marked = content_lines(text).filter(|line| strip_bullet(line).is_some());
    let indents: Vec<usize> = marked.map(indent_width).collect();
    let outermost = indents.iter().min().copied().unwrap_or(0);
    indents.iter().filter(|indent| **indent < outermost + LEVEL_SPACES).count()
}

fn indent_width(line: &str) -> usize {
    let spaces = line.chars().take_while(|letter| letter.is_whitespace());
    spaces.map(|space| if space == '\t' { LEVEL_SPACES } else { 1 }).sum()
}

/// Returns the text after a bullet mark, if the line starts with one.
pub(super) fn strip_bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = strip_sign(line).or_else(|| strip_numeral(line))?;
    // `**bold**`, `-5` and `1.5` start no item.
    let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let needs_no_space = line.starts_with(['•', '‣', '◦', '●', '▪', '・']);
    (is_apart || needs_no_space).then(|| rest.trim_start())
}

fn strip_sign(line: &str) -> Option<&str> {
    line.strip_prefix(['-', '*', '+', '•', '–', '—', '‣', '◦', '●', '▪', '·', '・'])
}

/// `1.`, `1)`, `(1)` and `a)`.
fn strip_numeral(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('(').unwrap_or(line);
    let digits = inner.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if digits.len() < inner.len() {
        return digits.strip_prefix(['.', ')']);
    }
    let letter = inner.strip_prefix(|letter: char| letter.is_ascii_alphabetic())?;
    letter.strip_prefix(')')
}

/// Counts parts between spaces and dashes that contain a letter or a digit. In a script without
/// spaces each character counts as a word, as its writers count. Bullet marks do not count.
fn count_words(text: &str) -> usize {
    let line = |line| count_line_words(strip_bullet(line).unwrap_or(line));
    content_lines(text).map(line).sum()
}

fn count_line_words(line: &str) -> usize {
    let parts = line.split(|letter: char| letter.is_whitespace() || letter == '—');
    let count = |part: &str| {
        let characters = part.chars().filter(|letter| is_ideograph(*letter)).count();
        let others = part.split(is_ideograph);
        characters + others.filter(|other| other.chars().any(char::is_alphanumeric)).count()
    };
    parts.map(count).sum()
}

/// Han, Hiragana and Katakana.
fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Thai, Lao, Myanmar, Khmer and similar scripts separate neither words nor sentences by signs.
fn is_countable(text: &str) -> bool {
    let is_unparted = |letter| {
        matches!(letter, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}')
    };
    !text.chars().any(is_unparted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(measure: FormatUnit, text: &str, expected: usize) {
        assert_eq!(count_units(measure, text), Some(expected), "{measure} of {text:?}");
    }

    #[test]
    fn lines_are_those_that_say_something() {
        for (text, expected) in [
            ("", 0),
            (" \n\t", 0),
            ("one", 1),
            ("one\n", 1),
            ("\none\ntwo", 2),
            ("one\n\n\ntwo\n \nthree\n", 3),
            ("one\r\ntwo\rthree", 3),
            ("one\\ntwo", 2),
            ("one\\r\\ntwo\\n\\nthree", 3),
            ("一\n二\n三", 3),
        ] {
            check(FormatUnit::Lines, text, expected);
        }
    }

    #[test]
    fn bullets_are_lines_with_a_mark() {
        for (text, expected) in [
            ("", 0),
            ("- a\n* b\n• c\n– d\n+ e", 5),
            ("1. a\n2) b\n(3) c\nd) e", 4),
            ("•a\n•b", 2),
            ("Because:\n- a\n- b\nSo do it.", 2),
            ("- a\\n- b\\n- c", 3),
            ("**bold**\n-5 degrees\n1.5 million\n---\nand - so - on", 0),
            ("- a\n  - nested\n  - nested\n- b", 2),
            ("  - a\n  - b\n   - sloppy", 3),
            ("1. a\n\t- nested\n2. b", 2),
            ("- one - two - three", 1),
        ] {
            check(FormatUnit::Bullets, text, expected);
        }
    }

    #[test]
    fn words_hold_a_letter_or_a_digit() {
        for (text, expected) in [
            ("", 0),
            ("one", 1),
            ("well-known state-of-the-art", 2),
            ("yes—but no", 3),
            ("yes — but -- no …", 3),
            ("- one\n2. two\n", 2),
            ("don't stop 3.5 %", 3),
            ("3.5% of C++", 3),
            ("one\\ntwo", 2),
            ("我们应该发布。", 6),
            ("使用 Rust 语言", 5),
            ("배포해야 합니다", 2),
        ] {
            check(FormatUnit::Words, text, expected);
        }
        assert_eq!(count_units(FormatUnit::Words, "เราควรปล่อย"), None);
        assert_eq!(count_units(FormatUnit::Sentences, "เราควรปล่อย"), None);
    }
}
