//! What a reference or a move points at: ids and positions, one after the other.

use super::cursor::Cursor;
use super::slip::Slip;
use super::spelling::{Spelled, read_id};
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::EXPERT_SLUG_BYTES_MAX;

/// Nobody who means something names more at once; and a text of nothing but ids is read once.
const POINTERS_MAX: usize = 32;

/// One target of a reference or a move.
#[derive(Debug)]
pub(super) struct Pointer<'a> {
    pub aim: Aim,
    pub written: &'a str,
}

#[derive(Debug)]
pub(super) enum Aim {
    Id(Spelled),
    Position(ExpertSlug),
}

/// Ids, one after the other, up to something that is none.
pub(super) fn pointers<'a>(cursor: &mut Cursor<'a>, own: &ExpertSlug) -> Vec<Pointer<'a>> {
    let mut pointers = Vec::new();
    while pointers.len() < POINTERS_MAX {
        let mut ahead = *cursor;
        ahead.spaces_over(1);
        if !pointers.is_empty() {
            pass_between(&mut ahead);
        }
        while ahead.take_if(|sign| "[({<\"'#".contains(sign)).is_some() {
            ahead.slip(Slip::Punctuation);
        }
        let text = ahead.rest();
        let Some(aim) = aim(&mut ahead, own) else { break };
        let written = text.strip_suffix(ahead.rest()).unwrap_or(text);
        while ahead.take_if(|sign| "])}>\"'".contains(sign)).is_some() {
            ahead.slip(Slip::Punctuation);
        }
        pointers.push(Pointer { aim, written });
        *cursor = ahead;
    }
    pointers
}

/// Commas, arrows and the word `and` between ids.
fn pass_between(cursor: &mut Cursor<'_>) {
    loop {
        let mut ahead = *cursor;
        let is_sign = ahead.take_if(|sign| ",;&+/|<>→↔⇄⟷".contains(sign)).is_some();
        if !is_sign && ahead.word().is_none_or(|word| word != "AND") {
            return;
        }
        ahead.slips = cursor.slips.with(Slip::Punctuation);
        ahead.spaces();
        *cursor = ahead;
    }
}

fn aim(cursor: &mut Cursor<'_>, own: &ExpertSlug) -> Option<Aim> {
    let mut ahead = *cursor;
    if ahead.take_if(|sign| sign == '@').is_none() {
        return read_id(cursor, own).map(Aim::Id);
    }
    let mut name = String::new();
    while let Some(sign) = ahead.take_if(|sign| sign.is_ascii_alphanumeric() || "_-".contains(sign))
    {
        if sign.is_ascii_uppercase() {
            ahead.slip(Slip::LetterCase);
        }
        name.push(sign.to_ascii_lowercase());
        if name.len() > EXPERT_SLUG_BYTES_MAX {
            return None;
        }
    }
    let position = name.parse().ok().map(Aim::Position)?;
    *cursor = ahead;
    Some(position)
}
