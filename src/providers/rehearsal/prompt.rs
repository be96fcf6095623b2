//! Reads the messages sent to the rehearsal panel, and fits replies to a question's format
//! constraint.
//!
//! It depends on the markers that prompting writes and must change with them; its tests use the
//! real ones.

use serde_json::Value;

use crate::domain::ask::AskMessages;
use crate::domain::council::opinion::OpinionReply;
use crate::domain::council::review::PeerReview;
use crate::domain::council::words::{OpinionStance, QuestionMode};
use crate::domain::hidden::is_invisible;
use crate::domain::shortened::{to_one_line, truncate_after};

/// Start of a marker that opens a part.
const OPENING: &str = "\n===== BEGIN ";

/// Longer subjects would be repeated in every sentence.
const SUBJECT_CHARS_MAX: usize = 120;

/// Returns the first line of the fenced question.
pub(super) fn read_subject(user: &str) -> String {
    let text = find_part(user, "QUESTION").unwrap_or(user);
    let subject = text.lines().map(to_plain_line).find(|line| !line.is_empty());
    subject.unwrap_or_else(|| "this".to_owned())
}

/// Returns the text between the markers of a label.
pub(super) fn find_part<'a>(user: &'a str, label: &str) -> Option<&'a str> {
    split_parts(user).into_iter().find(|part| part.label == label).map(|part| part.text)
}

/// Returns the rest of a line of our own that starts with `beginning` and is outside of all parts.
pub(super) fn find_remark<'a>(user: &'a str, beginning: &str) -> Option<&'a str> {
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
pub(super) fn to_plain_line(line: &str) -> String {
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
pub(super) fn is_decision(subject: &str) -> bool {
    const OPEN_QUESTIONS: [&str; 9] =
        ["how", "what", "which", "why", "who", "whom", "whose", "where", "when"];
    let first = subject.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    !OPEN_QUESTIONS.iter().any(|word| word.eq_ignore_ascii_case(first))
}

pub(super) fn read_mode(messages: &AskMessages) -> QuestionMode {
    let system = messages.system.to_ascii_lowercase();
    let said = QuestionMode::ALL.iter().copied().find(|mode| {
        system.contains(&format!("mode: {mode}")) || system.contains(&format!("mode `{mode}`"))
    });
    let otherwise =
        if system.contains("findings") { QuestionMode::Review } else { QuestionMode::General };
    said.unwrap_or(otherwise)
}

/// Returns the files in the messages, as locations of findings.
pub(super) fn read_files(user: &str) -> Vec<String> {
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
pub(super) struct ShownOpinion {
    pub(super) letter: char,
    pub(super) stance: Option<OpinionStance>,
    /// `None` if neutralizing made the JSON invalid.
    pub(super) opinion: Option<OpinionReply>,
}

pub(super) fn read_opinions(user: &str) -> Vec<ShownOpinion> {
    let lettered = lettered_parts(user, "OPINION ");
    let shown = lettered.map(|(letter, text)| {
        let opinion: Option<OpinionReply> = serde_json::from_str(text).ok();
        let stance = opinion.as_ref().map(|opinion| opinion.stance).or_else(|| find_stance(text));
        ShownOpinion { letter, stance, opinion }
    });
    shown.collect()
}

/// Returns the reviews that can be parsed, with their authors' letters.
pub(super) fn read_reviews(user: &str) -> Vec<(char, PeerReview)> {
    let lettered = lettered_parts(user, "REVIEW BY ");
    lettered.filter_map(|(letter, text)| Some((letter, serde_json::from_str(text).ok()?))).collect()
}

fn lettered_parts<'a>(user: &'a str, kind: &'a str) -> impl Iterator<Item = (char, &'a str)> {
    named_parts(user, kind).filter_map(|(name, text)| Some((name.chars().next()?, text)))
}

/// Returns the texts between markers whose label starts with `kind`, with the rest of the label.
pub(super) fn named_parts<'a>(
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
