//! Keeps the messages of deliberators and adjudicator within the input budget.
//!
//! Judgements are cut first, although they are usually short; then the context files, to head and
//! tail; last the artifact, because no deliberator judges the part that is cut. Every cut is noted
//! in the journal.

use super::deliberator::DeliberatorView;
use super::shown::JudgementSection;
use crate::prompting::condense::{
    INPUT_BYTES_MAX, OWN_TEXT_BYTES, TEXT_BYTES_STEPS, fits_budget, map_texts, rendered_bytes,
    truncate_to_fit,
};
use crate::prompting::view::FencedSection;

/// Limit for all judgements together. Four judgements with eight long concerns each take less
/// than a quarter of it.
const JUDGEMENTS_BYTES_MAX: usize = 200_000;

/// All context files together keep at least this many bytes.
const CONTEXT_BYTES_MIN: usize = 20_000;

/// The artifact keeps at least this many bytes.
const ARTIFACT_BYTES_MIN: usize = 4_000;

/// Whether the whole artifact always fits beside the other sections. Escapes count, since they
/// take more bytes.
pub fn fits_whole(artifact: &str) -> bool {
    let shown = [FencedSection::new("ARTIFACT", "the artifact", artifact.to_owned())];
    let others = JUDGEMENTS_BYTES_MAX + CONTEXT_BYTES_MIN + OWN_TEXT_BYTES;
    rendered_bytes(&shown) <= INPUT_BYTES_MAX.saturating_sub(others)
}

/// Cuts until everything fits; returns a note for each cut.
pub(super) fn condense_deliberator_view(desk: &mut DeliberatorView) -> Vec<String> {
    let cuts: [fn(&mut DeliberatorView) -> Option<String>; 3] =
        [|desk| cut_judgements(&mut desk.judgements), cut_context, cut_artifact];
    let mut notes = Vec::new();
    for cut in cuts {
        if fits_budget(&desk.all_sections()) {
            break;
        }
        notes.extend(cut(desk));
    }
    notes
}

/// Cuts the texts of judgements to head and tail, with a smaller limit each time.
pub(super) fn cut_judgements(judgements: &mut [JudgementSection]) -> Option<String> {
    let bytes = |judgements: &[JudgementSection]| {
        rendered_bytes(&judgements.iter().map(JudgementSection::to_section).collect::<Vec<_>>())
    };
    let mut note = None;
    for bytes_max in TEXT_BYTES_STEPS {
        if bytes(judgements) <= JUDGEMENTS_BYTES_MAX {
            break;
        }
        let cut = |text: &str| truncate_to_fit(text, bytes_max);
        judgements.iter_mut().for_each(|shown| map_texts(&mut shown.said, &cut));
        let what = "in the judgements, texts over";
        note = Some(format!("{what} {bytes_max} bytes were cut, head and tail kept"));
    }
    note
}

/// Cuts each file in proportion to its size.
fn cut_context(desk: &mut DeliberatorView) -> Option<String> {
    let bytes =
        |desk: &DeliberatorView| rendered_bytes(&desk.context_sections().collect::<Vec<_>>());
    let before = bytes(desk);
    let room = bytes_left_for(desk, before).max(CONTEXT_BYTES_MIN);
    if before <= room {
        return None;
    }
    let whole = desk.context.clone();
    let mut target = room;
    while bytes(desk) > room && target > CONTEXT_BYTES_MIN / 4 {
        for (file, whole) in desk.context.iter_mut().zip(&whole) {
            let share = |text: &String| text.len() as u128 * target as u128 / before as u128;
            let cut =
                |text: &String| truncate_to_fit(text, usize::try_from(share(text)).unwrap_or(0));
            file.text = whole.text.as_ref().map(cut);
        }
        target = target * 9 / 10;
    }
    let after = bytes(desk);
    Some(format!("the context files were cut from {before} to {after} bytes, head and tail kept"))
}

fn cut_artifact(desk: &mut DeliberatorView) -> Option<String> {
    let whole = std::mem::take(&mut desk.artifact);
    let before = whole.len();
    let mut target = bytes_left_for(desk, 0).max(ARTIFACT_BYTES_MIN);
    desk.artifact = truncate_to_fit(&whole, target);
    while !fits_budget(&desk.all_sections()) && target > ARTIFACT_BYTES_MIN {
        target = target * 9 / 10;
        desk.artifact = truncate_to_fit(&whole, target);
    }
    let after = desk.artifact.len();
    (after < before)
        .then(|| format!("the artifact was cut from {before} to {after} bytes, head and tail kept"))
}

/// Bytes available for a part that currently takes `part_bytes`.
fn bytes_left_for(desk: &DeliberatorView, part_bytes: usize) -> usize {
    let sections: Vec<FencedSection> = desk.all_sections();
    let others = rendered_bytes(&sections).saturating_sub(part_bytes) + OWN_TEXT_BYTES;
    INPUT_BYTES_MAX.saturating_sub(others)
}
