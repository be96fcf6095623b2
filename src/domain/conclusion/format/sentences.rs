//! Counts sentences, and skips points that end none.

use super::count::strip_bullet;
use super::vocabulary::{NEVER_LAST, WordList};

/// Before a number, a point after these words ends no sentence.
const BEFORE_NUMBERS: WordList = WordList("no nos fig figs sec eq vol pp");

/// A single letter after a name or one of these words is an initial.
const BEFORE_INITIALS: WordList = WordList("by from with and of to per");

/// A single letter after one of these words names a choice.
const BEFORE_CHOICES: WordList = WordList(
    "option plan vitamin type class group version variant case appendix section candidate team \
     figure table tier grade scenario choice phase",
);

/// End a sentence if a space and a capital letter follow.
const ENDS: [char; 7] = ['.', '!', '?', '…', '؟', '۔', '।'];

/// End a sentence at any position.
const FULL_WIDTH_ENDS: [char; 4] = ['。', '！', '？', '｡'];

/// May come between the end mark and the space.
const CLOSERS: [char; 13] = ['"', '\'', ')', ']', '}', '”', '’', '»', '」', '』', '）', '*', '_'];

/// Maximum number of quotes, brackets and emphasis marks before a sentence's first letter.
const OPENERS_MAX: usize = 8;

/// Counts the sentences of a text.
pub(super) fn count_sentences(text: &str) -> usize {
    let has_capitals = text.chars().any(char::is_uppercase);
    split_passages(text).iter().map(|passage| count_in_passage(passage, has_capitals)).sum()
}

/// Splits a text where no sentence continues: at list items, at paragraphs, and at lines that do
/// not continue the line before.
fn split_passages(text: &str) -> Vec<String> {
    let mut passages: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if line.trim().is_empty() {
            is_open &= passages.last().is_some_and(|passage| passage.ends_with(':'));
            continue;
        }
        let item = strip_bullet(line);
        let said = item.unwrap_or(line).trim();
        let continues = item.is_none() && said.starts_with(char::is_lowercase);
        match passages.last_mut() {
            // Text after a colon belongs to the sentence that announces it.
            Some(last) if is_open && (continues || last.ends_with(':')) => {
                last.push(' ');
                last.push_str(said);
            }
            Some(_) | None => passages.push(said.to_owned()),
        }
        is_open = true;
    }
    passages
}

fn count_in_passage(passage: &str, has_capitals: bool) -> usize {
    let mut count = 0;
    // True after the first letter or digit since the last sentence ended.
    let mut is_begun = false;
    let mut passed = 0;
    for (place, mark) in passage.char_indices() {
        if place < passed {
            continue;
        }
        is_begun |= mark.is_alphanumeric();
        if !is_begun || !is_end_mark(mark) {
            continue;
        }
        let (said, rest) = passage.split_at(place);
        let after = rest.trim_start_matches(is_end_mark).trim_start_matches(CLOSERS);
        let is_point = rest.starts_with(". ");
        let ends = FULL_WIDTH_ENDS.contains(&mark)
            || (is_sentence_end(after, has_capitals)
                && !(is_point && is_abbreviation_point(said, after)));
        passed = passage.len() - after.len();
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
    if next.len() == after.len() && !next.is_empty() {
        return false;
    }
    let first = next.chars().take(OPENERS_MAX).find(|letter| letter.is_alphanumeric());
    first.is_none_or(|letter| !has_capitals || !letter.is_lowercase())
}

/// Returns true if a point belongs to the word before it: an abbreviation, an initial, or the
/// number of an item.
fn is_abbreviation_point(said: &str, after: &str) -> bool {
    let is_edge = |letter: char| "([{\"'“‘*_".contains(letter);
    let mut words = said.split_whitespace().rev().map(|word| word.trim_start_matches(is_edge));
    let Some(word) = words.next() else { return false };
    let before = words.next().unwrap_or_default();
    let Some(next) = after.trim_start().chars().next() else { return false };
    let lower = word.to_lowercase();
    if NEVER_LAST.contains_word(&lower)
        || (next.is_ascii_digit() && BEFORE_NUMBERS.contains_word(&lower))
    {
        return true;
    }
    let is_number = word.chars().all(|letter| letter.is_ascii_digit());
    // `Reasons: 1. cost`, but not `it costs 5. Then`.
    if is_number && (before.is_empty() || before.ends_with([':', ';', ','])) {
        return true;
    }
    let mut letters = word.chars();
    let is_letter = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    is_letter && is_before_initial(before)
}

fn is_before_initial(before: &str) -> bool {
    let lower = before.to_lowercase();
    let is_name = before.starts_with(char::is_uppercase) && before.chars().nth(1).is_some();
    let is_initial = before.ends_with('.') && before.starts_with(char::is_uppercase);
    // `A. Smith` at the start, or `A. The first choice`: the letter belongs to the next word.
    before.is_empty()
        || BEFORE_INITIALS.contains_word(&lower)
        || is_initial
        || (is_name && !BEFORE_CHOICES.contains_word(&lower))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("It was shown by J. Smith. We agree.", 2),
            ("George W. Bush said so.", 1),
            ("J. R. R. Tolkien wrote it.", 1),
            ("Wait... what?", 1),
            ("Wait… Then ship.", 2),
            ("He said \"Stop!\" and left.", 1),
            ("He said \"Stop.\" We did.", 2),
            ("(Ship it.) Then rest.", 2),
            ("**Ship it.** Then rest.", 2),
            ("ship it. watch it. done.", 3),
            ("Ship it.\nWatch it.", 2),
            ("Ship it\nWatch it", 2),
            ("Ship it and\nwatch it.", 1),
            ("- Ship it\n- Watch it\n- Rest", 3),
            ("Three reasons:\n- cost.\n- time.\n- risk.", 3),
            ("Three reasons: 1. cost, 2. time.", 1),
            ("1. Ship it.\n2. Watch it.", 2),
            ("我们应该发布。为什么？因为便宜！", 3),
            ("「発布する。」そして見る。", 2),
            ("क्या करें। जाओ।", 2),
            ("See foo.rs and docs.rs today.", 1),
            ("Ship it.\n\nWatch it.", 2),
            ("Is it wise? No. We wait.", 3),
            ("See No. 5 and Fig. 3 there.", 1),
            ("...", 0),
        ] {
            assert_eq!(count_sentences(text), expected, "{text:?}");
        }
    }
}
