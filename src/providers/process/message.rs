//! What a foreign program said, made fit for an error message: one line, bounded,
//! without control characters and without keys.

use std::io;

use crate::domain::ask::ErrorType;
use crate::providers::request::CallError;

/// Enough for a sentence and an address; a stack trace is of no use to the reader.
const MESSAGE_CHARS_MAX: usize = 300;

const MASK: &str = "***";

/// Text from outside on one line, with the given secrets masked.
pub(in crate::providers) fn one_line(text: &str, secrets: &[String]) -> String {
    let masked = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK));
    let spaced: String = masked.chars().map(|c| if is_unfit(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Control characters move cursors; bidi and zero-width ones make text look like other text.
fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Why a program could not be started.
pub(in crate::providers) fn failed_start(program: &str, error: &io::Error) -> CallError {
    let program = one_line(program, &[]);
    let message = if error.kind() == io::ErrorKind::NotFound {
        format!("the program `{program}` was not found")
    } else {
        format!("the program `{program}` could not be started: {error}")
    };
    CallError::new(ErrorType::Unknown, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_becomes_one_clean_line() {
        let check = |text: &str, expected: &str| {
            assert_eq!(one_line(text, &["sk-secret".to_owned()]), expected, "{text:?}");
        };
        check("plain", "plain");
        check("two\nlines\r\n\tand a tab", "two lines and a tab");
        check("\u{1b}[31mred\u{1b}[0m \u{202e}txet", "[31mred [0m txet");
        check("bad key sk-secret, sk-secret", "bad key ***, ***");
        check(&"é".repeat(400), &format!("{}…", "é".repeat(300)));
    }
}
