//! Text helpers for untrusted text: truncation with an ellipsis, detection of invisible characters,
//! and slugs.

const MARK: char = '…';

/// Truncates to `chars_max` characters, including the mark.
pub fn within(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    text.chars().take(chars_max.saturating_sub(1)).chain([MARK]).collect()
}

/// Keeps `chars_max` characters and appends the mark.
pub fn head(text: &str, chars_max: usize) -> String {
    let kept = first(text, chars_max);
    if kept.len() == text.len() { text.to_owned() } else { format!("{kept}{MARK}") }
}

/// Like [`truncate_after`], but trims first, so that no space precedes the mark.
pub fn trimmed_head(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let kept = first(text, chars_max);
    if kept.len() == text.len() { text.to_owned() } else { format!("{}{MARK}", kept.trim_end()) }
}

/// Joins the text into one line with single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole_and_what_does_not_says_so() {
        for shorten in [within, head, trimmed_head] {
            assert_eq!(shorten("", 3), "");
            assert_eq!(shorten("äöü", 3), "äöü");
        }
        assert_eq!(within("äöüß", 3), "äö…");
        assert_eq!(head("äöüß", 3), "äöü…");
        assert_eq!(head("ä ö", 2), "ä …");
        assert_eq!(trimmed_head(" ä ö ", 2), "ä…");
        assert_eq!(trimmed_head(" ä ö ", 3), "ä ö");
    }

    #[test]
    fn a_line_has_one_space_between_words() {
        assert_eq!(one_line(" one\n\ttwo  three\n"), "one two three");
    }
}
