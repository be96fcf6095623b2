//! Keeps what a deliberator or the adjudicator reads within the input budget.
//!
//! Judgements are short; should they be not, they give way first. Then the files that a
//! deliberator judges by are cut to head and tail, down to a rest, and last the artifact:
//! what is cut from it is judged by nobody. What was cut is said, and goes into the record.

use super::deliberator::Desk;
use super::shown::Shown;
use crate::prompting::condense::{
    INPUT_BYTES_MAX, TEXT_BYTES, WORDS_AROUND, change_texts, fits, fitting, shown_bytes,
};
use crate::prompting::view::Section;

/// What the judgements may take together. Four of them with eight long concerns each are less
/// than a quarter of it.
const JUDGEMENTS_BYTES_MAX: usize = 200_000;

/// What is left to the context files in any case, all together.
const CONTEXT_BYTES_MIN: usize = 20_000;

/// An artifact of which less would be left is not cut further.
const ARTIFACT_BYTES_MIN: usize = 4_000;

/// Whether an artifact is shown whole whatever stands beside it. It counts as it is shown: what
/// is escaped takes more room.
pub fn is_shown_whole(artifact: &str) -> bool {
    let shown = [Section::new("ARTIFACT", "the artifact", artifact.to_owned())];
    let others = JUDGEMENTS_BYTES_MAX + CONTEXT_BYTES_MIN + WORDS_AROUND;
    shown_bytes(&shown) <= INPUT_BYTES_MAX.saturating_sub(others)
}

/// Cuts until all fits, and says what.
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

/// The texts of judgements keep their heads and tails, each time less of them.
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

/// Each file gives way in proportion.
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

/// What there is for a part that takes so many bytes now.
fn room_beside(desk: &Desk, part_bytes: usize) -> usize {
    let sections: Vec<Section> = desk.sections();
    let others = shown_bytes(&sections).saturating_sub(part_bytes) + WORDS_AROUND;
    INPUT_BYTES_MAX.saturating_sub(others)
}
