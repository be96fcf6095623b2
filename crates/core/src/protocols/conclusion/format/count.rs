//! Counts lines, paragraphs, bullets, sentences and words of a text, as a reader would.

use crate::protocols::conclusion::format::constraint::FormatUnit;

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
        FormatUnit::Paragraphs => Some(count_paragraphs(&text)),
    }
}

/// Treats an escaped break as a break, because models write `\\n` in JSON.
fn unescape_breaks(text: &str) -> String {
    text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\r\n", "\n").replace('\r', "\n")
}

/// Skips blank lines: they separate paragraphs, and padding with them must not change the count.
fn content_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// Counts the blocks of lines between blank lines.
fn count_paragraphs(text: &str) -> usize {
    let mut is_after_blank = true;
    let mut count = 0;
    for line in text.lines() {
        let is_blank = line.trim().is_empty();
        count += usize::from(is_after_blank && !is_blank);
        is_after_blank = is_blank;
    }
    count
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
fn strip_bullet(line: &str) -> Option<&str> {
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

/// Abbreviations whose point ends no sentence.
const ABBREVIATIONS: [&str; 10] = ["dr", "mr", "mrs", "ms", "prof", "st", "vs", "e.g", "i.e", "cf"];

/// End a sentence if a space and a capital letter follow.
const ENDS: [char; 7] = ['.', '!', '?', '…', '؟', '۔', '।'];

/// End a sentence at any position.
const FULL_WIDTH_ENDS: [char; 4] = ['。', '！', '？', '｡'];

/// May come between the end mark and the space.
const CLOSERS: [char; 13] = ['"', '\'', ')', ']', '}', '”', '’', '»', '」', '』', '）', '*', '_'];

/// Maximum number of quotes, brackets and emphasis marks before a sentence's first letter.
const OPENERS_MAX: usize = 8;

/// Counts the sentences of a text. A line break ends a sentence.
fn count_sentences(text: &str) -> usize {
    let has_capitals = text.chars().any(char::is_uppercase);
    let count_line = |line| count_line_sentences(strip_bullet(line).unwrap_or(line), has_capitals);
    content_lines(text).map(count_line).sum()
}

fn count_line_sentences(line: &str, has_capitals: bool) -> usize {
    let mut count = 0;
    // True after the first letter or digit since the last sentence ended.
    let mut is_begun = false;
    let mut passed = 0;
    for (place, mark) in line.char_indices().filter(|(_, mark)| !mark.is_whitespace()) {
        is_begun |= mark.is_alphanumeric();
        if place < passed || !is_begun || !is_end_mark(mark) {
            continue;
        }
        let (before, rest) = line.split_at(place);
        let after = rest.trim_start_matches(is_end_mark).trim_start_matches(CLOSERS);
        let ends = FULL_WIDTH_ENDS.contains(&mark)
            || (is_sentence_end(after, has_capitals)
                && !(rest.starts_with(". ") && is_abbreviated(before)));
        passed = line.len() - after.len();
        count += usize::from(ends);
        is_begun &= !ends;
    }
    // The last sentence may have no end mark.
    count + usize::from(is_begun)
}

fn is_end_mark(letter: char) -> bool {
    ENDS.contains(&letter) || FULL_WIDTH_ENDS.contains(&letter)
}

/// Returns true if a sentence can end here: at the end of the text, or where another starts. A text
/// without capital letters only needs a space.
fn is_sentence_end(after: &str, has_capitals: bool) -> bool {
    let next = after.trim_start();
    let is_apart = next.is_empty() || next.len() < after.len();
    let first = next.chars().take(OPENERS_MAX).find(|letter| letter.is_alphanumeric());
    is_apart && first.is_none_or(|letter| !has_capitals || !letter.is_lowercase())
}

fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next();
    ABBREVIATIONS.contains(&word.unwrap_or_default().to_lowercase().as_str())
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

    #[test]
    fn paragraphs_are_between_blank_lines() {
        for (text, expected) in
            [("", 0), ("one", 1), ("one\ntwo", 1), ("\none\n\n \ntwo\n", 2), ("one\\n\\ntwo", 2)]
        {
            check(FormatUnit::Paragraphs, text, expected);
        }
    }

    #[test]
    fn sentences_end_where_readers_end_them() {
        for (text, expected) in [
            ("", 0),
            (" … ", 0),
            ("Ship it", 1),
            ("Ship it.", 1),
            ("Ship it. Watch it.", 2),
            ("Ship it! Really? Yes.", 3),
            ("Ship it?! Yes...", 2),
            ("Use version 3.5 at 99.9 % load.", 1),
            ("It costs $5. Then it pays.", 2),
            ("Ask Dr. Smith, e.g. today, vs. Mr. Jones.", 1),
            ("We need tools, e.g. Kafka, i.e. a log.", 1),
            ("We need logs, metrics etc. Then we ship.", 2),
            ("Meet at 9 a.m. and leave.", 1),
            ("The U.S. market is open.", 1),
            ("Choose option A. It is cheaper.", 2),
            ("The answer is B. Use it.", 2),
            ("Wait... what?", 1),
            ("Wait… Then ship.", 2),
            ("He said \"Stop!\" and left.", 1),
            ("He said \"Stop.\" We did.", 2),
            ("(Ship it.) Then rest.", 2),
            ("**Ship it.** Then rest.", 2),
            ("ship it. watch it. done.", 3),
            ("Ship it.\nWatch it.", 2),
            ("Ship it\nWatch it", 2),
            ("- Ship it\n- Watch it\n- Rest", 3),
            ("1. Ship it.\n2. Watch it.", 2),
            ("我们应该发布。为什么？因为便宜！", 3),
            ("「発布する。」そして見る。", 2),
            ("क्या करें। जाओ।", 2),
            ("See foo.rs and docs.rs today.", 1),
            ("Ship it.\n\nWatch it.", 2),
            ("Is it wise? No. We wait.", 3),
            ("...", 0),
        ] {
            assert_eq!(count_sentences(text), expected, "{text:?}");
        }
    }
}
