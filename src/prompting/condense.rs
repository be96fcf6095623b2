//! Keeps a round's messages within its input budget.
//!
//! Over it, the original context is cut to head and tail with a marker, then
//! opinions to summary and recommendation; a high risk is never dropped. What
//! was cut is said, and goes into the record.

use serde_json::Value;

use super::mask::Mask;
use super::view::{Section, View};
use crate::domain::council::opinion::Opinion;
use crate::domain::council::review::Review;
use crate::domain::council::words::Level;

/// About 150,000 tokens: what every large model takes, with room for its answer.
const INPUT_BYTES_MAX: usize = 600_000;

/// What is kept of a context that had to be cut, at least.
const CONTEXT_BYTES_MIN: usize = 4_000;

#[derive(Debug)]
pub(super) struct Condensed {
    pub sections: Vec<Section>,
    pub notes: Vec<String>,
}

/// The sections of a view with names masked, cut until they fit.
pub(super) fn condense(mut view: View, mask: Option<&Mask>) -> Condensed {
    let mut notes = Vec::new();
    if let Some(mask) = mask {
        notes.extend(hide_names(&mut view, mask));
    }
    let mut said = view.said_sections();
    let mut files = view.files_section();
    let room = INPUT_BYTES_MAX.saturating_sub(view.question.len() + bytes(&said));
    if bytes(&files) > room {
        notes.push(cut_context(&mut view, bytes(&files), room.max(CONTEXT_BYTES_MIN)));
        files = view.files_section();
    }
    if view.question.len() + bytes(&said) + bytes(&files) > INPUT_BYTES_MAX {
        notes.extend(cut_opinions(&mut view));
        notes.extend(cut_reviews(&mut view));
        said = view.said_sections();
    }
    let sections = [view.question_section()].into_iter().chain(files).chain(said).collect();
    Condensed { sections, notes }
}

fn bytes<'a>(sections: impl IntoIterator<Item = &'a Section>) -> usize {
    sections.into_iter().map(|section| section.text.len()).sum()
}

fn hide_names(view: &mut View, mask: &Mask) -> Option<String> {
    let mut masked = 0;
    for shown in &mut view.opinions {
        masked += masked_in(&mut shown.said, mask);
    }
    for shown in &mut view.reviews {
        masked += masked_in(&mut shown.said, mask);
    }
    (masked > 0).then(|| format!("{masked} names of models were masked"))
}

/// Masks every text of a document, whatever its shape.
fn masked_in<T>(said: &mut T, mask: &Mask) -> usize
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let Ok(mut value) = serde_json::to_value(&*said) else { return 0 };
    let masked = mask_texts(&mut value, mask);
    if masked > 0
        && let Ok(hidden) = serde_json::from_value(value)
    {
        *said = hidden;
    }
    masked
}

fn mask_texts(value: &mut Value, mask: &Mask) -> usize {
    match value {
        Value::String(text) => {
            let (hidden, masked) = mask.apply(text);
            if masked > 0 {
                *text = hidden;
            }
            masked
        }
        Value::Array(items) => items.iter_mut().map(|item| mask_texts(item, mask)).sum(),
        Value::Object(fields) => fields.values_mut().map(|field| mask_texts(field, mask)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Each file gives way in proportion: its head and its tail stay.
fn cut_context(view: &mut View, before: usize, room: usize) -> String {
    for file in &mut view.context.files {
        let share = (file.text.len() as u128 * room as u128 / before.max(1) as u128) as usize;
        file.text = head_and_tail(&file.text, share);
    }
    format!("the files were cut from {before} to about {room} bytes, head and tail kept")
}

fn head_and_tail(text: &str, bytes_max: usize) -> String {
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

fn cut_opinions(view: &mut View) -> Option<String> {
    for shown in &mut view.opinions {
        shorten_opinion(&mut shown.said);
    }
    let count = view.opinions.len();
    let what = "summary, recommendation and high risks";
    (count > 0).then(|| format!("{count} opinions were cut to {what}"))
}

fn shorten_opinion(said: &mut Opinion) {
    said.details.understanding.clear();
    said.details.key_considerations.clear();
    said.details.rationale.clear();
    said.assumptions.clear();
    said.questions.clear();
    said.risks.retain(|risk| risk.severity == Level::High);
}

fn cut_reviews(view: &mut View) -> Option<String> {
    for shown in &mut view.reviews {
        shorten_review(&mut shown.said);
    }
    let count = view.reviews.len();
    (count > 0).then(|| format!("{count} reviews were cut to ratings and grave critiques"))
}

fn shorten_review(said: &mut Review) {
    said.would_change_my_opinion.clear();
    for target in &mut said.targets {
        target.agreement_points.clear();
        target.critiques.retain(|critique| critique.severity == Level::High);
    }
}
