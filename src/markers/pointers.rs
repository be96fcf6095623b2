//! Reads the targets of a reference or move: a list of ids and `@expert` positions.

use super::cursor::Cursor;
use super::slip::Slip;
use super::spelling::{Spelled, read_id};
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::EXPERT_SLUG_BYTES_MAX;

/// Maximum number of targets in one marker. It keeps the run time linear for a text of ids only.
const POINTERS_MAX: usize = 32;

/// One target of a reference or move, as written.
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

/// Reads ids and positions until something else follows.
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

/// Skips commas, arrows and the word `and` between ids.
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
