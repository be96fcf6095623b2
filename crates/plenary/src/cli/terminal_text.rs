//! Final escaping before output: no control character reaches a terminal except our own.
//!
//! Pages escape untrusted text when they are drawn (`export/safe_text`); this module catches any
//! text that was missed there. A page may contain the colour codes of the palette; messages and
//! documents contain none.

use plenary_core::model::text::is_invisible;
use plenary_core::report::safe_text::safe_line;

/// The kind of data written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFormat {
    Json,
    /// Markdown, a shell script, or workflow commands.
    Text,
}

/// Escapes a page: keeps style codes, makes every other control or invisible character visible.
pub(crate) fn escape_page(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let taken = style_code_length(rest).unwrap_or(0);
        match rest.split_at_checked(taken) {
            Some((code, _)) if taken > 0 => shown.push_str(code),
            Some(_) | None => push_visible(letter, &mut shown),
        }
        rest = rest.get(taken.max(letter.len_utf8())..).unwrap_or_default();
    }
    shown
}

/// Length of the escape code of one of our styles at the start of the text: reset, bold, faint,
/// italic, underline, and the colours.
fn style_code_length(text: &str) -> Option<usize> {
    let (code, _) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let number: u8 = code.parse().ok().filter(|number: &u8| number.to_string() == code)?;
    matches!(number, 0..=4 | 30..=37 | 39 | 90..=97).then_some(code.len() + 3)
}

/// Escapes a message, including style codes.
pub(crate) fn escape_message(text: &str) -> String {
    text.split('\n').map(safe_line).collect::<Vec<_>>().join("\n")
}

/// Escapes data for a terminal. JSON keeps its meaning: each character becomes a `\u` escape.
pub(crate) fn escape_data(text: &str, form: DataFormat) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match form {
            DataFormat::Text => push_visible(letter, &mut shown),
            DataFormat::Json if must_escape(letter) => {
                let mut units = [0; 2];
                let units = letter.encode_utf16(&mut units).iter();
                shown.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
            DataFormat::Json => shown.push(letter),
        }
    }
    shown
}

/// Whether the text contains a character that must be escaped for a terminal.
pub(crate) fn needs_escape(text: &str) -> bool {
    text.contains(must_escape)
}

/// Quotes an argument for a shell if it needs quotes.
pub(crate) fn quote_argument(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn push_visible(letter: char, shown: &mut String) {
    match must_escape(letter) {
        true => shown.extend(letter.escape_unicode()),
        false => shown.push(letter),
    }
}

fn must_escape(letter: char) -> bool {
    !matches!(letter, '\n' | '\t') && is_invisible(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_our_styles_and_nothing_else_that_drives_a_terminal() {
        for (text, expected) in [
            (
                "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a\tb\n",
                "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a\tb\n",
            ),
            ("\u{1b}[2J\u{1b}[1;31mx", r"\u{1b}[2J\u{1b}[1;31mx"),
            ("\u{1b}]8;;https://a\u{7}b", r"\u{1b}]8;;https://a\u{7}b"),
            ("\u{1b}]52;c;eA==\u{1b}\\", "\\u{1b}]52;c;eA==\\u{1b}\\"),
            (
                "a\rb\u{8}\u{9b}31m\u{202e}\u{200b}\u{e0041}",
                r"a\u{d}b\u{8}\u{9b}31m\u{202e}\u{200b}\u{e0041}",
            ),
            ("\u{1b}", r"\u{1b}"),
        ] {
            assert_eq!(escape_page(text), expected);
        }
    }

    #[test]
    fn talk_has_no_style() {
        assert_eq!(escape_message("a \u{1b}[31mred\u{1b}[0m\nb"), "a \\u{1b}[31mred\\u{1b}[0m\nb");
    }

    #[test]
    fn json_that_is_shown_means_the_same() {
        let value =
            serde_json::json!({ "a\u{7f}": "x\u{9b}31m \u{202e}\u{e0041}\n", "b": [1, "é漢"] });
        let shown = escape_data(&value.to_string(), DataFormat::Json);
        assert!(!needs_escape(&shown), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
