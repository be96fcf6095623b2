//! Recognises brackets that were meant as markers but are not valid. They are reported with a
//! reason and never parsed.

use crate::markers::cursor::MarkerCursor;
use crate::markers::grammar::{BracketContent, ParsedBracket, unreadable_marker};
use crate::markers::warnings::{DeviationSet, MarkerDeviation};
use crate::markers::written_id::{read_kind_digits, read_name, read_targets};
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::ExpertSlug;

/// Words that models write in place of `RE` and `MOVE`.
const NEAR_KEYWORDS: [&str; 8] =
    ["REF", "REFS", "REFERENCE", "REFERENCES", "REPLY", "MOV", "MOVES", "MOVEMENT"];

/// Rejects `[MUFFIN-X0101: label]` and `[MUFFIN:P0102: label]`: the expert's own name and a
/// separator, but no id.
pub(crate) fn reject_near_id<'a>(
    mut cursor: MarkerCursor<'_>,
    own: &ExpertSlug,
) -> ParsedBracket<'a> {
    read_name(&mut cursor, own)?;
    let is_shouted = !cursor.slips.contains(MarkerDeviation::LetterCase);
    let is_meant = match cursor.take_if(|sign| "-_:./#".contains(sign))? {
        '-' | '_' => is_shouted || has_digit(cursor),
        // In `[Muffin: three reasons]` the name is a speaker label.
        _ => read_kind_digits(&mut cursor).is_some(),
    };
    let why = "what follows the name is no id: one of P, R, T, E, C, two digits of round and two \
        of number, after a hyphen";
    let sign = BracketContent::Unreadable { why: why.to_owned(), is_entity: true };
    is_meant.then_some((sign, DeviationSet::default()))
}

/// Whether the next word contains a digit.
fn has_digit(mut cursor: MarkerCursor<'_>) -> bool {
    const WORD_CHARS_MAX: usize = 12;
    let is_of_word = |sign: char| sign.is_alphanumeric() || sign == '-';
    let mut signs = (0..WORD_CHARS_MAX).map_while(|_| cursor.take_if(is_of_word));
    signs.any(|sign| sign.is_ascii_digit())
}

/// Rejects `[SUPPORT P0001]` and `[SUPPORTS: P0001]`: without the keyword they are too close to
/// prose.
pub(crate) fn reject_missing_keyword<'a>(
    mut cursor: MarkerCursor<'_>,
    word: &str,
    own: &ExpertSlug,
) -> ParsedBracket<'a> {
    let is_shouted = !cursor.slips.contains(MarkerDeviation::LetterCase);
    let is_reference = parse_ref_type(word).is_some();
    let made = parse_move_type(word).map(|form| form.value);
    if !is_shouted || !(is_reference || made.is_some()) {
        return None;
    }
    let separator = cursor.take_separator();
    let names_ids = !read_targets(&mut cursor, own).is_empty();
    let is_whole = cursor.is_at_end() && (names_ids || made.is_some());
    let is_request = made == Some(MoveType::Request) && !separator.lacks_punctuation();
    let start = if is_reference { "RE:" } else { "MOVE:" };
    let is_meant = is_whole || is_request;
    is_meant.then(|| unreadable_marker(&format!("`{start}` is missing before {word}")))
}

/// Rejects `[REF:SUPPORT P0001]`: another word in place of `RE` or `MOVE`.
pub(crate) fn reject_wrong_keyword<'a>(
    mut cursor: MarkerCursor<'_>,
    word: &str,
    own: &ExpertSlug,
) -> ParsedBracket<'a> {
    let is_shouted = !cursor.slips.contains(MarkerDeviation::LetterCase);
    let is_near = NEAR_KEYWORDS.contains(&word);
    if !(is_shouted || is_near) || cursor.take_separator().lacks_punctuation() {
        return None;
    }
    cursor.skip_spaces();
    let is_untyped = {
        let mut ahead = cursor;
        !read_targets(&mut ahead, own).is_empty() && ahead.is_at_end()
    };
    let keyword = match is_untyped {
        // `[SEE: P0001]` is prose.
        true => (is_near && is_shouted).then_some("RE"),
        false => expected_keyword(cursor, own),
    }?;
    Some(unreadable_marker(&format!("{word} is not `{keyword}`")))
}

/// Returns the keyword that should precede this type and its ids.
fn expected_keyword(mut cursor: MarkerCursor<'_>, own: &ExpertSlug) -> Option<&'static str> {
    let is_shouted = !cursor.slips.contains(MarkerDeviation::LetterCase);
    let word = cursor.take_word()?;
    let made = parse_move_type(&word).map(|WordForm { value: word, .. }| word);
    let is_reference = parse_ref_type(&word).is_some();
    // `[MOVES:CONVERGE]` needs no ids.
    let needed = made.map_or(1, MoveType::targets_min).max(usize::from(!is_shouted));
    let has_ids = read_targets(&mut cursor, own).len() >= needed;
    match (is_reference, made) {
        (true, _) => has_ids.then_some("RE"),
        (false, Some(_)) => has_ids.then_some("MOVE"),
        (false, None) => None,
    }
}

/// A type recognised from a written word.
#[derive(Debug)]
pub(crate) struct WordForm<T> {
    pub value: T,
    /// The word is the exact name, not an inflected form.
    pub is_exact: bool,
}

pub(crate) fn parse_ref_type(written: &str) -> Option<WordForm<ReferenceType>> {
    find_form(written, ReferenceType::ALL, ReferenceType::name)
}

pub(crate) fn parse_move_type(written: &str) -> Option<WordForm<MoveType>> {
    find_form(written, MoveType::ALL, MoveType::name)
}

fn find_form<T: Copy>(
    written: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Option<WordForm<T>> {
    let written = written.to_ascii_lowercase();
    let word = all.iter().copied().find(|word| is_form_of(&written, name(*word)))?;
    Some(WordForm { value: word, is_exact: written == name(word) })
}

/// `supports`, `supported` and `supporting` are forms of `support`.
fn is_form_of(word: &str, name: &str) -> bool {
    let endings = ["", "s", "es", "d", "ed", "ing"];
    let is_longer = word.strip_prefix(name).is_some_and(|ending| endings.contains(&ending));
    let stem = name.strip_suffix('e');
    is_longer || stem.is_some_and(|stem| word.strip_prefix(stem) == Some("ing"))
}

/// Skips the preposition in `DEPENDS ON P0001`.
pub(crate) fn skip_preposition(cursor: &mut MarkerCursor<'_>) -> bool {
    let mut ahead = *cursor;
    let is_on = ahead.skip_spaces() > 0
        && ahead.take_word().is_some_and(|word| word == "ON" || word == "TO");
    if is_on {
        *cursor = ahead;
    }
    is_on
}
