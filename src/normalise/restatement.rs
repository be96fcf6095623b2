//! A directive in the words of the model that will hear it: one sentence on one line.

use super::reading::{Normalised, Read, Unreadable};
use super::refusal::is_refusal;
use super::reply::{declined, said, trimmed};
use crate::domain::conclusion::{Measure, count};

/// The Principal reads it at a glance and says yes or no.
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

/// The text without the quotes around it, if it is quoted as a whole.
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
    // A script without marks for it has as many sentences as its writer says.
    let sentences = count(Measure::Sentences, text).unwrap_or(1);
    (sentences > 1).then(|| format!("{sentences} sentences, where one is due"))
}
