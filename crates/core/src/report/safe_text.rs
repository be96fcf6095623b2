//! Makes foreign text safe to display on a terminal.
//!
//! A model's text may contain escape sequences that repaint the terminal, or characters that
//! hide, reorder or smuggle text. They become visible escapes such as `\u{1b}`.
//!
//! **Invariant:** the output contains no control, bidi, zero-width or tag character, and a
//! combining mark only after a letter.

use unicode_width::UnicodeWidthChar;

use crate::model::text::is_invisible;

/// Marks per letter. Vietnamese and pointed Hebrew need three; a tall stack paints over the lines
/// above.
const MARKS_MAX: usize = 4;

/// Replaces a tab, to keep code and lists indented.
const TAB_SPACES: &str = "    ";

/// The text on one line: line breaks and tabs become spaces.
pub fn safe_line(text: &str) -> String {
    let mut shown = SafeText::default();
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\n' | '\r' | '\t' => shown.push(' '),
            other => shown.push(other),
        }
    }
    shown.text
}

/// The lines of a longer text, as its author broke them.
pub fn safe_lines(text: &str) -> Vec<String> {
    // `str::lines` splits at `\n` and `\r\n`; a lone `\r` would let a line overwrite itself.
    text.lines().flat_map(|line| line.split('\r')).map(indented_line).collect()
}

fn indented_line(text: &str) -> String {
    let mut shown = SafeText::default();
    for letter in text.trim_end().chars() {
        match letter {
            '\t' => TAB_SPACES.chars().for_each(|space| shown.push(space)),
            other => shown.push(other),
        }
    }
    shown.text
}

/// The output so far, and the base of a following combining mark.
#[derive(Debug, Default)]
struct SafeText {
    text: String,
    base: Option<char>,
    marks: usize,
}

impl SafeText {
    fn push(&mut self, letter: char) {
        if self.is_presentation(letter) {
            // Terminals disagree about its width, so the plain form is shown.
            self.marks += 1;
        } else if is_invisible(letter) || self.is_stray_mark(letter) {
            self.text.extend(letter.escape_unicode());
            self.base = None;
        } else if letter.width() == Some(0) {
            self.text.push(letter);
            self.marks += 1;
        } else {
            self.text.push(letter);
            self.base = Some(letter).filter(|letter| !letter.is_whitespace());
            self.marks = 0;
        }
    }

    /// Whether this selects text or emoji presentation of the preceding symbol.
    fn is_presentation(&self, letter: char) -> bool {
        let is_symbol = |base: char| !base.is_ascii() || matches!(base, '0'..='9' | '#' | '*');
        matches!(letter, '\u{fe0e}' | '\u{fe0f}')
            && self.marks == 0
            && self.base.is_some_and(is_symbol)
    }

    fn is_stray_mark(&self, letter: char) -> bool {
        letter.width() == Some(0) && (self.base.is_none() || self.marks >= MARKS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(safe_line(text), expected);
        assert_eq!(safe_line(expected), expected, "what is safe stays as it is");
    }

    #[test]
    fn ordinary_writing_is_left_alone() {
        for text in
            ["plain, with “quotes” — and €", "日本語のテキスト", "Việt Nam, e\u{301}", "🚀🇳🇿"]
        {
            check(text, text);
        }
        check("สวัสดี नमस्ते שָׁלוֹם", "สวัสดี नमस्ते שָׁלוֹם");
    }

    #[test]
    fn what_drives_a_terminal_is_shown() {
        check("\u{1b}[31mred\u{1b}[0m", r"\u{1b}[31mred\u{1b}[0m");
        check("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}");
        check("a\u{8}\u{7f}\u{0}b", r"a\u{8}\u{7f}\u{0}b");
        check("csi \u{9b}2J nel \u{85}.", r"csi \u{9b}2J nel \u{85}.");
    }

    #[test]
    fn what_hides_or_reorders_is_shown() {
        check("pay \u{202e}001$", r"pay \u{202e}001$");
        check("a\u{200b}b\u{2066}c\u{feff}d\u{ad}e", r"a\u{200b}b\u{2066}c\u{feff}d\u{ad}e");
        check("ok\u{e0041}\u{e007f}", r"ok\u{e0041}\u{e007f}");
        check("x\u{e0101}\u{fe01}", r"x\u{e0101}\u{fe01}");
        check("one\u{2028}two", r"one\u{2028}two");
    }

    #[test]
    fn a_mark_needs_a_letter_and_a_letter_bears_few() {
        check("\u{301}a", r"\u{301}a");
        check("a \u{301}", r"a \u{301}");
        check(
            &format!("z{}", "\u{300}".repeat(6)),
            "z\u{300}\u{300}\u{300}\u{300}\\u{300}\\u{300}",
        );
    }

    #[test]
    fn emoji_are_drawn_in_their_plain_form() {
        check("⚠\u{fe0f} 1\u{fe0f}\u{20e3}", "⚠ 1\u{20e3}");
        check("a\u{fe0f} ❤\u{fe0f}\u{fe0f}", r"a\u{fe0f} ❤\u{fe0f}");
    }

    #[test]
    fn line_breaks_are_kept_only_in_lines() {
        check("one\ntwo\r\nthree\tfour", "one two three four");
        assert_eq!(
            safe_lines("one\r\n\ttwo\rthree  \n\nfour"),
            ["one", "    two", "three", "", "four"],
        );
    }
}
