//! Keeps the material of a council round within what the shared block leaves of the input budget.
//!
//! When it is over, opinions are cut to summary and recommendation, then single texts to head and
//! tail. A high risk is never dropped. Every cut is noted in the journal. The shared block itself
//! is cut in `shared_block.rs`.

use std::cell::Cell;

use serde_json::Value;

use crate::prompting::anonymize::NameMask;
use crate::prompting::fence::FencedSection;
use crate::prompting::neutralize::neutralize_text;
use crate::prompting::reader_view::ReaderView;
use crate::protocols::council::types::{
    CritiqueType, FindingStance, OpinionReply, OpinionStance, PeerReview, RatingLevel,
};

/// The two lines around each text.
pub(crate) const FENCE_BYTES: usize = 250;

/// The role, our remarks, the format, and the retry request with its reason.
pub(crate) const OWN_TEXT_BYTES: usize = 12_000;

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

/// Masks names in the view and cuts its sections until they fit into this many bytes, which the
/// shared block leaves.
///
/// Every high risk is kept, so only a panel that reports thousands of them can exceed the budget.
pub(crate) fn condense_view(
    view: &mut ReaderView,
    bytes_left: usize,
    mask: Option<&NameMask>,
) -> CondensedView {
    let mut notes = Vec::new();
    if let Some(mask) = mask {
        notes.extend(mask_names(view, mask));
    }
    for cut in [cut_opinions_and_reviews, cut_texts] {
        if fits_budget(&view.all_sections(), bytes_left) {
            break;
        }
        notes.extend(cut(view, bytes_left));
    }
    CondensedView { sections: view.all_sections(), notes }
}

/// Whether the sections and our own text fit into this many bytes.
pub(crate) fn fits_budget(sections: &[FencedSection], bytes_left: usize) -> bool {
    let room = bytes_left.saturating_sub(OWN_TEXT_BYTES);
    let bytes: usize = sections.iter().map(|section| section.text.len()).sum();
    let around = sections.len() * FENCE_BYTES;
    // Escaping never shortens a text and lengthens it at most by this factor.
    bytes * ESCAPE_GROWTH_MAX + around <= room
        || (bytes + around <= room && rendered_bytes(sections) <= room)
}

/// Length of the sections including escapes and fences.
pub(crate) fn rendered_bytes(sections: &[FencedSection]) -> usize {
    sections.iter().map(|section| section.shown_bytes() + FENCE_BYTES).sum()
}

fn mask_names(view: &mut ReaderView, mask: &NameMask) -> Option<String> {
    let masked = Cell::new(0);
    let hide = |text: &str| {
        let (hidden, count) = mask.mask_text(text);
        masked.set(masked.get() + count);
        hidden
    };
    view.opinions.iter_mut().for_each(|shown| map_texts(&mut shown.content, &hide));
    view.reviews.iter_mut().for_each(|shown| map_texts(&mut shown.content, &hide));
    (masked.get() > 0).then(|| format!("{} names of models were masked", masked.get()))
}

/// Applies `change` to every string of a document, at any depth.
pub(crate) fn map_texts<T>(content: &mut T, change: &dyn Fn(&str) -> String)
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let Ok(mut value) = serde_json::to_value(&*content) else { return };
    map_value_texts(&mut value, change);
    if let Ok(changed) = serde_json::from_value(value) {
        *content = changed;
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
    format!("{head}{}{tail}", left_out_marker(left_out))
}

/// Stands in place of what was cut.
pub(crate) fn left_out_marker(bytes: usize) -> String {
    format!("\n[… {bytes} bytes left out here …]\n")
}

/// Cuts opinions and reviews to the parts that must be kept.
fn cut_opinions_and_reviews(view: &mut ReaderView, _: usize) -> Vec<String> {
    view.own_opinion.iter_mut().for_each(shorten_opinion);
    view.opinions.iter_mut().for_each(|shown| shorten_opinion(&mut shown.content));
    view.reviews.iter_mut().for_each(|shown| shorten_review(&mut shown.content));
    let kept = "opinions were cut to summary, recommendation, high risks and high findings";
    let counts = [
        (view.opinions.len(), kept),
        (view.reviews.len(), "reviews were cut to ratings and grave critiques"),
    ];
    let cut = counts.into_iter().filter(|(count, _)| *count > 0);
    cut.map(|(count, what)| format!("{count} {what}")).collect()
}

fn shorten_opinion(content: &mut OpinionReply) {
    content.details.understanding.clear();
    content.details.key_considerations.clear();
    content.details.alternatives_considered.clear();
    content.details.evidence.clear();
    content.details.rationale.clear();
    content.assumptions.clear();
    content.questions.clear();
    content.risks.retain(|risk| risk.severity == RatingLevel::High);
    content.findings.retain(|finding| finding.severity == RatingLevel::High);
}

fn shorten_review(content: &mut PeerReview) {
    content.would_change_my_opinion.clear();
    for target in &mut content.targets {
        target.agreement_points.clear();
        target.critiques.retain(|critique| critique.severity == RatingLevel::High);
    }
}

/// Cuts single texts that are still too long to head and tail.
fn cut_texts(view: &mut ReaderView, bytes_left: usize) -> Vec<String> {
    let shorten = |view: &mut ReaderView, cut: &dyn Fn(&str) -> String| {
        view.own_opinion.iter_mut().for_each(|content| map_texts(content, cut));
        view.opinions.iter_mut().for_each(|shown| map_texts(&mut shown.content, cut));
        view.reviews.iter_mut().for_each(|shown| map_texts(&mut shown.content, cut));
        view.additions.iter_mut().for_each(|added| added.text = cut(&added.text));
        fits_budget(&view.all_sections(), bytes_left)
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
