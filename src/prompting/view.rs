//! What each seat of a council may read, as a value; messages are built from it alone.
//!
//! A participant sees the question and its files. A reviewer also sees the others' opinions,
//! never its own. The chair sees all opinions and reviews, under the same letters. The views of
//! synthesizer and critic are in `protocols/conclusion`. The Principal's additions come last, so
//! that everything before them is byte for byte the same for every reader.

use std::sync::Arc;

use super::fence::Fences;
use crate::domain::ask::Ask;
use crate::domain::council::opinion::Opinion;
use crate::domain::council::review::Review;
use crate::domain::ids::ExpertSlug;
use crate::domain::intervention::{Intervention, Noted};
use crate::domain::plan::{ContextFile, ContextPack, IndexedFile, Plan};
use crate::domain::transcript::Transcript;
use crate::protocols::council::{Letters, Voice, opinions, reviews};
use crate::protocols::interventions::{Hearing, heard_by};

/// Longer paths are truncated.
const PATH_CHARS_MAX: usize = 1_000;

#[derive(Debug, Clone)]
pub(super) struct View {
    pub question: String,
    pub context: Arc<ContextPack>,
    /// Number of further files that are not even listed by name.
    pub unnamed: usize,
    pub opinions: Vec<Shown<Opinion>>,
    pub reviews: Vec<Shown<Review>>,
    /// The Principal's interventions that this seat may see.
    pub additions: Vec<Section>,
}

/// A reply under the name that its reader knows.
#[derive(Debug, Clone)]
pub(super) struct Shown<T> {
    pub name: String,
    pub said: T,
    /// Whether the reply was truncated.
    pub is_cut: bool,
}

impl<T> Shown<T> {
    /// Tells the reader that the reply was truncated.
    fn condition(&self) -> &'static str {
        if self.is_cut { " (it was cut off: its end is missing)" } else { "" }
    }
}

/// A piece of foreign text, rendered in a fence.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub label: String,
    pub whose: String,
    pub text: String,
    pub opening: SectionOpening,
}

/// The sentence before a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionOpening {
    /// Says whose text it is and how to read it.
    Full,
    /// Says only whose text it is, because the section before is of the same kind.
    Short,
}

impl Section {
    pub(super) fn new(label: &str, whose: &str, text: String) -> Self {
        let (label, whose) = (label.to_owned(), whose.to_owned());
        Self { label, whose, text, opening: SectionOpening::Full }
    }

    pub(super) fn question(text: &str) -> Self {
        Self::new("QUESTION", "the question of the person who asks", text.to_owned())
    }

    pub(super) fn fenced(&self, fences: &Fences) -> String {
        match self.opening {
            SectionOpening::Full => fences.around(&self.label, &self.whose, &self.text),
            SectionOpening::Short => fences.around_next(&self.label, &self.whose, &self.text),
        }
    }
}

impl View {
    /// The question, its files and the interventions.
    pub(super) fn of_question(transcript: &Transcript, ask: &Ask, hearing: Hearing) -> Self {
        Self {
            question: transcript.question().to_owned(),
            context: Arc::clone(&transcript.plan.context),
            unnamed: 0,
            opinions: Vec::new(),
            reviews: Vec::new(),
            additions: heard_by(transcript, ask, hearing).into_iter().flat_map(addition).collect(),
        }
    }

    /// The same, and the opinions of the others.
    pub(super) fn of_reviewer(transcript: &Transcript, ask: &Ask) -> Self {
        let opinions = peers(transcript, &ask.seat);
        Self { opinions, ..Self::of_question(transcript, ask, Hearing::OwnAndPublic) }
    }

    /// The same, and all opinions and reviews.
    pub(super) fn of_chair(transcript: &Transcript, ask: &Ask) -> Self {
        let (opinions, reviews) = (all_opinions(transcript), all_reviews(transcript));
        Self { opinions, reviews, ..Self::of_question(transcript, ask, Hearing::OwnAndPublic) }
    }

    /// All fenced sections, in reading order.
    pub(super) fn sections(&self) -> Vec<Section> {
        let mut sections = vec![self.question_section()];
        sections.extend(self.file_sections());
        sections.extend(self.said_sections());
        sections.extend_from_slice(&self.additions);
        sections
    }

    pub(super) fn question_section(&self) -> Section {
        Section::question(&self.question)
    }

    /// One fence per file, so that no file can imitate another; then the names of further files.
    pub(super) fn file_sections(&self) -> Vec<Section> {
        let count = self.context.files.len();
        let mut sections: Vec<Section> = (1..)
            .zip(&self.context.files)
            .map(|(number, file)| file_section(number, count, file))
            .collect();
        sections.extend(self.further_files());
        sections
    }

    /// One JSON line per name, so that no name can imitate a line of ours.
    fn further_files(&self) -> Option<Section> {
        let mut lines: Vec<String> = self.context.indexed.iter().map(further_file).collect();
        if self.unnamed > 0 {
            lines.push(format!("[… {} more …]", self.unnamed));
        }
        let whose = "the list of further files that belong to the question and are not shown, \
                     a line of JSON for each";
        (!lines.is_empty()).then(|| Section::new("FURTHER FILES", whose, lines.join("\n")))
    }

    /// The opinions, then the reviews.
    fn said_sections(&self) -> Vec<Section> {
        let opinions = self.opinions.iter().map(|shown| {
            let (name, condition) = (&shown.name, shown.condition());
            let whose = format!("the opinion of the participant known as {name}{condition}");
            Section::new(&format!("OPINION {name}"), &whose, as_text(&shown.said))
        });
        let reviews = self.reviews.iter().map(|shown| {
            let (name, condition) = (&shown.name, shown.condition());
            let whose = format!(
                "the review of others' opinions by the participant known as {name}{condition}"
            );
            Section::new(&format!("REVIEW BY {name}"), &whose, as_text(&shown.said))
        });
        opinions.chain(reviews).collect()
    }
}

/// A file of the question. Its path is a first line in JSON, so no name can add a line.
fn file_section(number: usize, count: usize, file: &ContextFile) -> Section {
    let (opening, whose) = match number {
        1 => {
            let whose = format!(
                "file 1 of {count} that the person who asks gave with the question, with its path \
                 in the first line"
            );
            (SectionOpening::Full, whose)
        }
        _ => (SectionOpening::Short, format!("file {number} of {count}")),
    };
    let text = format!("{}\n{}", path_line(&file.path), file.text.trim_end());
    Section { opening, ..Section::new(&format!("FILE {number}"), &whose, text) }
}

/// The first line of a file's fence.
pub(super) fn path_line(path: &str) -> String {
    let path: String = path.chars().take(PATH_CHARS_MAX).collect();
    serde_json::json!({ "path": path }).to_string()
}

/// The line of a file that is listed only by name.
pub(super) fn further_file(file: &IndexedFile) -> String {
    let path: String = file.path.chars().take(PATH_CHARS_MAX).collect();
    serde_json::json!({ "path": path, "bytes": file.bytes }).to_string()
}

/// The others' opinions, in an order specific to the reader.
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

/// Labels a reply with the letter, and with the seat's name if reviews are not anonymous.
fn shown<T: Clone>(plan: &Plan, letter: char, voice: &Voice<'_, T>) -> Shown<T> {
    let name = match plan.anonymous_review {
        true => letter.to_string(),
        false => format!("{letter} - {}", voice.seat),
    };
    Shown { name, said: voice.said.clone(), is_cut: voice.asked.is_truncated() }
}

/// An intervention and its author; empty for a stop. A restatement is a model's text, so it gets
/// its own fence.
fn addition(noted: &Noted) -> Vec<Section> {
    match &noted.intervention {
        Intervention::Whisper { text, to } => {
            let whose = match to {
                None => "what the person who asks has said to everybody since the question",
                Some(_) => "what the person who asks has said to you alone",
            };
            vec![Section::new("WHISPER", whose, text.clone())]
        }
        Intervention::Directive { text, restatement, .. } => {
            let whose = "what the person who asks wants everybody to take up from here on";
            let restated = restatement.as_ref().map(|restated| {
                let whose = "the same in one sentence, restated by a model and confirmed by the \
                             person who asks";
                Section::new("DIRECTIVE RESTATED", whose, restated.sentence.clone())
            });
            let own = Section::new("DIRECTIVE", whose, text.clone());
            std::iter::once(own).chain(restated).collect()
        }
        Intervention::Stop => Vec::new(),
    }
}

/// Indented JSON, so that a reader can tell the fields apart.
pub(super) fn as_text(said: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(said).unwrap_or_default()
}
