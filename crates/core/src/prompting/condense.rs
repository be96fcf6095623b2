//! Keeps the messages of a council round within the input budget.
//!
//! When they are over the budget, files are cut to head and tail first, then opinions to summary
//! and recommendation. A high risk is never dropped. Every cut is noted in the journal.

use std::cell::Cell;
use std::sync::Arc;

use serde_json::Value;

use crate::model::plan::IndexedFile;
use crate::prompting::anonymize::NameMask;
use crate::prompting::neutralize::neutralize_text;
use crate::prompting::reader_view::{FencedSection, ReaderView, SectionOpening, further_file_line};
use crate::protocols::council::types::{
    CritiqueType, FindingStance, OpinionReply, OpinionStance, PeerReview, RatingLevel,
};

/// About 150,000 tokens: every large model accepts this and has space left for its answer.
pub const INPUT_BYTES_MAX: usize = 600_000;

/// The files keep at least this many bytes.
const CONTEXT_BYTES_MIN: usize = 4_000;

/// Only a question with many escaped characters can exceed this.
const QUESTION_BYTES_MAX: usize = 400_000;

/// The sentence and the two fence lines around each text.
const FENCE_BYTES: usize = 600;

/// The same with the short sentence, and a path line of usual length.
const SHORT_FENCE_BYTES: usize = 250;

/// The task, our remarks, and the retry request with its reason.
pub(crate) const OWN_TEXT_BYTES: usize = 4_000;

/// Limit for the rejection reason, which may quote the reply.
pub(crate) const REASON_BYTES_MAX: usize = 2_000;

/// An escape such as `\u{1}` is at most this many times as long as its character.
const ESCAPE_GROWTH_MAX: usize = 6;

/// The line that says how many bytes are missing.
const MARKER_BYTES: usize = 64;

/// Limits for a single text, tried in order until everything fits.
pub(crate) const TEXT_BYTES_STEPS: [usize; 6] = [16_000, 8_000, 4_000, 2_000, 1_000, 300];

#[derive(Debug)]
pub(crate) struct CondensedView {
    pub sections: Vec<FencedSection>,
    pub notes: Vec<String>,
}

/// Masks names in the view and cuts its sections until they fit.
///
/// Every high risk is kept, so only a panel that reports thousands of them can exceed the budget.
pub(crate) fn condense_view(view: &mut ReaderView, mask: Option<&NameMask>) -> CondensedView {
    let mut notes = Vec::new();
    if let Some(mask) = mask {
        notes.extend(mask_names(view, mask));
    }
    let mut sections = view.all_sections();
    for cut in [cut_question_and_files, cut_opinions_and_reviews, cut_texts] {
        if fits_budget(&sections) {
            break;
        }
        notes.extend(cut(view));
        sections = view.all_sections();
    }
    CondensedView { sections, notes }
}

pub(crate) fn fits_budget(sections: &[FencedSection]) -> bool {
    let around = sections.iter().map(fence_bytes).sum::<usize>() + OWN_TEXT_BYTES;
    let room = INPUT_BYTES_MAX.saturating_sub(around);
    let bytes: usize = sections.iter().map(|section| section.text.len()).sum();
    // Escaping never shortens a text and lengthens it at most by this factor.
    bytes * ESCAPE_GROWTH_MAX <= room
        || (bytes <= room && rendered_bytes(sections) <= INPUT_BYTES_MAX - OWN_TEXT_BYTES)
}

/// Length of the sections including escapes and fences.
pub(crate) fn rendered_bytes(sections: &[FencedSection]) -> usize {
    sections.iter().map(|section| neutralize_text(&section.text).len() + fence_bytes(section)).sum()
}

fn fence_bytes(section: &FencedSection) -> usize {
    match section.opening {
        SectionOpening::Full => FENCE_BYTES,
        SectionOpening::Short => SHORT_FENCE_BYTES,
    }
}

fn mask_names(view: &mut ReaderView, mask: &NameMask) -> Option<String> {
    let masked = Cell::new(0);
    let hide = |text: &str| {
        let (hidden, count) = mask.mask_text(text);
        masked.set(masked.get() + count);
        hidden
    };
    view.opinions.iter_mut().for_each(|shown| map_texts(&mut shown.said, &hide));
    view.reviews.iter_mut().for_each(|shown| map_texts(&mut shown.said, &hide));
    (masked.get() > 0).then(|| format!("{} names of models were masked", masked.get()))
}

/// Applies `change` to every string of a document, at any depth.
pub(crate) fn map_texts<T>(said: &mut T, change: &dyn Fn(&str) -> String)
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let Ok(mut value) = serde_json::to_value(&*said) else { return };
    map_value_texts(&mut value, change);
    if let Ok(changed) = serde_json::from_value(value) {
        *said = changed;
    }
}

fn map_value_texts(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        // A seat may be called `high`; masking must not change a severity.
        Value::String(text) if is_enum_value(text) => {}
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_value_texts(item, change)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| map_value_texts(field, change))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_enum_value(text: &str) -> bool {
    RatingLevel::named(text).is_some()
        || OpinionStance::named(text).is_some()
        || CritiqueType::named(text).is_some()
        || FindingStance::named(text).is_some()
}

pub(crate) fn context_bytes(view: &ReaderView) -> usize {
    rendered_bytes(&view.file_sections())
}

/// Cuts the question and its files.
fn cut_question_and_files(view: &mut ReaderView) -> Vec<String> {
    let question = cut_question(view);
    let others = rendered_bytes(&view.all_sections()) - context_bytes(view) + OWN_TEXT_BYTES;
    let room = INPUT_BYTES_MAX.saturating_sub(others).max(CONTEXT_BYTES_MIN);
    question.into_iter().chain(cut_context_to(view, room)).collect()
}

pub(crate) fn cut_question(view: &mut ReaderView) -> Option<String> {
    let before = view.question.len();
    let whole = std::mem::take(&mut view.question);
    view.question = truncate_to_fit(&whole, QUESTION_BYTES_MAX);
    let after = view.question.len();
    (after < before).then(|| format!("the question was cut from {before} to {after} bytes"))
}

/// Cuts each file in proportion to its size, keeping head and tail.
pub(crate) fn cut_context_to(view: &mut ReaderView, room: usize) -> Option<String> {
    let before = context_bytes(view);
    if before <= room {
        return None;
    }
    let by_name_only = list_excess_files(view, room / 2);
    let unnamed = cut_file_index(view, room / 4);
    let whole = view.context.files.clone();
    let mut target = room;
    while context_bytes(view) > room && target > CONTEXT_BYTES_MIN / 4 {
        for (file, whole) in Arc::make_mut(&mut view.context).files.iter_mut().zip(&whole) {
            let share = whole.text.len() as u128 * target as u128 / before as u128;
            file.text =
                keep_head_and_tail(&whole.text, usize::try_from(share).unwrap_or(usize::MAX));
        }
        // Headings, markers and escapes also take space.
        target = target * 9 / 10;
    }
    let after = context_bytes(view);
    let mut note = format!("the files were cut from {before} to {after} bytes, head and tail kept");
    if by_name_only > 0 {
        note.push_str(&format!(", {by_name_only} by name only"));
    }
    if unnamed > 0 {
        note.push_str(&format!(", {unnamed} names left out"));
    }
    Some(note)
}

/// Each file costs a fence. When fences alone would use up the bytes, the last files are only
/// listed by name; returns how many.
fn list_excess_files(view: &mut ReaderView, room: usize) -> usize {
    let most = (room / SHORT_FENCE_BYTES).max(1);
    if view.context.files.len() <= most {
        return 0;
    }
    let context = Arc::make_mut(&mut view.context);
    let named: Vec<IndexedFile> = context
        .files
        .drain(most..)
        .map(|file| IndexedFile { path: file.path, bytes: file.text.len() as u64 })
        .collect();
    let count = named.len();
    context.indexed.splice(0..0, named);
    count
}

/// Keeps as many names of further files as fit; returns how many were dropped.
fn cut_file_index(view: &mut ReaderView, room: usize) -> usize {
    const LINE_BREAK: usize = 1;
    let mut left = room;
    let kept = view.context.indexed.iter().take_while(|file| {
        let wanted = neutralize_text(&further_file_line(file)).len() + LINE_BREAK;
        let fits = wanted <= left;
        left = left.saturating_sub(wanted);
        fits
    });
    let kept = kept.count();
    let unnamed = view.context.indexed.len() - kept;
    Arc::make_mut(&mut view.context).indexed.truncate(kept);
    view.unnamed += unnamed;
    unnamed
}

/// The text, or as much of its head and tail as takes about this many bytes after escaping.
pub(crate) fn truncate_to_fit(text: &str, bytes_max: usize) -> String {
    let cut = keep_head_and_tail(text, bytes_max);
    let shown = neutralize_text(&cut).len();
    if shown <= bytes_max + MARKER_BYTES {
        return cut;
    }
    keep_head_and_tail(text, (cut.len() as u128 * bytes_max as u128 / shown as u128) as usize)
}

fn keep_head_and_tail(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let (head, tail) = (bytes_max * 2 / 3, bytes_max / 3);
    let head_end = text.floor_char_boundary(head);
    let tail_start = text.ceil_char_boundary(text.len() - tail);
    let left_out = tail_start.saturating_sub(head_end);
    let (head, tail) =
        (text.get(..head_end).unwrap_or_default(), text.get(tail_start..).unwrap_or_default());
    format!("{head}\n[… {left_out} bytes left out here …]\n{tail}")
}

/// Cuts opinions and reviews to the parts that must be kept.
fn cut_opinions_and_reviews(view: &mut ReaderView) -> Vec<String> {
    view.opinions.iter_mut().for_each(|shown| shorten_opinion(&mut shown.said));
    view.reviews.iter_mut().for_each(|shown| shorten_review(&mut shown.said));
    let kept = "opinions were cut to summary, recommendation, high risks and high findings";
    let counts = [
        (view.opinions.len(), kept),
        (view.reviews.len(), "reviews were cut to ratings and grave critiques"),
    ];
    let cut = counts.into_iter().filter(|(count, _)| *count > 0);
    cut.map(|(count, what)| format!("{count} {what}")).collect()
}

fn shorten_opinion(said: &mut OpinionReply) {
    said.details.understanding.clear();
    said.details.key_considerations.clear();
    said.details.rationale.clear();
    said.assumptions.clear();
    said.questions.clear();
    said.risks.retain(|risk| risk.severity == RatingLevel::High);
    said.findings.retain(|finding| finding.severity == RatingLevel::High);
}

fn shorten_review(said: &mut PeerReview) {
    said.would_change_my_opinion.clear();
    for target in &mut said.targets {
        target.agreement_points.clear();
        target.critiques.retain(|critique| critique.severity == RatingLevel::High);
    }
}

/// Cuts single texts that are still too long to head and tail.
fn cut_texts(view: &mut ReaderView) -> Vec<String> {
    let shorten = |view: &mut ReaderView, cut: &dyn Fn(&str) -> String| {
        view.opinions.iter_mut().for_each(|shown| map_texts(&mut shown.said, cut));
        view.reviews.iter_mut().for_each(|shown| map_texts(&mut shown.said, cut));
        view.additions.iter_mut().for_each(|added| added.text = cut(&added.text));
        fits_budget(&view.all_sections())
    };
    cut_texts_until_fit(view, TEXT_BYTES_STEPS, shorten).into_iter().collect()
}

/// Cuts the texts of a view with a smaller limit each time. `shorten` applies the cut to every text
/// and says whether the view fits.
pub(crate) fn cut_texts_until_fit<T>(
    view: &mut T,
    limits: [usize; 6],
    shorten: impl Fn(&mut T, &dyn Fn(&str) -> String) -> bool,
) -> Option<String> {
    let limit = limits
        .into_iter()
        .find(|bytes_max| shorten(view, &|text: &str| truncate_to_fit(text, *bytes_max)))?;
    Some(format!("texts over {limit} bytes were cut, head and tail kept"))
}

#[cfg(test)]
#[path = "condense_tests.rs"]
mod tests;
