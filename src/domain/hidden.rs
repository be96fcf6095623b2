//! Invisible characters, and the few that are legitimate (emoji joiners, script shaping).
//!
//! All code that shows untrusted text, on a terminal or in a prompt, uses these functions, so that
//! all places agree on what is invisible.

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

#[cfg(test)]
mod tests {
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
