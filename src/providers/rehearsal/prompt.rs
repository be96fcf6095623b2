//! What the rehearsal panel takes from the messages it is sent.
//!
//! It looks for the marks that prompting leaves: this file is what has to follow
//! when those change.

use crate::domain::ask::Messages;
use crate::domain::council::words::{Mode, Stance};

/// What is longer would be quoted on every line of the replies.
const SUBJECT_CHARS_MAX: usize = 120;

/// What was asked, in one line: the first line of the fenced question.
pub(super) fn subject(user: &str) -> String {
    let mut lines = user.lines().skip_while(|line| !line.contains("QUESTION")).skip(1);
    let first = lines.find(|line| !line.trim().is_empty());
    let fenced = first.filter(|line| !line.contains("QUESTION")).map(plain);
    let subject = fenced.filter(|text| !text.is_empty()).unwrap_or_else(|| plain(user));
    if subject.is_empty() { "this".to_owned() } else { subject }
}

/// A text without what cannot be seen, without escapes that show it, and not too long.
fn plain(text: &str) -> String {
    let visible = without_escapes(text);
    let words: Vec<&str> = visible.split_whitespace().collect();
    let line = words.join(" ");
    let mut cut: String = line.chars().take(SUBJECT_CHARS_MAX).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

/// Drops `\u{…}` and `\x…` as well as what they stand for.
fn without_escapes(text: &str) -> String {
    let mut pieces = text.split("\\u{");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let after = piece.split_once('}').filter(|(code, _)| is_hex(code)).map(|(_, after)| after);
        plain.push_str(after.unwrap_or(piece));
    }
    // A line break or a tab parts words; anything else that is not seen parts nothing.
    plain.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| is_seen(*c)).collect()
}

fn is_hex(code: &str) -> bool {
    (1..=6).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Not a control, not a mark of direction, not without width, not a tag.
fn is_seen(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether something is to be decided, rather than explained or found.
pub(super) fn is_decision(subject: &str) -> bool {
    const OPEN: [&str; 9] =
        ["how", "what", "which", "why", "who", "whom", "whose", "where", "when"];
    let first = subject.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    !OPEN.iter().any(|word| word.eq_ignore_ascii_case(first))
}

pub(super) fn mode(messages: &Messages) -> Mode {
    let system = messages.system.to_ascii_lowercase();
    let said = Mode::ALL.iter().copied().find(|mode| {
        system.contains(&format!("mode: {mode}")) || system.contains(&format!("mode `{mode}`"))
    });
    let otherwise = if system.contains("findings") { Mode::Review } else { Mode::General };
    said.unwrap_or(otherwise)
}

/// Files that the messages name, for findings to be located in.
pub(super) fn files(user: &str) -> Vec<&str> {
    let mut files: Vec<&str> = user.lines().filter_map(file_named_in).collect();
    files.dedup();
    files
}

/// The path on a line that begins with `file`, whatever marks stand around it.
fn file_named_in(line: &str) -> Option<&str> {
    let (word, rest) = first_word(line)?;
    let path = rest.trim_start_matches([':', ' ', '`', '"']).split([' ', '`', '"', '>']).next()?;
    (word.eq_ignore_ascii_case("file") && path.contains('.')).then_some(path)
}

/// One opinion among the others, as a reviewer or the chair is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown<'a> {
    pub(super) letter: char,
    pub(super) stance: Option<Stance>,
    pub(super) text: &'a str,
}

/// The opinions in a message, each from its heading to the next.
pub(super) fn opinions(user: &str) -> Vec<Shown<'_>> {
    let user = after_question(user);
    let mut opinions: Vec<Shown<'_>> = Vec::new();
    let headings: Vec<(usize, Option<char>)> = headings(user).collect();
    let ends = headings.iter().skip(1).map(|(start, _)| *start).chain([user.len()]);
    for ((start, letter), end) in headings.iter().zip(ends) {
        let (Some(letter), Some(text)) = (*letter, user.get(*start..end)) else { continue };
        // The line that closes a fence names the letter once more.
        if !opinions.iter().any(|shown| shown.letter == letter) {
            opinions.push(Shown { letter, stance: stance(text), text });
        }
    }
    opinions
}

/// Where parts of a message begin: an opinion's letter, or nothing for another part.
fn headings(user: &str) -> impl Iterator<Item = (usize, Option<char>)> {
    let mut place = 0;
    user.split_inclusive('\n').filter_map(move |line| {
        let start = place;
        place += line.len();
        let (word, rest) = first_word(line)?;
        match word.to_ascii_lowercase().as_str() {
            "opinion" => letter(rest).map(|letter| (start, Some(letter))),
            "review" => Some((start, None)),
            _ => None,
        }
    })
}

fn letter(rest: &str) -> Option<char> {
    let mut chars = rest.strip_prefix(' ')?.chars();
    let letter = chars.next().filter(char::is_ascii_uppercase)?;
    chars.next().is_none_or(|next| !next.is_alphanumeric()).then_some(letter)
}

/// The first word of a line, without the marks that a heading or a fence puts before it.
fn first_word(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let line = line.strip_prefix("BEGIN ").unwrap_or(line);
    let end = line.find(|c: char| !c.is_alphabetic()).unwrap_or(line.len());
    line.split_at_checked(end).filter(|(word, _)| !word.is_empty())
}

/// What follows the fenced question, which may speak of opinions itself.
fn after_question(user: &str) -> &str {
    let fence = user.match_indices("QUESTION").nth(1);
    fence.and_then(|(place, _)| user.get(place..)).unwrap_or(user)
}

/// The first stance that a text names after the word.
fn stance(text: &str) -> Option<Stance> {
    let place = text.to_ascii_lowercase().find("stance")?;
    let after = text.get(place + "stance".len()..)?;
    let word = after.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty())?;
    Stance::named(&word.to_ascii_lowercase())
}
