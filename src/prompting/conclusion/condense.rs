//! Keeps the synthesizer's messages within the input budget.
//!
//! Cuts in this order: files to head and tail; very long texts to head and tail; older rounds to
//! labels, then to open tensions, each time the oldest first; long texts of the newest round; then
//! the newest round like the others. Every cut is noted in the journal.

use super::brief::ConclusionBrief;
use super::chronicle::DetailLevel;
use crate::prompting::condense::{
    INPUT_BYTES_MAX, OWN_TEXT_BYTES, context_bytes, cut_context_to, cut_question, map_texts,
    truncate_to_fit,
};

/// The files keep at least this many bytes. The record matters more for the conclusion.
const CONTEXT_BYTES_MIN: usize = 100_000;

const BACKGROUND_BYTES_MAX: usize = 50_000;

/// The sentence and the fence lines around the record.
const FENCE_BYTES: usize = 600;

/// Limits for long texts, tried in order: first in all rounds, then, after older rounds were cut,
/// in the newest.
const LONG_TEXT_BYTES: [usize; 3] = [16_000, 8_000, 4_000];
const PARAGRAPH_BYTES: [usize; 3] = [2_000, 1_000, 300];

/// Limits for labels, tried in order when labels alone are too long.
const LABEL_CHARS: [usize; 3] = [160, 40, 0];

type CutStep = fn(&mut ConclusionBrief<'_>) -> Vec<String>;

/// Cuts until everything fits; returns a note for each cut. Open tensions are always named, so
/// only thousands of them can exceed the budget.
pub(super) fn condense_brief(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let cuts: [CutStep; 6] = [
        cut_files_and_background,
        cut_long_texts,
        cut_older_to_labels,
        cut_older_to_tensions,
        cut_newest_texts,
        cut_every_round,
    ];
    let mut notes = Vec::new();
    for cut in cuts {
        if brief.chronicle.fits_bytes(record_bytes_left(brief)) {
            break;
        }
        notes.extend(cut(brief));
    }
    notes
}

/// Bytes available for the record.
fn record_bytes_left(brief: &ConclusionBrief<'_>) -> usize {
    let taken = brief.bytes_around_record() + FENCE_BYTES + OWN_TEXT_BYTES;
    INPUT_BYTES_MAX.saturating_sub(taken)
}

fn cut_files_and_background(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let mut notes: Vec<String> = cut_question(&mut brief.view).into_iter().collect();
    if let Some(background) = &mut brief.background {
        let (before, cut) = (background.len(), truncate_to_fit(background, BACKGROUND_BYTES_MAX));
        if cut.len() < before {
            notes.push(format!("the background was cut from {before} to {} bytes", cut.len()));
            *background = cut;
        }
    }
    let for_files = record_bytes_left(brief) + context_bytes(&brief.view);
    let left = for_files.saturating_sub(brief.chronicle.plain_bytes()).max(CONTEXT_BYTES_MIN);
    notes.extend(cut_context_to(&mut brief.view, left));
    notes
}

fn cut_older_to_labels(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let older = brief.chronicle.newest_and_older().1;
    rerender_rounds(brief, &older, DetailLevel::Labels)
        .map(|told| format!("{told} to labels"))
        .into_iter()
        .collect()
}

fn cut_older_to_tensions(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let older = brief.chronicle.newest_and_older().1;
    let detail = DetailLevel::OpenTensions { label_chars: LABEL_CHARS[0] };
    let told = rerender_rounds(brief, &older, detail);
    told.map(|told| format!("{told} to their open tensions")).into_iter().collect()
}

/// Renders the newest round in less detail, then all rounds in the least.
fn cut_every_round(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let (newest, older) = brief.chronicle.newest_and_older();
    let newest: Vec<u8> = newest.into_iter().collect();
    let all: Vec<u8> = older.iter().chain(&newest).copied().collect();
    let mut notes = Vec::new();
    notes.extend(
        rerender_rounds(brief, &newest, DetailLevel::Labels)
            .map(|told| format!("{told} to labels")),
    );
    for label_chars in LABEL_CHARS {
        let told = rerender_rounds(brief, &all, DetailLevel::OpenTensions { label_chars });
        let what = format!("to their open tensions, by {label_chars} characters of their labels");
        notes.extend(told.map(|told| format!("{told} {what}")));
    }
    notes
}

/// Renders rounds again, one after the other, until everything fits; returns which.
fn rerender_rounds(
    brief: &mut ConclusionBrief<'_>,
    rounds: &[u8],
    detail: DetailLevel,
) -> Option<String> {
    let room = record_bytes_left(brief);
    let mut told: Vec<u8> = Vec::new();
    for round in rounds {
        if brief.chronicle.fits_bytes(room) {
            break;
        }
        brief.chronicle.rerender_round(*round, detail);
        told.push(*round);
    }
    match told.as_slice() {
        [] => None,
        [one] => Some(format!("round {one} was cut")),
        [first, .., last] => Some(format!("rounds {first} to {last} were cut")),
    }
}

/// Cuts very long texts in all rounds.
fn cut_long_texts(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let (newest, older) = brief.chronicle.newest_and_older();
    let all: Vec<u8> = older.into_iter().chain(newest).collect();
    cut_texts(brief, &LONG_TEXT_BYTES, &all)
}

fn cut_newest_texts(brief: &mut ConclusionBrief<'_>) -> Vec<String> {
    let newest: Vec<u8> = brief.chronicle.newest_and_older().0.into_iter().collect();
    cut_texts(brief, &PARAGRAPH_BYTES, &newest)
}

/// Cuts texts in these rounds, the verdicts, the report and the interventions to head and tail,
/// with a smaller limit each time, until everything fits.
fn cut_texts(brief: &mut ConclusionBrief<'_>, sizes: &[usize], rounds: &[u8]) -> Vec<String> {
    let mut notes = Vec::new();
    for bytes_max in sizes {
        let (before, cut) =
            (record_bytes_left(brief), |text: &str| truncate_to_fit(text, *bytes_max));
        if brief.chronicle.fits_bytes(before) {
            break;
        }
        let mut is_cut = brief.chronicle.shorten_texts(rounds, *bytes_max);
        if let Some(report) = &mut brief.report {
            map_texts(report, &cut);
        }
        brief.view.additions.iter_mut().for_each(|added| added.text = cut(&added.text));
        is_cut |= record_bytes_left(brief) > before;
        if is_cut {
            notes = vec![format!("texts over {bytes_max} bytes were cut, head and tail kept")];
        }
    }
    notes
}
