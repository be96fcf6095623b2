//! Matches the names of reference and move types in any grammatical form.

use super::cursor::Cursor;
use crate::domain::reference::{MoveType, RefType};

/// A type recognised from a written word.
#[derive(Debug)]
pub(super) struct Form<T> {
    pub word: T,
    /// The word is the exact name, not an inflected form.
    pub is_exact: bool,
}

pub(super) fn ref_type(written: &str) -> Option<Form<RefType>> {
    form(written, RefType::ALL, RefType::name)
}

pub(super) fn move_type(written: &str) -> Option<Form<MoveType>> {
    form(written, MoveType::ALL, MoveType::name)
}

fn form<T: Copy>(written: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Option<Form<T>> {
    let written = written.to_ascii_lowercase();
    let word = all.iter().copied().find(|word| is_form_of(&written, name(*word)))?;
    Some(Form { word, is_exact: written == name(word) })
}

/// `supports`, `supported` and `supporting` are forms of `support`.
fn is_form_of(word: &str, name: &str) -> bool {
    let endings = ["", "s", "es", "d", "ed", "ing"];
    let is_longer = word.strip_prefix(name).is_some_and(|ending| endings.contains(&ending));
    let stem = name.strip_suffix('e');
    is_longer || stem.is_some_and(|stem| word.strip_prefix(stem) == Some("ing"))
}

/// Skips the preposition in `DEPENDS ON P0001`.
pub(super) fn follow_on(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let is_on = ahead.spaces() > 0 && ahead.word().is_some_and(|word| word == "ON" || word == "TO");
    if is_on {
        *cursor = ahead;
    }
    is_on
}
