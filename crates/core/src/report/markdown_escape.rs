//! Escapes foreign text so that it cannot become part of our Markdown structure.

use crate::report::safe_text::{safe_line, safe_lines};

/// Characters with a meaning anywhere in a line.
const SPECIAL: &str = r"\`*[]<|~&$#";

/// Characters with a meaning at the start of a line.
const LEADING: &str = ">+-=";

/// The text on one line, with all Markdown escaped. Spaces around it stay.
pub(crate) fn escape_inline(text: &str) -> String {
    let flat = safe_line(text);
    let flat = flat.as_str();
    let mut escaped = String::with_capacity(flat.len());
    for (at, letter) in flat.char_indices() {
        let leads = at == 0 && LEADING.contains(letter);
        if SPECIAL.contains(letter) || leads || ends_number(flat, at) || is_outer_bar(flat, at) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Whether this ends the marker of a numbered list: `12. ` or `12) `.
fn ends_number(text: &str, at: usize) -> bool {
    let Some((head, tail)) = text.split_at_checked(at) else { return false };
    let numbered = !head.is_empty() && head.bytes().all(|byte| byte.is_ascii_digit());
    numbered && (tail.starts_with(". ") || tail.starts_with(") "))
}

/// Whether this underscore may open or close an emphasis. One inside a word does not, and names
/// such as `income_mandate` contain many.
fn is_outer_bar(text: &str, at: usize) -> bool {
    let Some((head, tail)) = text.split_at_checked(at) else { return false };
    let Some(tail) = tail.strip_prefix('_') else { return false };
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    !(is_word(head.chars().next_back()) && is_word(tail.chars().next()))
}

/// The text as a block quote. Its own Markdown works within the quote.
pub(crate) fn quote_text(text: &str) -> String {
    let lines = safe_lines(text.trim());
    let quoted: Vec<String> = lines
        .iter()
        .map(|line| format!("> {}", contain_line(line)).trim_end().to_owned())
        .collect();
    quoted.join("\n")
}

/// The same with every line break kept, because a question may ask for a number of lines.
pub(crate) fn quote_lines(text: &str) -> String {
    let quoted = quote_text(text);
    let lines: Vec<&str> = quoted.lines().collect();
    let is_blank = |line: Option<&&str>| line.is_none_or(|line| *line == ">");
    let broken = lines.iter().enumerate().map(|(place, line)| {
        let ends = is_blank(Some(line)) || is_blank(lines.get(place + 1));
        if ends { (*line).to_owned() } else { format!("{line}  ") }
    });
    broken.collect::<Vec<_>>().join("\n")
}

/// Escapes what would take effect outside the quote: HTML can close it, images reveal the reader
/// to a server, footnotes are rendered elsewhere, and alert markers look like our own.
///
/// Uses entities, because a preceding backslash would undo a backslash escape.
fn contain_line(line: &str) -> String {
    let mut before = ' ';
    let mut letters = line.chars().peekable();
    let mut kept = String::with_capacity(line.len());
    while let Some(letter) = letters.next() {
        let reaches_out = before == '!' || matches!(letters.peek(), Some('^' | '!'));
        match letter {
            '<' => kept.push_str("&lt;"),
            '[' if reaches_out => kept.push_str("&#91;"),
            other => kept.push(other),
        }
        before = letter;
    }
    kept
}

/// Text for a code span of one backtick.
pub(crate) fn escape_code(text: &str) -> String {
    safe_line(text).replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_stays_one_plain_line() {
        let cases = [
            ("Growth vs income", "Growth vs income"),
            ("a | b\n## Verdict", r"a \| b \#\# Verdict"),
            ("**bold** `code` <b> [x](y)", r"\*\*bold\*\* \`code\` \<b> \[x\]\(y)"),
            ("- item", r"\- item"),
            ("12. item, 3.5 and 4)", r"12\. item, 3.5 and 4)"),
            ("0.30", "0.30"),
            ("snake_case _x_", r"snake_case \_x\_"),
            (r"back\|slash", r"back\\\|slash"),
            ("R&D &lt;", r"R\&D \&lt;"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape_inline(text), expected.replace(r"\(", "("));
        }
    }

    #[test]
    fn line_breaks_are_kept_where_they_count() {
        assert_eq!(quote_lines("one\ntwo\n\nthree"), "> one  \n> two\n>\n> three");
        assert_eq!(quote_lines("- a\n- b  "), "> - a  \n> - b");
        assert_eq!(quote_lines(""), "");
    }

    #[test]
    fn a_quote_cannot_be_left() {
        let cases = [
            ("one\n\ntwo  ", "> one\n>\n> two"),
            ("a\rb", "> a\n> b"),
            ("</blockquote>\n# Ours", "> &lt;/blockquote>\n> # Ours"),
            (r"\<details>", r"> \&lt;details>"),
            ("![x](http://e.vil)", "> !&#91;x](http://e.vil)"),
            ("[!WARNING]\n[^1]: note", "> &#91;!WARNING]\n> &#91;^1]: note"),
            ("\u{1b}[2J\u{2028}# x", r"> \u{1b}[2J\u{2028}# x"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(quote_text(text), expected);
        }
    }
}
