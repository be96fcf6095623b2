//! Keeps what the Synthesizer reads within the input budget.
//!
//! The order of cutting: the files to head and tail; texts of many pages to head and tail;
//! the older rounds to labels, then to their open tensions, each time the oldest first; what
//! is long in the newest round; that round the same way as the others. What was cut is said,
//! and goes into the record.

use super::brief::Brief;
use super::chronicle::Detail;
use crate::prompting::condense::{
    INPUT_BYTES_MAX, WORDS_AROUND, change_texts, context_bytes, cut_context_to, cut_question,
    fitting,
};

/// What is left to the files in any case: the answer rests on the record more than on them.
const CONTEXT_BYTES_MIN: usize = 100_000;

const BACKGROUND_BYTES_MAX: usize = 50_000;

/// The sentence and the lines around the record.
const FENCE_BYTES: usize = 600;

/// To what long texts are cut, one after the other: first wherever they stand, and when older
/// rounds have given way, in the newest.
const PAGES_BYTES: [usize; 3] = [16_000, 8_000, 4_000];
const PARAGRAPH_BYTES: [usize; 3] = [2_000, 1_000, 300];

/// What is left of labels, one after the other, when there is not even room for those.
const LABEL_CHARS: [usize; 3] = [160, 40, 0];

type Cut = fn(&mut Brief<'_>) -> Vec<String>;

/// Cuts until all fits, and says what. A tension that is open is named in any case, so that
/// thousands of them are the one thing that may stay over the budget.
pub(super) fn condense(brief: &mut Brief<'_>) -> Vec<String> {
    let cuts: [Cut; 6] =
        [cut_material, cut_pages, labels_of_older, open_of_older, cut_newest, less_of_everything];
    let mut notes = Vec::new();
    for cut in cuts {
        if brief.chronicle.fits(room(brief)) {
            break;
        }
        notes.extend(cut(brief));
    }
    notes
}

/// What there is for the record.
fn room(brief: &Brief<'_>) -> usize {
    let taken = brief.bytes_around_record() + FENCE_BYTES + WORDS_AROUND;
    INPUT_BYTES_MAX.saturating_sub(taken)
}

fn cut_material(brief: &mut Brief<'_>) -> Vec<String> {
    let mut notes: Vec<String> = cut_question(&mut brief.view).into_iter().collect();
    if let Some(background) = &mut brief.background {
        let (before, cut) = (background.len(), fitting(background, BACKGROUND_BYTES_MAX));
        if cut.len() < before {
            notes.push(format!("the background was cut from {before} to {} bytes", cut.len()));
            *background = cut;
        }
    }
    let for_files = room(brief) + context_bytes(&brief.view);
    let left = for_files.saturating_sub(brief.chronicle.plain_bytes()).max(CONTEXT_BYTES_MIN);
    notes.extend(cut_context_to(&mut brief.view, left));
    notes
}

fn labels_of_older(brief: &mut Brief<'_>) -> Vec<String> {
    let older = brief.chronicle.newest_and_older().1;
    retell(brief, &older, Detail::Labels)
        .map(|told| format!("{told} to labels"))
        .into_iter()
        .collect()
}

fn open_of_older(brief: &mut Brief<'_>) -> Vec<String> {
    let older = brief.chronicle.newest_and_older().1;
    let detail = Detail::OpenTensions { label_chars: LABEL_CHARS[0] };
    let told = retell(brief, &older, detail);
    told.map(|told| format!("{told} to their open tensions")).into_iter().collect()
}

/// The newest round is told in less detail, and at last all are told in the least.
fn less_of_everything(brief: &mut Brief<'_>) -> Vec<String> {
    let (newest, older) = brief.chronicle.newest_and_older();
    let newest: Vec<u8> = newest.into_iter().collect();
    let all: Vec<u8> = older.iter().chain(&newest).copied().collect();
    let mut notes = Vec::new();
    notes.extend(retell(brief, &newest, Detail::Labels).map(|told| format!("{told} to labels")));
    for label_chars in LABEL_CHARS {
        let told = retell(brief, &all, Detail::OpenTensions { label_chars });
        let what = format!("to their open tensions, by {label_chars} characters of their labels");
        notes.extend(told.map(|told| format!("{told} {what}")));
    }
    notes
}

/// Tells rounds once more, one after the other, until all fits; says which.
fn retell(brief: &mut Brief<'_>, rounds: &[u8], detail: Detail) -> Option<String> {
    let room = room(brief);
    let mut told: Vec<u8> = Vec::new();
    for round in rounds {
        if brief.chronicle.fits(room) {
            break;
        }
        brief.chronicle.retell(*round, detail);
        told.push(*round);
    }
    match told.as_slice() {
        [] => None,
        [one] => Some(format!("round {one} was cut")),
        [first, .., last] => Some(format!("rounds {first} to {last} were cut")),
    }
}

/// What is pages long, wherever it stands.
fn cut_pages(brief: &mut Brief<'_>) -> Vec<String> {
    let (newest, older) = brief.chronicle.newest_and_older();
    let all: Vec<u8> = older.into_iter().chain(newest).collect();
    cut_texts(brief, &PAGES_BYTES, &all)
}

fn cut_newest(brief: &mut Brief<'_>) -> Vec<String> {
    let newest: Vec<u8> = brief.chronicle.newest_and_older().0.into_iter().collect();
    cut_texts(brief, &PARAGRAPH_BYTES, &newest)
}

/// Texts in these rounds, in the verdicts, in the report and in what was added keep their heads
/// and tails, each time less of them, until all fits.
fn cut_texts(brief: &mut Brief<'_>, sizes: &[usize], rounds: &[u8]) -> Vec<String> {
    let mut notes = Vec::new();
    for bytes_max in sizes {
        let (before, cut) = (room(brief), |text: &str| fitting(text, *bytes_max));
        if brief.chronicle.fits(before) {
            break;
        }
        let mut is_cut = brief.chronicle.shorten(rounds, *bytes_max);
        if let Some(report) = &mut brief.report {
            change_texts(report, &cut);
        }
        brief.view.additions.iter_mut().for_each(|added| added.text = cut(&added.text));
        is_cut |= room(brief) > before;
        if is_cut {
            notes = vec![format!("texts over {bytes_max} bytes were cut, head and tail kept")];
        }
    }
    notes
}
