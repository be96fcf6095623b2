//! Text helpers for untrusted text: truncation with an ellipsis, detection of invisible characters,
//! and slugs.

use std::ops::Range;

use crate::model::limits::DIALOGUE_SLUG_BYTES_MAX;

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

/// Returns the known name that is most similar to a misspelled one, unless none is similar. Users
/// often omit the end of a name: `max_output`, `api_key`.
pub fn find_nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let far = (word.chars().count() / 3).max(2);
    let nearest = known
        .iter()
        // Long names are not compared: the distance takes time.
        .filter(|name| name.len().abs_diff(word.len()) <= far)
        .map(|name| (strsim::osa_distance(&word, &name.to_lowercase()), *name))
        // A short name is within two edits of almost anything.
        .filter(|(distance, name)| *distance <= far && *distance * 2 < name.len())
        .min_by_key(|(distance, _)| *distance);
    let is_start = |name: &&&str| word.len() >= 3 && name.starts_with(&word);
    nearest.map(|(_, name)| name).or_else(|| known.iter().find(is_start).copied())
}

/// Sorts names by similarity, the most similar first.
pub fn nearest_first(word: &str, mut known: Vec<String>) -> Vec<String> {
    known.sort_by_cached_key(|name| (strsim::osa_distance(word, name), name.clone()));
    known
}

/// A shorter quote is in almost every text.
pub const QUOTE_LETTERS_MIN: usize = 8;

/// The place where a text contains the words of a quote, which must have [`QUOTE_LETTERS_MIN`]
/// letters or digits or be a whole line. Capitals, line breaks and quotation marks around them do
/// not count.
pub fn find_quote<'t>(text: &'t str, quote: &str) -> Option<&'t str> {
    let (quote, _) = fold_text(quote);
    let quote = quote.trim_matches(|letter: char| "\"'“”‘’«»".contains(letter)).trim();
    let letters = quote.chars().filter(|letter| letter.is_alphanumeric()).count();
    if letters < QUOTE_LETTERS_MIN {
        let mut lines = text.lines().map(str::trim).filter(|_| letters > 0);
        return lines.find(|line| fold_text(line).0 == quote);
    }
    let (folded, places) = fold_text(text);
    let start = folded.find(quote)?;
    let first = places.get(start)?.start;
    let last = places.get(start + quote.len() - 1)?.end;
    text.get(first..last)
}

pub fn contains_quote(text: &str, quote: &str) -> bool {
    find_quote(text, quote).is_some()
}

/// The text in one line and small letters, and for each byte of it the bytes that it came from.
fn fold_text(text: &str) -> (String, Vec<Range<usize>>) {
    let (mut folded, mut places) = (String::new(), Vec::new());
    let mut space = None;
    for (start, letter) in text.char_indices() {
        let place = start..start + letter.len_utf8();
        if letter.is_whitespace() {
            space = space.or(Some(place));
            continue;
        }
        if let Some(space) = space.take().filter(|_| !folded.is_empty()) {
            folded.push(' ');
            places.push(space);
        }
        folded.extend(letter.to_lowercase());
        places.resize(folded.len(), place);
    }
    (folded, places)
}

/// Joins the text into one line with single spaces.
pub fn to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn take_chars(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Characters that show nothing but change the text around them.
pub fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            // Zero-width spaces and joiners, and direction marks.
            | '\u{200b}'..='\u{200f}'
            // Line and paragraph separators; embeddings, overrides and isolates.
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags and variation selectors, which attackers use to smuggle whole messages.
            | '\u{e0000}'..='\u{e0fff}')
}

/// Code points without assigned text: private use, noncharacters, empty planes.
pub fn is_unassigned(letter: char) -> bool {
    let code = u32::from(letter);
    matches!(code, 0xe000..=0xf8ff | 0xfdd0..=0xfdef | 0x4_0000..=0xd_ffff | 0xf_0000..=0x10_ffff)
        || code & 0xfffe == 0xfffe
}

/// Returns true if an invisible character is legitimate between its neighbours: it joins emoji,
/// selects the text or emoji form of a symbol, or shapes a word of a script that needs it.
pub fn is_legitimate_joiner(letter: char, before: Option<char>, after: Option<char>) -> bool {
    let both = |is_of: fn(char) -> bool| before.is_some_and(is_of) && after.is_some_and(is_of);
    match letter {
        '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(has_emoji_form),
        '\u{200d}' => both(is_emoji_part) || both(is_joining_script),
        '\u{200c}' => both(is_joining_script),
        '\u{180b}'..='\u{180f}' => both(is_mongolian),
        _ => false,
    }
}

/// Symbols with a text form and an emoji form; `1`, `#` and `*` start keycaps.
fn has_emoji_form(letter: char) -> bool {
    matches!(letter, '0'..='9' | '#' | '*' | '©' | '®') || is_emoji(letter)
}

fn is_emoji(letter: char) -> bool {
    matches!(letter, '\u{203c}'..='\u{2049}' | '\u{2122}'..='\u{21aa}' | '\u{231a}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn is_emoji_part(letter: char) -> bool {
    is_emoji(letter) || letter == '\u{fe0f}'
}

/// Arabic and related scripts, and the scripts of South and South-East Asia.
fn is_joining_script(letter: char) -> bool {
    matches!(letter, '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}' | '\u{fb50}'..='\u{fdcf}' | '\u{fe70}'..='\u{fefc}'
        | '\u{11000}'..='\u{1193f}')
        && !is_invisible(letter)
}

fn is_mongolian(letter: char) -> bool {
    matches!(letter, '\u{1820}'..='\u{18aa}')
}

/// Slug of a title without any letter that has an ASCII form.
const EMPTY_TITLE_SLUG: &str = "dialogue";

/// Default names of experts, in this order; then `pastry21`, `pastry22` and so on.
const DEFAULT_EXPERT_NAMES: [&str; 20] = [
    "muffin",
    "cupcake",
    "scone",
    "eclair",
    "donut",
    "brioche",
    "croissant",
    "macaron",
    "cannoli",
    "strudel",
    "beignet",
    "churro",
    "profiterole",
    "tartlet",
    "galette",
    "palmier",
    "kouign",
    "sfogliatella",
    "financier",
    "religieuse",
];

/// `"NVIDIA: kaufen — oder nicht?"` → `nvidia-kaufen-oder-nicht`.
pub fn slugify_title(title: &str) -> String {
    let mut slug = String::new();
    for letter in deunicode::deunicode_with_tofu(title, " ").chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == DIALOGUE_SLUG_BYTES_MAX {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { EMPTY_TITLE_SLUG.to_owned() } else { slug.to_owned() }
}

/// The `nth` (from 0) default name of an expert.
pub fn default_expert_name(nth: usize) -> String {
    DEFAULT_EXPERT_NAMES
        .get(nth)
        .map_or_else(|| format!("pastry{}", nth + 1), |name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_found_as_it_stands_in_the_text() {
        let text = "[R:  One]\nSell   Half of\n it, “Straße” and ΣΊΣΥΦΟΣ.\nYes!\n";
        let check = |quote: &str, found: Option<&str>| {
            assert_eq!(find_quote(text, quote), found, "{quote}");
        };
        check("sell half of it", Some("Sell   Half of\n it"));
        check("\"SELL HALF\"", Some("Sell   Half"));
        check("“straße” and σίσυφο", Some("Straße” and ΣΊΣΥΦΟ"));
        check("yes!", Some("Yes!"));
        check("half of", None);
        check("sell it all", None);
        check("", None);
    }

    #[test]
    fn a_misspelled_name_has_a_nearest_known_name() {
        let known = ["council", "budget", "quorum", "api_key_env", "max_output_tokens", "model"];
        let cases = [
            ("quorom", Some("quorum")),
            ("councli", Some("council")),
            ("Budget", Some("budget")),
            ("api_key", Some("api_key_env")),
            ("max_tokens", None),
            ("max_output", Some("max_output_tokens")),
            ("modell", Some("model")),
            ("", None),
            ("frobnicate", None),
        ];
        for (word, meant) in cases {
            assert_eq!(find_nearest(word, &known), meant, "word: {word}");
        }
        let known = ["perspectives", "tensions", "score", "by", "ask", "log"];
        let cases = [
            ("perspective", Some("perspectives")),
            ("Scores", Some("score")),
            ("tenisons", Some("tensions")),
            ("aks", Some("ask")),
            ("foo", None),
            ("note", None),
            ("id", None),
        ];
        for (word, meant) in cases {
            assert_eq!(find_nearest(word, &known), meant, "word: {word}");
        }
    }

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

#[cfg(test)]
mod hidden_tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_is_meaningless() {
        for letter in "aé漢नم🚀\u{fffd}".chars() {
            assert!(!is_invisible(letter) && !is_unassigned(letter), "{letter:?}");
        }
        for letter in ['\u{e000}', '\u{ffff}', '\u{1fffe}', '\u{fdd0}', '\u{50000}', '\u{10ffff}'] {
            assert!(is_unassigned(letter), "{letter:?}");
        }
    }

    #[track_caller]
    fn check(text: &str, needed: bool) {
        let letters: Vec<char> = text.chars().collect();
        assert_eq!(
            is_legitimate_joiner(letters[1], Some(letters[0]), letters.get(2).copied()),
            needed
        );
    }

    #[test]
    fn joiners_and_selectors_are_needed_where_they_shape_what_is_seen() {
        check("❤\u{fe0f}", true);
        check("1\u{fe0f}", true);
        check("a\u{fe0f}", false);
        check("漢\u{fe00}", false);
        check("👩\u{200d}💻", true);
        check("a\u{200d}b", false);
        check("a\u{200c}م", false);
        check("ی\u{200c}خ", true);
        check("ष\u{200d}र", true);
        check("ی\u{200b}خ", false);
        check("ی\u{200c}", false);
        check("\u{1820}\u{180b}\u{1821}", true);
    }
}

#[cfg(test)]
mod slug_tests {
    use super::*;

    #[test]
    fn titles_become_slugs() {
        let long = "word ".repeat(40);
        let cases = [
            ("NVIDIA Investment Decision", "nvidia-investment-decision"),
            ("  --Über: kaufen?!  ", "uber-kaufen"),
            ("北京", "bei-jing"),
            ("", "dialogue"),
            ("\u{200b}\u{1f}", "dialogue"),
            ("../../etc/passwd", "etc-passwd"),
            (long.as_str(), "word-word-word-word-word-word-word-word-word-word-word-word"),
        ];
        for (title, slug) in cases {
            assert_eq!(slugify_title(title), slug, "title: {title}");
        }
    }

    #[test]
    fn the_twenty_first_pastry_is_numbered() {
        assert_eq!(
            [default_expert_name(0), default_expert_name(19), default_expert_name(20)],
            ["muffin", "religieuse", "pastry21"]
        );
    }
}
