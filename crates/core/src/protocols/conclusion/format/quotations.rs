//! Removes code and quotations from a question, because they make no request.

/// Replaces removed text.
pub(crate) const QUOTATION_PLACEHOLDER: char = '\u{fffc}';

/// Quotation marks further apart than this do not form a quotation.
const QUOTATION_CHARS_MAX: usize = 2_000;

/// Single quotes are mostly apostrophes, so a pair must be closer together.
const SINGLE_QUOTATION_CHARS_MAX: usize = 200;

/// Replaces each code block, quoted line and quotation by [`QUOTATION_PLACEHOLDER`].
pub(crate) fn remove_quotations(question: &str) -> String {
    remove_quotes(&remove_blocks(unwrap_quotes(question.trim())))
}

/// Unwraps a question that is quoted as a whole.
fn unwrap_quotes(question: &str) -> &str {
    let inner =
        [('"', '"'), ('“', '”'), ('«', '»'), ('\'', '\'')].iter().find_map(|(open, close)| {
            let inner = question.strip_prefix(*open)?.strip_suffix(*close)?;
            (!inner.contains([*open, *close])).then_some(inner)
        });
    inner.unwrap_or(question)
}

fn remove_blocks(question: &str) -> String {
    let mut kept = String::with_capacity(question.len());
    let mut open: Option<&str> = None;
    for line in question.split_inclusive('\n') {
        let start = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|fence| start.starts_with(fence));
        let is_hidden = match (open, fence) {
            (None, Some(fence)) => {
                // A block may open and close on one line.
                let is_closed = start.get(fence.len()..).is_some_and(|rest| rest.contains(fence));
                open = (!is_closed).then_some(fence);
                true
            }
            (Some(opened), Some(fence)) if opened == fence => {
                open = None;
                true
            }
            (Some(_), _) => true,
            (None, None) => start.starts_with('>'),
        };
        if is_hidden {
            kept.push(QUOTATION_PLACEHOLDER);
            kept.push('\n');
        } else {
            kept.push_str(line);
        }
    }
    kept
}

fn remove_quotes(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        match find_quotation_end(&letters, at) {
            Some(end) => {
                kept.push(QUOTATION_PLACEHOLDER);
                at = end;
            }
            None => {
                kept.push(*letter);
                at += 1;
            }
        }
    }
    kept
}

/// Returns the end of the quotation that starts here, if one does. It never spans a blank line.
fn find_quotation_end(letters: &[char], at: usize) -> Option<usize> {
    let open = *letters.get(at)?;
    let closers: &[char] = match open {
        '"' => &['"'],
        '`' => &['`'],
        '“' => &['”', '“'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '‹' => &['›'],
        '‘' | '\'' => &['’', '\''],
        '「' => &['」'],
        _ => return None,
    };
    let is_single = matches!(open, '‘' | '\'');
    let is_apart = |place: Option<&char>| place.is_none_or(|letter| !letter.is_alphanumeric());
    let before = at.checked_sub(1).and_then(|before| letters.get(before));
    let first = letters.get(at + 1)?;
    // A quote after a letter is an apostrophe, and after a digit an inch mark.
    if (is_single || open == '"') && (!is_apart(before) || first.is_whitespace()) {
        return None;
    }
    let most = if is_single { SINGLE_QUOTATION_CHARS_MAX } else { QUOTATION_CHARS_MAX };
    let inside = letters.get(at + 1..)?.iter().take(most);
    let mut last = open;
    for (place, letter) in inside.enumerate() {
        if last == '\n' && *letter == '\n' {
            return None;
        }
        if closers.contains(letter) && (!is_single || is_apart(letters.get(at + place + 2))) {
            return Some(at + place + 2);
        }
        last = *letter;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(question: &str, expected: &str) {
        assert_eq!(remove_quotations(question).replace(QUOTATION_PLACEHOLDER, "_"), expected);
    }

    #[test]
    fn what_is_quoted_is_taken_out() {
        check("Is 'in two words' an idiom?", "Is _ an idiom?");
        check(
            "Is \"5 lines\" or “6 lines” «7 lines» `8 lines` ‘9 lines’ right?",
            "Is _ or _ _ _ _ right?",
        );
        check("See:\n```\n5 lines\n```\nthen?", "See:\n_\n_\n_\nthen?");
        check("> 5 lines\nthen?", "_\nthen?");
        check("```5 lines``` then?", "_\n");
    }

    #[test]
    fn an_apostrophe_opens_no_quotation() {
        check(
            "Don't we? It's the users' files, aren't they?",
            "Don't we? It's the users' files, aren't they?",
        );
        check("A 5\" screen and a 7\" one", "A 5\" screen and a 7\" one");
        check("'Tis so. 5 lines", "'Tis so. 5 lines");
    }

    #[test]
    fn a_question_quoted_as_a_whole_is_the_question() {
        check("\"Ship it? In 5 lines.\"", "Ship it? In 5 lines.");
    }

    #[test]
    fn quotes_without_end_come_to_an_end() {
        for piece in ["\"a ", " 'a", "“", "`", "``` ", "> \n"] {
            remove_quotations(&piece.repeat(20_000));
        }
    }
}
