//! Parses a restatement: the Principal's directive repeated by the model in one sentence on one
//! line.

use super::reading::{Normalised, Read, Unreadable};
use super::refusal::is_refusal;
use super::reply::{declined, said, trimmed};
use crate::domain::conclusion::{Measure, count};

/// Short enough for the Principal to read at a glance and confirm.
const RESTATEMENT_CHARS_MAX: usize = 400;

/// Quotes that models put around a sentence.
const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('\'', '\''), ('‘', '’'), ('«', '»')];

pub fn restatement(reply: &str) -> Normalised<String> {
    let said = said(reply)?;
    let sentence = unquoted(&said);
    if is_refusal(sentence) {
        return Err(declined());
    }
    match fault(sentence) {
        Some(reason) => Err(Unreadable::new(reason)),
        None => Ok(Read { document: sentence.to_owned(), repaired: false, truncated: false }),
    }
}

/// Strips the quotes if they enclose the whole text.
fn unquoted(text: &str) -> &str {
    let inner = QUOTES.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains([*open, *close])).then_some(inner)
    });
    trimmed(inner.unwrap_or(text))
}

fn fault(text: &str) -> Option<String> {
    if !text.chars().any(char::is_alphanumeric) {
        return Some("no sentence".to_owned());
    }
    let characters = text.chars().count();
    if characters > RESTATEMENT_CHARS_MAX {
        return Some(format!("{characters} characters, over {RESTATEMENT_CHARS_MAX}"));
    }
    let lines = text.lines().count();
    if lines > 1 {
        return Some(format!("{lines} lines, where one is due"));
    }
    if text.chars().any(char::is_control) || text.starts_with(['{', '[', '<', '`']) {
        return Some("not plain text".to_owned());
    }
    // A script without sentence marks counts as one sentence.
    let sentences = count(Measure::Sentences, text).unwrap_or(1);
    (sentences > 1).then(|| format!("{sentences} sentences, where one is due"))
}
