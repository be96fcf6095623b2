//! Fits a rehearsed recommendation to the question's format constraint.
//!
//! The draft's sentences come first as far as they fit; filler sentences of every length complete
//! it.

use crate::domain::conclusion::{FormatConstraint, FormatUnit, find_constraints};

/// Limit for any number the question asks for.
const PIECES_MAX: usize = 300;
const WORDS_MAX: usize = 3_000;

/// Number of pieces if the question leaves it open.
const PIECES: usize = 3;

/// Filler sentences by length: index 0 has one term.
const FILLER_SENTENCES: [&[&str]; 9] = [
    &["Begin.", "Measure.", "Review."],
    &["Begin small.", "Measure early.", "Review often."],
    &["Name an owner.", "Try the return.", "Keep a record."],
    &["Begin with one team.", "Try the way back.", "Agree on one measure."],
    &["Keep the way back open.", "Write down the first result.", "Ask those who will pay."],
    &[
        "Agree on one measure of success.",
        "Look at it after a month.",
        "Begin with one small team only.",
    ],
    &[
        "Try the way back before you start.",
        "Count what it costs to go back.",
        "Write down what would be a failure.",
    ],
    &[
        "Go on only if the first step held.",
        "Begin with a step that can be undone.",
        "Ask those who would have to carry it.",
    ],
    &[
        "Set one date for looking at it once more.",
        "Do not widen it before its cost is understood.",
        "Give one person the right to end it early.",
    ],
];

/// Returns the draft, or a version of it that meets the constraint.
pub(super) fn shape_draft(question: &str, draft: &str) -> Option<String> {
    let wishes = find_constraints(question);
    let wish = |measure| wishes.iter().find(|wish| wish.measure == measure).copied();
    let bullets = wish(FormatUnit::Bullets).map(|wish| allowed_amount(wish, PIECES, PIECES_MAX));
    let lines = wish(FormatUnit::Lines)
        .map(|wish| allowed_amount(wish, bullets.unwrap_or(PIECES), PIECES_MAX));
    let pieces = lines.or(bullets);
    let sentences = wish(FormatUnit::Sentences)
        .map(|wish| allowed_amount(wish, pieces.unwrap_or(PIECES), PIECES_MAX))
        .or(pieces);
    let words = wish(FormatUnit::Words).map(|wish| allowed_amount(wish, 60, WORDS_MAX));
    let said = match (sentences, words) {
        (None, None) => return None,
        (Some(sentences), None) => fill_sentences(draft, sentences),
        (Some(sentences), Some(words)) => fill_both(sentences, words),
        (None, Some(words)) => fill_words(words),
    };
    Some(lay_out_lines(&said, pieces.unwrap_or(1), bullets.unwrap_or(0)))
}

/// Returns the allowed number nearest to the natural one.
fn allowed_amount(wish: FormatConstraint, natural: usize, max: usize) -> usize {
    let most = wish.amount.max_count().unwrap_or(usize::MAX);
    natural.max(wish.amount.min_count()).min(most).min(max)
}

/// Takes the draft's sentences, then fillers; may return fewer than the draft has.
fn fill_sentences(draft: &str, count: usize) -> Vec<String> {
    let own = draft.split_inclusive(". ").map(|sentence| sentence.trim().to_owned());
    let further = (0..).map(|place| filler_sentence(5 + place % 4, place / 4));
    own.chain(further).take(count).collect()
}

/// Returns sentences with this total length.
fn fill_words(words: usize) -> Vec<String> {
    let longest = FILLER_SENTENCES.len();
    let mut lengths = vec![longest; words / longest];
    lengths.extend(Some(words % longest).filter(|rest| *rest > 0));
    lengths.iter().enumerate().map(|(place, length)| filler_sentence(*length, place)).collect()
}

/// Returns this many sentences with this total length, evenly distributed.
fn fill_both(sentences: usize, words: usize) -> Vec<String> {
    let (each, rest) = (words / sentences.max(1), words % sentences.max(1));
    let length = |place: usize| each + usize::from(place < rest);
    (0..sentences).map(|place| filler_sentence(length(place), place)).collect()
}

/// Returns a sentence of this length; two are joined for a long one.
fn filler_sentence(words: usize, place: usize) -> String {
    let longest = FILLER_SENTENCES.len();
    if words > longest {
        let first = filler_sentence(longest, place);
        let second = filler_sentence(words - longest, place + 1);
        let (start, letters) = second.split_at(second.chars().next().map_or(0, char::len_utf8));
        return format!("{}, {}{letters}", first.trim_end_matches('.'), start.to_lowercase());
    }
    let of_length = FILLER_SENTENCES.get(words.max(1) - 1).copied().unwrap_or_default();
    let sentence = of_length.iter().cycle().nth(place % of_length.len().max(1));
    sentence.copied().unwrap_or_default().to_owned()
}

/// Arranges sentences in lines; the last ones become bullets.
fn lay_out_lines(said: &[String], lines: usize, bullets: usize) -> String {
    let mut texts: Vec<String> = said.iter().take(lines).cloned().collect();
    // Sentences without a line of their own follow on the last one.
    if let Some(last) = texts.last_mut() {
        for more in said.iter().skip(lines) {
            last.push_str(&format!(" {more}"));
        }
    }
    let unmarked = texts.len().saturating_sub(bullets);
    for bullet in texts.iter_mut().skip(unmarked) {
        bullet.insert_str(0, "- ");
    }
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conclusion::count_units;

    #[test]
    fn the_stock_has_sentences_of_every_length() {
        for (words, place) in (1..=40).flat_map(|words| (0..3).map(move |place| (words, place))) {
            let sentence = filler_sentence(words, place);
            assert_eq!(count_units(FormatUnit::Words, &sentence), Some(words), "{sentence}");
            assert_eq!(count_units(FormatUnit::Sentences, &sentence), Some(1), "{sentence}");
        }
    }

    #[test]
    fn a_question_that_asks_for_hundreds_gets_what_somebody_would_read() {
        let text = shape_draft("Should we? Answer in exactly 900 lines.", "Yes.").unwrap();
        assert_eq!(count_units(FormatUnit::Lines, &text), Some(PIECES_MAX));
        assert_eq!(shape_draft("Should we?", "Yes."), None);
    }
}
