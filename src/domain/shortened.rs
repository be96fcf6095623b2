//! Text helpers for untrusted text: truncation with an ellipsis, detection of invisible characters,
//! and slugs.

const TRUNCATION_MARK: char = '…';

/// Truncates to `chars_max` characters, including the mark.
pub fn truncate_within(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    text.chars().take(chars_max.saturating_sub(1)).chain([TRUNCATION_MARK]).collect()
}

/// Keeps `chars_max` characters and appends the mark.
pub fn truncate_after(text: &str, chars_max: usize) -> String {
    let kept = take_chars(text, chars_max);
    if kept.len() == text.len() { text.to_owned() } else { format!("{kept}{TRUNCATION_MARK}") }
}

/// Like [`truncate_after`], but trims first, so that no space precedes the mark.
pub fn trim_and_truncate(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let kept = take_chars(text, chars_max);
    if kept.len() == text.len() {
        text.to_owned()
    } else {
        format!("{}{TRUNCATION_MARK}", kept.trim_end())
    }
}

/// Joins the text into one line with single spaces.
pub fn to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn take_chars(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole_and_what_does_not_says_so() {
        for shorten in [truncate_within, truncate_after, trim_and_truncate] {
            assert_eq!(shorten("", 3), "");
            assert_eq!(shorten("äöü", 3), "äöü");
        }
        assert_eq!(truncate_within("äöüß", 3), "äö…");
        assert_eq!(truncate_after("äöüß", 3), "äöü…");
        assert_eq!(truncate_after("ä ö", 2), "ä …");
        assert_eq!(trim_and_truncate(" ä ö ", 2), "ä…");
        assert_eq!(trim_and_truncate(" ä ö ", 3), "ä ö");
    }

    #[test]
    fn a_line_has_one_space_between_words() {
        assert_eq!(to_one_line(" one\n\ttwo  three\n"), "one two three");
    }
}
