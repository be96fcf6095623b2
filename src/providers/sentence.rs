//! Error messages fit to be kept and shown: one line, short, without the key.

use secrecy::ExposeSecret;

use super::provider::Provider;

/// Long enough for a server's own explanation, short enough for a table.
pub(super) const MESSAGE_CHARS_MAX: usize = 300;

/// What is looked at of a foreign text; the rest would be cut off anyway.
const TEXT_CHARS_MAX: usize = 4_000;

/// So many characters of a key in a row give it away; fewer are what servers show on
/// purpose, to tell which key was meant.
const KEY_RUN_CHARS_MIN: usize = 8;

const MASK: &str = "***";

/// A message about a provider, whatever the text brought along.
pub(super) fn sentence(provider: &Provider, text: &str) -> String {
    let line = one_line(text);
    let line = match &provider.key {
        Some(key) => masked(&line, key.expose_secret()),
        None => line,
    };
    cut(&line, MESSAGE_CHARS_MAX)
}

/// The text within so many characters, the last of them a mark where it was cut.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

/// Control characters and runs of white space become one space each; characters that are
/// not seen, or turn the direction of others, go.
fn one_line(text: &str) -> String {
    let seen = text.chars().take(TEXT_CHARS_MAX).filter(|c| !is_unseen(*c));
    let spaced: String = seen.map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text with every run of the key's characters hidden that is long enough to matter.
fn masked(text: &str, key: &str) -> String {
    let run_min = key.chars().count().min(KEY_RUN_CHARS_MIN);
    if run_min == 0 {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = run_of(rest, key, run_min);
        shown.push_str(if run == 0 { rest.get(..first.len_utf8()).unwrap_or("") } else { MASK });
        rest = rest.get(run.max(first.len_utf8())..).unwrap_or("");
    }
    shown
}

/// How many bytes at the start of the text are also in the key, if they are enough characters.
fn run_of(text: &str, key: &str, run_min: usize) -> usize {
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
            assert_eq!(masked(text, "sk-live-abcdefghijklmnop"), expected, "{text}");
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
    fn a_short_key_is_hidden_whole() {
        assert_eq!(masked("the key is pass", "pass"), "the key is ***");
        assert_eq!(masked("nothing", ""), "nothing");
    }

    #[test]
    fn a_message_is_one_line_without_what_cannot_be_seen() {
        assert_eq!(one_line("a\r\n\tb\u{0}\u{1b}[31mc\u{202e}d\u{200b}"), "a b [31mcd");
        // Taking out what cannot be seen must not put a key together after it was looked for.
        let key = "sk-live-abcdefghijklmnop";
        let split = "sk-live-\u{200b}abcdefghijklmnop";
        assert_eq!(masked(&one_line(split), key), "***");
    }

    #[test]
    fn a_long_message_is_cut_with_a_mark() {
        let text = "ä".repeat(1_000);
        let short = cut(&text, MESSAGE_CHARS_MAX);
        assert_eq!(short.chars().count(), MESSAGE_CHARS_MAX);
        assert!(short.ends_with('…'));
        assert_eq!(cut("short", MESSAGE_CHARS_MAX), "short");
    }
}
