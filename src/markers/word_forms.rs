//! Matches the names of reference and move types in any grammatical form.

use super::cursor::MarkerCursor;
use crate::domain::reference::{MoveType, ReferenceType};

/// A type recognised from a written word.
#[derive(Debug)]
pub(super) struct WordForm<T> {
    pub value: T,
    /// The word is the exact name, not an inflected form.
    pub is_exact: bool,
}

pub(super) fn parse_ref_type(written: &str) -> Option<WordForm<ReferenceType>> {
    find_form(written, ReferenceType::ALL, ReferenceType::name)
}

pub(super) fn parse_move_type(written: &str) -> Option<WordForm<MoveType>> {
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
pub(super) fn skip_preposition(cursor: &mut MarkerCursor<'_>) -> bool {
    let mut ahead = *cursor;
    let is_on = ahead.skip_spaces() > 0
        && ahead.take_word().is_some_and(|word| word == "ON" || word == "TO");
    if is_on {
        *cursor = ahead;
    }
    is_on
}
