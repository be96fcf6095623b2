//! Reads the targets of a reference or move: a list of ids and `@expert` positions.

use super::cursor::MarkerCursor;
use super::slip::MarkerDeviation;
use super::spelling::{WrittenId, read_id};
use crate::domain::ids::ExpertSlug;
use crate::domain::limits::EXPERT_SLUG_BYTES_MAX;

/// Maximum number of targets in one marker. It keeps the run time linear for a text of ids only.
const TARGETS_MAX: usize = 32;

/// One target of a reference or move, as written.
#[derive(Debug)]
pub(super) struct WrittenTarget<'a> {
    pub form: TargetForm,
    pub written: &'a str,
}

#[derive(Debug)]
pub(super) enum TargetForm {
    Id(WrittenId),
    Position(ExpertSlug),
}

/// Reads ids and positions until something else follows.
pub(super) fn read_targets<'a>(
    cursor: &mut MarkerCursor<'a>,
    own: &ExpertSlug,
) -> Vec<WrittenTarget<'a>> {
    let mut pointers = Vec::new();
    while pointers.len() < TARGETS_MAX {
        let mut ahead = *cursor;
        ahead.skip_expected_spaces(1);
        if !pointers.is_empty() {
            skip_target_separators(&mut ahead);
        }
        while ahead.take_if(|sign| "[({<\"'#".contains(sign)).is_some() {
            ahead.note_deviation(MarkerDeviation::Punctuation);
        }
        let text = ahead.remaining_text();
        let Some(aim) = read_target_form(&mut ahead, own) else { break };
        let written = text.strip_suffix(ahead.remaining_text()).unwrap_or(text);
        while ahead.take_if(|sign| "])}>\"'".contains(sign)).is_some() {
            ahead.note_deviation(MarkerDeviation::Punctuation);
        }
        pointers.push(WrittenTarget { form: aim, written });
        *cursor = ahead;
    }
    pointers
}

/// Skips commas, arrows and the word `and` between ids.
fn skip_target_separators(cursor: &mut MarkerCursor<'_>) {
    loop {
        let mut ahead = *cursor;
        let is_sign = ahead.take_if(|sign| ",;&+/|<>→↔⇄⟷".contains(sign)).is_some();
        if !is_sign && ahead.take_word().is_none_or(|word| word != "AND") {
            return;
        }
        ahead.slips = cursor.slips.with(MarkerDeviation::Punctuation);
        ahead.skip_spaces();
        *cursor = ahead;
    }
}

fn read_target_form(cursor: &mut MarkerCursor<'_>, own: &ExpertSlug) -> Option<TargetForm> {
    let mut ahead = *cursor;
    if ahead.take_if(|sign| sign == '@').is_none() {
        return read_id(cursor, own).map(TargetForm::Id);
    }
    let mut name = String::new();
    while let Some(sign) = ahead.take_if(|sign| sign.is_ascii_alphanumeric() || "_-".contains(sign))
    {
        if sign.is_ascii_uppercase() {
            ahead.note_deviation(MarkerDeviation::LetterCase);
        }
        name.push(sign.to_ascii_lowercase());
        if name.len() > EXPERT_SLUG_BYTES_MAX {
            return None;
        }
    }
    let position = name.parse().ok().map(TargetForm::Position)?;
    *cursor = ahead;
    Some(position)
}
