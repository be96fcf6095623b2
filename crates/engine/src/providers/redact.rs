//! Cleans text from servers and programs for messages and the record: one short line, secrets
//! masked. Called by all transports.

use anstream::adapter::strip_str;
use plenary_core::model::text::{is_invisible, to_one_line, truncate_within};
use secrecy::ExposeSecret;

use crate::providers::transport::Provider;

/// Fits a server's explanation and still fits a table cell.
pub(crate) const MESSAGE_CHARS_MAX: usize = 300;

/// Characters of a text that are examined; the result is shorter anyway.
const TEXT_CHARS_MAX: usize = 4_000;

/// A run of this many key characters counts as a leak. Servers show shorter runs on purpose to
/// identify the key.
const KEY_RUN_CHARS_MIN: usize = 8;

const MASK: &str = "***";

/// Cleans a message about a provider and masks its key.
pub(crate) fn clean_message(provider: &Provider, text: &str) -> String {
    let line = to_plain_line(text);
    let line = match &provider.key {
        Some(key) => {
            let key = key.expose_secret();
            mask_runs(&line, key, key.chars().count().min(KEY_RUN_CHARS_MIN))
        }
        None => line,
    };
    truncate_within(&line, MESSAGE_CHARS_MAX)
}

/// Cleans a program's output and masks the secrets.
pub(crate) fn clean_output(text: &str, secrets: &[String]) -> String {
    // Also mask short secrets here: an error message loses little by it.
    let line = secrets.iter().fold(to_plain_line(text), |line, secret| line.replace(secret, MASK));
    truncate_within(&mask_secrets(line, secrets), MESSAGE_CHARS_MAX)
}

/// Masks each secret in a text of any length, and any run of at least half of it.
///
/// Secrets shorter than a key can be are left alone: values such as `none` and `local` are
/// placeholders for servers that need some key, and ordinary text contains them.
pub(crate) fn mask_secrets(text: String, secrets: &[String]) -> String {
    let long = secrets.iter().filter(|secret| secret.chars().count() >= KEY_RUN_CHARS_MIN);
    long.fold(text, |text, secret| {
        let run_min = secret.chars().count().div_ceil(2).max(KEY_RUN_CHARS_MIN);
        let written = serde_json::Value::from(secret.as_str()).to_string();
        // JSON may escape characters of the key; mask the escaped form too.
        let text = text.replace(written.trim_matches('"'), MASK);
        if may_contain(&text, secret, run_min) { mask_runs(&text, secret, run_min) } else { text }
    })
}

/// Where the end of a text begins that the next chunk may complete to a secret, or to a run of one.
pub(crate) fn secret_end_start(text: &str, secrets: &[String]) -> usize {
    let start = |secret: &str| {
        let starts = text.char_indices().rev().map(|(start, _)| start);
        let is_part = |start: &usize| text.get(*start..).is_some_and(|end| secret.contains(end));
        starts.take_while(is_part).last().unwrap_or(text.len())
    };
    let long = secrets.iter().filter(|secret| secret.chars().count() >= KEY_RUN_CHARS_MIN);
    let starts = long.map(|secret| {
        let written = serde_json::Value::from(secret.as_str()).to_string();
        start(secret).min(start(written.trim_matches('"')))
    });
    starts.min().unwrap_or(text.len())
}

/// Fast pre-check: every run to be masked contains one of the key's half-run pieces.
fn may_contain(text: &str, key: &str, run_min: usize) -> bool {
    let letters: Vec<char> = key.chars().collect();
    let pieces = letters.chunks((run_min / 2).max(1)).map(|piece| piece.iter().collect::<String>());
    pieces.into_iter().any(|piece| text.contains(&piece))
}

/// Removes colours, invisible characters and direction marks; replaces control characters and white
/// space by single spaces.
fn to_plain_line(text: &str) -> String {
    let start: String = text.chars().take(TEXT_CHARS_MAX).collect();
    let plain = strip_str(&start).to_string();
    let spaced = plain.chars().map(|c| if c.is_control() { ' ' } else { c });
    let seen: String = spaced.filter(|c| !is_invisible(*c)).collect();
    to_one_line(&seen)
}

/// Masks every run of the key's characters of at least `run_min` characters.
fn mask_runs(text: &str, key: &str, run_min: usize) -> String {
    if run_min == 0 {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = shared_run_len(rest, key, run_min);
        shown.push_str(if run == 0 { rest.get(..first.len_utf8()).unwrap_or("") } else { MASK });
        rest = rest.get(run.max(first.len_utf8())..).unwrap_or("");
    }
    shown
}

/// Returns the bytes at the start of the text that also occur in the key, or 0 if they are fewer
/// than `run_min` characters.
fn shared_run_len(text: &str, key: &str, run_min: usize) -> usize {
    let ends = text.char_indices().map(|(start, c)| start + c.len_utf8());
    let shared = |end: &usize| text.get(..*end).is_some_and(|start| key.contains(start));
    let (chars, bytes) = ends.take_while(shared).fold((0, 0), |(chars, _), end| (chars + 1, end));
    if chars >= run_min { bytes } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_run_of_the_key_is_shown() {
        let check = |text: &str, expected: &str| {
            assert_eq!(mask_runs(text, "sk-live-abcdefghijklmnop", 8), expected, "{text}");
        };
        check("Incorrect API key: sk-live-abcdefghijklmnop.", "Incorrect API key: ***.");
        check("key sk-live-abcdefghijklmnop and abcdefgh", "key *** and ***");
        check("ends in …mnop", "ends in …mnop");
        check("sk-live*****mnop", "sk-live*****mnop");
        check("sk-live-*****mnop", "********mnop");
        check("xxabcdefghxx", "xx***xx");
        check("schlüssel défghijklmnop", "schlüssel d\u{e9}***");
        check("", "");
    }

    #[test]
    fn what_a_program_said_becomes_one_clean_line() {
        let check = |text: &str, expected: &str| {
            assert_eq!(clean_output(text, &["sk-secret".to_owned()]), expected, "{text:?}");
        };
        check("plain", "plain");
        check("two\nlines\r\n\tand a tab", "two lines and a tab");
        check("\u{1b}[31mred\u{1b}[0m \u{202e}txet", "red txet");
        check("bad key sk-secret, sk-secret", "bad key ***, ***");
        check(&"é".repeat(400), &format!("{}…", "é".repeat(299)));
    }

    #[test]
    fn a_short_key_is_hidden_whole() {
        assert_eq!(mask_runs("the key is pass", "pass", 4), "the key is ***");
        assert_eq!(mask_runs("nothing", "", 0), "nothing");
    }

    #[test]
    fn a_reply_does_not_repeat_a_secret() {
        let key = "sk-live-abcdefghijklmnop";
        let check = |text: &str, expected: &str| {
            let secrets = [key.to_owned(), "none".to_owned(), "p\"ss\"word".to_owned()];
            assert_eq!(mask_secrets(text.to_owned(), &secrets), expected, "{text}");
        };
        check(
            r#"{"summary": "I was sent Bearer sk-live-abcdefghijklmnop."}"#,
            r#"{"summary": "I was sent Bearer ***."}"#,
        );
        check("the half sk-live-abcd and the other efghijklmnop", "the half *** and the other ***");
        check(
            "cut in front: ijklmnop; from within: -abcdefghijklm",
            "cut in front: ijklmnop; from within: ***",
        );
        check("none of it, sk-live-, abc", "none of it, sk-live-, abc");
        check(r#"{"summary": "p\"ss\"word"} p"ss"word"#, r#"{"summary": "***"} ***"#);
        check("", "");
    }

    #[test]
    fn a_message_is_one_line_without_what_cannot_be_seen() {
        assert_eq!(to_plain_line("a\r\n\tb\u{0}\u{1b}[31mc\u{202e}d\u{200b}"), "a bcd");
        // Removing invisible characters must happen before the search for the key.
        let key = "sk-live-abcdefghijklmnop";
        let split = "sk-live-\u{200b}abcdefghijklmnop";
        assert_eq!(mask_runs(&to_plain_line(split), key, 8), "***");
    }
}
