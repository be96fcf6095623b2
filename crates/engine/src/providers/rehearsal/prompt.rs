//! Reads the messages sent to the rehearsal panel, and fits replies to a question's format
//! constraint.
//!
//! It depends on the markers that prompting writes and must change with them; its tests use the
//! real ones.

use plenary_core::model::ask::AskMessages;
use plenary_core::model::text::{is_invisible, to_one_line, truncate_after};
use plenary_core::protocols::conclusion::format::constraint::{
    FormatConstraint, FormatUnit, find_constraints,
};
use plenary_core::protocols::council::types::{
    OpinionReply, OpinionStance, PeerReview, QuestionMode,
};
use serde_json::Value;

/// Start of a marker that opens a part.
const OPENING: &str = "\n===== BEGIN ";

/// Longer subjects would be repeated in every sentence.
const SUBJECT_CHARS_MAX: usize = 120;

/// Returns the first line of the fenced question.
pub(crate) fn read_subject(user: &str) -> String {
    let text = find_part(user, "QUESTION").unwrap_or(user);
    let subject = text.lines().map(to_plain_line).find(|line| !line.is_empty());
    subject.unwrap_or_else(|| "this".to_owned())
}

/// Returns the text between the markers of a label.
pub(crate) fn find_part<'a>(user: &'a str, label: &str) -> Option<&'a str> {
    split_parts(user).into_iter().find(|part| part.label == label).map(|part| part.text)
}

/// Returns the rest of a line of our own that starts with `beginning` and is outside of all parts.
pub(crate) fn find_remark<'a>(user: &'a str, beginning: &str) -> Option<&'a str> {
    let mut rest = user;
    let in_lines = |text: &'a str| text.lines().find_map(|line| line.strip_prefix(beginning));
    while let Some((_, after)) = next_part(rest) {
        let before = rest.split_once(OPENING).map_or("", |(before, _)| before);
        if let Some(found) = in_lines(before) {
            return Some(found);
        }
        rest = after;
    }
    in_lines(rest)
}

/// Removes invisible characters and their escapes, and shortens the line.
pub(crate) fn to_plain_line(line: &str) -> String {
    let visible = strip_escapes(line);
    truncate_after(&to_one_line(visible.trim_start_matches('\\')), SUBJECT_CHARS_MAX)
}

/// Removes `\u{…}` and the character itself.
fn strip_escapes(text: &str) -> String {
    let mut pieces = text.split("\\u{");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let after = piece.split_once('}').filter(|(code, _)| is_hex(code)).map(|(_, after)| after);
        plain.push_str(after.unwrap_or(piece));
    }
    // A tab separates terms; other invisible characters do not.
    plain.replace('\t', " ").chars().filter(|letter| !is_invisible(*letter)).collect()
}

fn is_hex(code: &str) -> bool {
    (1..=6).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the question asks for a decision.
pub(crate) fn is_decision(subject: &str) -> bool {
    const OPEN_QUESTIONS: [&str; 9] =
        ["how", "what", "which", "why", "who", "whom", "whose", "where", "when"];
    let first = subject.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    !OPEN_QUESTIONS.iter().any(|word| word.eq_ignore_ascii_case(first))
}

pub(crate) fn read_mode(messages: &AskMessages) -> QuestionMode {
    let system = messages.system.to_ascii_lowercase();
    let said = QuestionMode::ALL.iter().copied().find(|mode| {
        system.contains(&format!("mode: {mode}")) || system.contains(&format!("mode `{mode}`"))
    });
    let otherwise =
        if system.contains("findings") { QuestionMode::Review } else { QuestionMode::General };
    said.unwrap_or(otherwise)
}

/// Returns the files in the messages, as locations of findings.
pub(crate) fn read_files(user: &str) -> Vec<String> {
    let of_files = split_parts(user).into_iter().filter(|part| part.label.starts_with("FILE "));
    let first_lines = of_files.filter_map(|part| part.text.lines().next());
    let path = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        Some(line.get("path")?.as_str()?.to_owned())
    };
    first_lines.filter_map(path).collect()
}

/// One opinion as a reviewer or the chair sees it.
#[derive(Debug, Clone)]
pub(crate) struct ShownOpinion {
    pub(crate) letter: char,
    pub(crate) stance: Option<OpinionStance>,
    /// `None` if neutralizing made the JSON invalid.
    pub(crate) opinion: Option<OpinionReply>,
}

pub(crate) fn read_opinions(user: &str) -> Vec<ShownOpinion> {
    let lettered = lettered_parts(user, "OPINION ");
    let shown = lettered.map(|(letter, text)| {
        let opinion: Option<OpinionReply> = serde_json::from_str(text).ok();
        let stance = opinion.as_ref().map(|opinion| opinion.stance).or_else(|| find_stance(text));
        ShownOpinion { letter, stance, opinion }
    });
    shown.collect()
}

/// Returns the reviews that can be parsed, with their authors' letters.
pub(crate) fn read_reviews(user: &str) -> Vec<(char, PeerReview)> {
    let lettered = lettered_parts(user, "REVIEW BY ");
    lettered.filter_map(|(letter, text)| Some((letter, serde_json::from_str(text).ok()?))).collect()
}

fn lettered_parts<'a>(user: &'a str, kind: &'a str) -> impl Iterator<Item = (char, &'a str)> {
    named_parts(user, kind).filter_map(|(name, text)| Some((name.chars().next()?, text)))
}

/// Returns the texts between markers whose label starts with `kind`, with the rest of the label.
pub(crate) fn named_parts<'a>(
    user: &'a str,
    kind: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let of_kind = move |part: MessagePart<'a>| Some((part.label.strip_prefix(kind)?, part.text));
    split_parts(user).into_iter().filter_map(of_kind)
}

/// Text between two markers.
#[derive(Debug)]
struct MessagePart<'a> {
    label: &'a str,
    text: &'a str,
}

/// Splits a message into parts. Only the closing marker that belongs to the opening one ends a
/// part.
fn split_parts(user: &str) -> Vec<MessagePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = user;
    while let Some((part, after)) = next_part(rest) {
        parts.push(part);
        rest = after;
    }
    parts
}

fn next_part(rest: &str) -> Option<(MessagePart<'_>, &str)> {
    let (_, opened) = rest.split_once(OPENING)?;
    let (name, body) = opened.split_once(" =====\n")?;
    let (text, after) = body.split_once(&format!("\n===== END {name} ====="))?;
    let (label, _mark) = name.rsplit_once(' ')?;
    Some((MessagePart { label, text }, after))
}

/// Returns the first stance in a text.
fn find_stance(text: &str) -> Option<OpinionStance> {
    let (_, after) = text.split_once("\"stance\"")?;
    let word = after.split(|letter: char| !letter.is_alphabetic()).find(|word| !word.is_empty())?;
    OpinionStance::named(word)
}

/// Limit for any number the question asks for.
const PIECES_MAX: usize = 300;
const WORDS_MAX: usize = 3_000;

/// Number of pieces if the question leaves it open.
const PIECES: usize = 3;

/// Filler sentences by length: index 0 has one term.
const FILLER_SENTENCES: [&[&str]; 9] = [
    &["Begin.", "Measure.", "Review."],
    &["Begin small.", "Measure early.", "Review often."],
    &["Name an owner.", "Try the return.", "Keep a record."],
    &["Begin with one team.", "Try the way back.", "Agree on one measure."],
    &["Keep the way back open.", "Write down the first result.", "Ask those who will pay."],
    &[
        "Agree on one measure of success.",
        "Look at it after a month.",
        "Begin with one small team only.",
    ],
    &[
        "Try the way back before you start.",
        "Count what it costs to go back.",
        "Write down what would be a failure.",
    ],
    &[
        "Go on only if the first step held.",
        "Begin with a step that can be undone.",
        "Ask those who would have to carry it.",
    ],
    &[
        "Set one date for looking at it once more.",
        "Do not widen it before its cost is understood.",
        "Give one person the right to end it early.",
    ],
];

/// Returns the draft, or a version of it that meets the constraint.
pub(crate) fn shape_draft(question: &str, draft: &str) -> Option<String> {
    let wishes = find_constraints(question);
    let wish = |measure| wishes.iter().find(|wish| wish.measure == measure).copied();
    let bullets = wish(FormatUnit::Bullets).map(|wish| allowed_amount(wish, PIECES, PIECES_MAX));
    let lines = wish(FormatUnit::Lines)
        .map(|wish| allowed_amount(wish, bullets.unwrap_or(PIECES), PIECES_MAX));
    let pieces = lines.or(bullets);
    let sentences = wish(FormatUnit::Sentences)
        .map(|wish| allowed_amount(wish, pieces.unwrap_or(PIECES), PIECES_MAX))
        .or(pieces);
    let words = wish(FormatUnit::Words).map(|wish| allowed_amount(wish, 60, WORDS_MAX));
    let said = match (sentences, words) {
        (None, None) => return None,
        (Some(sentences), None) => fill_sentences(draft, sentences),
        (Some(sentences), Some(words)) => fill_both(sentences, words),
        (None, Some(words)) => fill_words(words),
    };
    Some(lay_out_lines(&said, pieces.unwrap_or(1), bullets.unwrap_or(0)))
}

/// Returns the allowed number nearest to the natural one.
fn allowed_amount(wish: FormatConstraint, natural: usize, max: usize) -> usize {
    let most = wish.amount.max_count().unwrap_or(usize::MAX);
    natural.max(wish.amount.min_count()).min(most).min(max)
}

/// Takes the draft's sentences, then fillers; may return fewer than the draft has.
fn fill_sentences(draft: &str, count: usize) -> Vec<String> {
    let own = draft.split_inclusive(". ").map(|sentence| sentence.trim().to_owned());
    let further = (0..).map(|place| filler_sentence(5 + place % 4, place / 4));
    own.chain(further).take(count).collect()
}

/// Returns sentences with this total length.
fn fill_words(words: usize) -> Vec<String> {
    let longest = FILLER_SENTENCES.len();
    let mut lengths = vec![longest; words / longest];
    lengths.extend(Some(words % longest).filter(|rest| *rest > 0));
    lengths.iter().enumerate().map(|(place, length)| filler_sentence(*length, place)).collect()
}

/// Returns this many sentences with this total length, evenly distributed.
fn fill_both(sentences: usize, words: usize) -> Vec<String> {
    let (each, rest) = (words / sentences.max(1), words % sentences.max(1));
    let length = |place: usize| each + usize::from(place < rest);
    (0..sentences).map(|place| filler_sentence(length(place), place)).collect()
}

/// Returns a sentence of this length; two are joined for a long one.
fn filler_sentence(words: usize, place: usize) -> String {
    let longest = FILLER_SENTENCES.len();
    if words > longest {
        let first = filler_sentence(longest, place);
        let second = filler_sentence(words - longest, place + 1);
        let (start, letters) = second.split_at(second.chars().next().map_or(0, char::len_utf8));
        return format!("{}, {}{letters}", first.trim_end_matches('.'), start.to_lowercase());
    }
    let of_length = FILLER_SENTENCES.get(words.max(1) - 1).copied().unwrap_or_default();
    let sentence = of_length.iter().cycle().nth(place % of_length.len().max(1));
    sentence.copied().unwrap_or_default().to_owned()
}

/// Arranges sentences in lines; the last ones become bullets.
fn lay_out_lines(said: &[String], lines: usize, bullets: usize) -> String {
    let mut texts: Vec<String> = said.iter().take(lines).cloned().collect();
    // Sentences without a line of their own follow on the last one.
    if let Some(last) = texts.last_mut() {
        for more in said.iter().skip(lines) {
            last.push_str(&format!(" {more}"));
        }
    }
    let unmarked = texts.len().saturating_sub(bullets);
    for bullet in texts.iter_mut().skip(unmarked) {
        bullet.insert_str(0, "- ");
    }
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use plenary_core::protocols::conclusion::format::count::count_units;

    use super::*;

    #[test]
    fn the_stock_has_sentences_of_every_length() {
        for (words, place) in (1..=40).flat_map(|words| (0..3).map(move |place| (words, place))) {
            let sentence = filler_sentence(words, place);
            assert_eq!(count_units(FormatUnit::Words, &sentence), Some(words), "{sentence}");
            assert_eq!(count_units(FormatUnit::Sentences, &sentence), Some(1), "{sentence}");
        }
    }

    #[test]
    fn a_question_that_asks_for_hundreds_gets_what_somebody_would_read() {
        let text = shape_draft("Should we? Answer in exactly 900 lines.", "Yes.").unwrap();
        assert_eq!(count_units(FormatUnit::Lines, &text), Some(PIECES_MAX));
        assert_eq!(shape_draft("Should we?", "Yes."), None);
    }
}
