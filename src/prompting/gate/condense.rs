//! Keeps the messages of deliberators and adjudicator within the input budget.
//!
//! Judgements are cut first, although they are usually short; then the context files, to head and
//! tail; last the artifact, because no deliberator judges the part that is cut. Every cut is noted
//! in the journal.

use super::deliberator::Desk;
use super::shown::Shown;
use crate::prompting::condense::{
    INPUT_BYTES_MAX, TEXT_BYTES, WORDS_AROUND, change_texts, fits, fitting, shown_bytes,
};
use crate::prompting::view::Section;

/// Limit for all judgements together. Four judgements with eight long concerns each take less
/// than a quarter of it.
const JUDGEMENTS_BYTES_MAX: usize = 200_000;

/// All context files together keep at least this many bytes.
const CONTEXT_BYTES_MIN: usize = 20_000;

/// The artifact keeps at least this many bytes.
const ARTIFACT_BYTES_MIN: usize = 4_000;

/// Whether the whole artifact always fits beside the other sections. Escapes count, since they
/// take more bytes.
pub fn is_shown_whole(artifact: &str) -> bool {
    let shown = [Section::new("ARTIFACT", "the artifact", artifact.to_owned())];
    let others = JUDGEMENTS_BYTES_MAX + CONTEXT_BYTES_MIN + WORDS_AROUND;
    shown_bytes(&shown) <= INPUT_BYTES_MAX.saturating_sub(others)
}

/// Cuts until everything fits; returns a note for each cut.
pub(super) fn condense(desk: &mut Desk) -> Vec<String> {
    let cuts: [fn(&mut Desk) -> Option<String>; 3] =
        [|desk| cut_judgements(&mut desk.judgements), cut_context, cut_artifact];
    let mut notes = Vec::new();
    for cut in cuts {
        if fits(&desk.sections()) {
            break;
        }
        notes.extend(cut(desk));
    }
    notes
}

/// Cuts the texts of judgements to head and tail, with a smaller limit each time.
pub(super) fn cut_judgements(judgements: &mut [Shown]) -> Option<String> {
    let bytes = |judgements: &[Shown]| {
        shown_bytes(&judgements.iter().map(Shown::section).collect::<Vec<_>>())
    };
    let mut note = None;
    for bytes_max in TEXT_BYTES {
        if bytes(judgements) <= JUDGEMENTS_BYTES_MAX {
            break;
        }
        let cut = |text: &str| fitting(text, bytes_max);
        judgements.iter_mut().for_each(|shown| change_texts(&mut shown.said, &cut));
        let what = "in the judgements, texts over";
        note = Some(format!("{what} {bytes_max} bytes were cut, head and tail kept"));
    }
    note
}

/// Cuts each file in proportion to its size.
fn cut_context(desk: &mut Desk) -> Option<String> {
    let bytes = |desk: &Desk| shown_bytes(&desk.context_sections().collect::<Vec<_>>());
    let before = bytes(desk);
    let room = room_beside(desk, before).max(CONTEXT_BYTES_MIN);
    if before <= room {
        return None;
    }
    let whole = desk.context.clone();
    let mut target = room;
    while bytes(desk) > room && target > CONTEXT_BYTES_MIN / 4 {
        for (file, whole) in desk.context.iter_mut().zip(&whole) {
            let share = |text: &String| text.len() as u128 * target as u128 / before as u128;
            let cut = |text: &String| fitting(text, usize::try_from(share(text)).unwrap_or(0));
            file.text = whole.text.as_ref().map(cut);
        }
        target = target * 9 / 10;
    }
    let after = bytes(desk);
    Some(format!("the context files were cut from {before} to {after} bytes, head and tail kept"))
}

fn cut_artifact(desk: &mut Desk) -> Option<String> {
    let whole = std::mem::take(&mut desk.artifact);
    let before = whole.len();
    let mut target = room_beside(desk, 0).max(ARTIFACT_BYTES_MIN);
    desk.artifact = fitting(&whole, target);
    while !fits(&desk.sections()) && target > ARTIFACT_BYTES_MIN {
        target = target * 9 / 10;
        desk.artifact = fitting(&whole, target);
    }
    let after = desk.artifact.len();
    (after < before)
        .then(|| format!("the artifact was cut from {before} to {after} bytes, head and tail kept"))
}

/// Bytes available for a part that currently takes `part_bytes`.
fn room_beside(desk: &Desk, part_bytes: usize) -> usize {
    let sections: Vec<Section> = desk.sections();
    let others = shown_bytes(&sections).saturating_sub(part_bytes) + WORDS_AROUND;
    INPUT_BYTES_MAX.saturating_sub(others)
}
