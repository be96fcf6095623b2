//! Parses a restatement: the Principal's directive repeated by the model in one sentence on one
//! line.

use super::reading::{ParseResult, ParsedReply, UnreadableReply};
use super::refusal::is_refusal;
use super::reply::{refusal_error, trim_blanks, visible_text};
use crate::domain::conclusion::{FormatUnit, count_units};

/// Short enough for the Principal to read at a glance and confirm.
const RESTATEMENT_CHARS_MAX: usize = 400;

/// Quotes that models put around a sentence.
const QUOTES: [(char, char); 5] = [('"', '"'), ('“', '”'), ('\'', '\''), ('‘', '’'), ('«', '»')];

pub fn parse_restatement(reply: &str) -> ParseResult<String> {
    let said = visible_text(reply)?;
    let sentence = strip_quotes(&said);
    if is_refusal(sentence) {
        return Err(refusal_error());
    }
    match sentence_error(sentence) {
        Some(reason) => Err(UnreadableReply::new(reason)),
        None => {
            Ok(ParsedReply { document: sentence.to_owned(), repaired: false, truncated: false })
        }
    }
}

/// Strips the quotes if they enclose the whole text.
fn strip_quotes(text: &str) -> &str {
    let inner = QUOTES.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains([*open, *close])).then_some(inner)
    });
    trim_blanks(inner.unwrap_or(text))
}

fn sentence_error(text: &str) -> Option<String> {
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
    let sentences = count_units(FormatUnit::Sentences, text).unwrap_or(1);
    (sentences > 1).then(|| format!("{sentences} sentences, where one is due"))
}
