//! Who may read what, as a value.
//!
//! A participant sees the question and its files. A reviewer sees also the others'
//! opinions, never their own. The chair sees everything that was said, under the
//! same letters. (What the seats of the ending see is in `conclusion/`.) What the
//! Principal has added comes last, so that all before it stays the same, byte for byte,
//! for those who hear it and those who do not. The messages are built from a view and
//! nothing else.

use std::sync::Arc;

use super::fence::Fences;
use crate::domain::ask::Ask;
use crate::domain::council::opinion::Opinion;
use crate::domain::council::review::Review;
use crate::domain::ids::ExpertSlug;
use crate::domain::intervention::{Intervention, Noted};
use crate::domain::plan::{ContextPack, Plan};
use crate::domain::transcript::Transcript;
use crate::protocols::council::{Letters, Voice, opinions, reviews};
use crate::protocols::interventions::heard_by;

#[derive(Debug, Clone)]
pub(super) struct View {
    pub question: String,
    pub context: Arc<ContextPack>,
    /// Further files whose names had no room either.
    pub unnamed: usize,
    pub opinions: Vec<Shown<Opinion>>,
    pub reviews: Vec<Shown<Review>>,
    /// What the Principal has added, as far as the reader may know it.
    pub additions: Vec<Section>,
}

/// Something that was said, under the name its reader knows it by.
#[derive(Debug, Clone)]
pub(super) struct Shown<T> {
    pub name: String,
    pub said: T,
    /// It was cut off before its end.
    pub is_cut: bool,
}

impl<T> Shown<T> {
    /// What its reader must know of it besides.
    fn condition(&self) -> &'static str {
        if self.is_cut { " (it was cut off: its end is missing)" } else { "" }
    }
}

/// A piece of somebody's text that will stand in a fence.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub label: String,
    pub whose: String,
    pub text: String,
}

impl Section {
    pub(super) fn new(label: &str, whose: &str, text: String) -> Self {
        Self { label: label.to_owned(), whose: whose.to_owned(), text }
    }

    pub(super) fn question(text: &str) -> Self {
        Self::new("QUESTION", "the question of the person who asks", text.to_owned())
    }

    pub(super) fn fenced(&self, fences: &Fences) -> String {
        fences.around(&self.label, &self.whose, &self.text)
    }
}

impl View {
    /// The question, what came with it and what was added to it.
    pub(super) fn of_question(transcript: &Transcript, ask: &Ask) -> Self {
        Self {
            question: transcript.question().to_owned(),
            context: Arc::clone(&transcript.plan.context),
            unnamed: 0,
            opinions: Vec::new(),
            reviews: Vec::new(),
            additions: heard_by(transcript, ask).into_iter().filter_map(addition).collect(),
        }
    }

    /// The same, and what the others said in answer to it.
    pub(super) fn of_reviewer(transcript: &Transcript, ask: &Ask) -> Self {
        let opinions = peers(transcript, &ask.seat);
        Self { opinions, ..Self::of_question(transcript, ask) }
    }

    /// The same, and all that anybody said.
    pub(super) fn of_chair(transcript: &Transcript, ask: &Ask) -> Self {
        let (opinions, reviews) = (all_opinions(transcript), all_reviews(transcript));
        Self { opinions, reviews, ..Self::of_question(transcript, ask) }
    }

    /// All that will stand in fences, in the order in which it is read.
    pub(super) fn sections(&self) -> Vec<Section> {
        let mut sections = vec![self.question_section()];
        sections.extend(self.files_section());
        sections.extend(self.said_sections());
        sections.extend_from_slice(&self.additions);
        sections
    }

    pub(super) fn question_section(&self) -> Section {
        Section::question(&self.question)
    }

    /// The files, then the names of those that were too many.
    pub(super) fn files_section(&self) -> Option<Section> {
        let mut text = String::new();
        for file in &self.context.files {
            text.push_str(&format!("=== {} ===\n{}\n", file.path, file.text.trim_end()));
        }
        if !self.context.indexed.is_empty() {
            text.push_str("=== further files, not shown ===\n");
        }
        for file in &self.context.indexed {
            text.push_str(&format!("{} ({} bytes)\n", file.path, file.bytes));
        }
        if self.unnamed > 0 {
            text.push_str(&format!("[… {} more …]\n", self.unnamed));
        }
        let whose = "what the person who asks has in files that belong to the question";
        (!text.is_empty()).then(|| Section::new("FILES", whose, text.trim_end().to_owned()))
    }

    /// The opinions, then the reviews.
    fn said_sections(&self) -> Vec<Section> {
        let opinions = self.opinions.iter().map(|shown| Section {
            label: format!("OPINION {}", shown.name),
            whose: format!(
                "the opinion of the participant known as {}{}",
                shown.name,
                shown.condition()
            ),
            text: as_text(&shown.said),
        });
        let reviews = self.reviews.iter().map(|shown| Section {
            label: format!("REVIEW BY {}", shown.name),
            whose: format!(
                "the review of others' opinions by the participant known as {}{}",
                shown.name,
                shown.condition()
            ),
            text: as_text(&shown.said),
        });
        opinions.chain(reviews).collect()
    }
}

/// The others' opinions, in an order of the reader's own.
fn peers(transcript: &Transcript, reader: &ExpertSlug) -> Vec<Shown<Opinion>> {
    let (plan, letters) = (&transcript.plan, Letters::of(&transcript.plan));
    let heard = opinions(transcript);
    let others = letters.others(plan, reader).into_iter();
    others
        .filter_map(|(letter, name)| {
            let voice = heard.iter().find(|voice| voice.seat == name)?;
            Some(shown(plan, letter, voice))
        })
        .collect()
}

fn all_opinions(transcript: &Transcript) -> Vec<Shown<Opinion>> {
    let (plan, letters) = (&transcript.plan, Letters::of(&transcript.plan));
    let heard = opinions(transcript);
    let by_letter = letters.iter().filter_map(|(letter, name)| {
        let voice = heard.iter().find(|voice| voice.seat == name)?;
        Some(shown(plan, letter, voice))
    });
    by_letter.collect()
}

fn all_reviews(transcript: &Transcript) -> Vec<Shown<Review>> {
    let (plan, letters) = (&transcript.plan, Letters::of(&transcript.plan));
    let heard = reviews(transcript);
    let by_letter = letters.iter().filter_map(|(letter, name)| {
        let voice = heard.iter().find(|voice| voice.seat == name)?;
        Some(shown(plan, letter, voice))
    });
    by_letter.collect()
}

/// Anonymous by default; otherwise the letter and the name.
fn shown<T: Clone>(plan: &Plan, letter: char, voice: &Voice<'_, T>) -> Shown<T> {
    let name = match plan.anonymous_review {
        true => letter.to_string(),
        false => format!("{letter} - {}", voice.seat),
    };
    Shown { name, said: voice.said.clone(), is_cut: voice.asked.is_truncated() }
}

/// An intervention with whose word it is; nothing, where it says nothing.
fn addition(noted: &Noted) -> Option<Section> {
    let (label, whose, text) = match &noted.intervention {
        Intervention::Whisper { text, to: None } => (
            "WHISPER",
            "what the person who asks has said to everybody since the question",
            text.clone(),
        ),
        Intervention::Whisper { text, to: Some(_) } => {
            ("WHISPER", "what the person who asks has said to you alone", text.clone())
        }
        Intervention::Directive { text, restatement, .. } => {
            let text = restatement.as_ref().map_or_else(
                || text.clone(),
                |restated| format!("{}\n\nIn their own words: {text}", restated.sentence),
            );
            ("DIRECTIVE", "what the person who asks wants everybody to take up from here on", text)
        }
        Intervention::Stop => return None,
    };
    Some(Section::new(label, whose, text))
}

/// Structured, so that a reader can tell the parts, and as data, never as instructions.
pub(super) fn as_text(said: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(said).unwrap_or_default()
}
