//! What each seat of a council may read, as a value; messages are built from it alone.
//!
//! A participant sees the question and its files. A reviewer also sees the others' opinions,
//! never its own. The chair sees all opinions and reviews, under the same letters. The views of
//! synthesizer and critic are in `protocols/conclusion`. The Principal's additions come last, so
//! that everything before them is byte for byte the same for every reader.

use std::sync::Arc;

use crate::model::ask::Ask;
use crate::model::ids::ExpertSlug;
use crate::model::intervention::{Intervention, InterventionEntry};
use crate::model::plan::{ContextFile, ContextPack, IndexedFile, Plan};
use crate::model::run_state::RunState;
use crate::prompting::fence::FenceSet;
use crate::protocols::council::answers::{
    SeatAnswer, SeatLetters, list_opinions, list_peer_reviews,
};
use crate::protocols::council::types::{OpinionReply, PeerReview};
use crate::protocols::pending_asks::{InterventionScope, visible_interventions};

/// Longer paths are truncated.
const PATH_CHARS_MAX: usize = 1_000;

#[derive(Debug, Clone)]
pub(crate) struct ReaderView {
    pub question: String,
    pub context: Arc<ContextPack>,
    /// Number of further files that are not even listed by name.
    pub unnamed: usize,
    pub opinions: Vec<LabeledReply<OpinionReply>>,
    pub reviews: Vec<LabeledReply<PeerReview>>,
    /// The Principal's interventions that this seat may see.
    pub additions: Vec<FencedSection>,
}

/// A reply under the name that its reader knows.
#[derive(Debug, Clone)]
pub(crate) struct LabeledReply<T> {
    pub name: String,
    pub said: T,
    /// Whether the reply was truncated.
    pub is_cut: bool,
}

impl<T> LabeledReply<T> {
    /// Tells the reader that the reply was truncated.
    fn truncation_note(&self) -> &'static str {
        if self.is_cut { " (it was cut off: its end is missing)" } else { "" }
    }
}

/// A piece of foreign text, rendered in a fence.
#[derive(Debug, Clone)]
pub(crate) struct FencedSection {
    pub label: String,
    pub whose: String,
    pub text: String,
    pub opening: SectionOpening,
}

/// The sentence before a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionOpening {
    /// Says whose text it is and how to read it.
    Full,
    /// Says only whose text it is, because the section before is of the same kind.
    Short,
}

impl FencedSection {
    pub(crate) fn new(label: &str, whose: &str, text: String) -> Self {
        let (label, whose) = (label.to_owned(), whose.to_owned());
        Self { label, whose, text, opening: SectionOpening::Full }
    }

    pub(crate) fn from_question(text: &str) -> Self {
        Self::new("QUESTION", "the question of the person who asks", text.to_owned())
    }

    pub(crate) fn render_fenced(&self, fences: &FenceSet) -> String {
        match self.opening {
            SectionOpening::Full => fences.fence_text(&self.label, &self.whose, &self.text),
            SectionOpening::Short => fences.fence_next(&self.label, &self.whose, &self.text),
        }
    }
}

impl ReaderView {
    /// The question, its files and the interventions.
    pub(crate) fn of_question(
        transcript: &RunState,
        ask: &Ask,
        hearing: InterventionScope,
    ) -> Self {
        Self {
            question: transcript.question().to_owned(),
            context: Arc::clone(&transcript.plan.context),
            unnamed: 0,
            opinions: Vec::new(),
            reviews: Vec::new(),
            additions: visible_interventions(transcript, ask, hearing)
                .into_iter()
                .flat_map(intervention_sections)
                .collect(),
        }
    }

    /// The same, and the opinions of the others.
    pub(crate) fn of_reviewer(transcript: &RunState, ask: &Ask) -> Self {
        let (plan, letters) = (&transcript.plan, SeatLetters::from_plan(&transcript.plan));
        // In an order of its own for each reader.
        let peers = letters.other_seats(plan, &ask.seat);
        let opinions = label_replies(plan, peers, &list_opinions(transcript));
        Self { opinions, ..Self::of_question(transcript, ask, InterventionScope::OwnAndPublic) }
    }

    /// The same, and all opinions and reviews.
    pub(crate) fn of_chair(transcript: &RunState, ask: &Ask) -> Self {
        let (plan, letters) = (&transcript.plan, SeatLetters::from_plan(&transcript.plan));
        Self {
            opinions: label_replies(plan, letters.iter(), &list_opinions(transcript)),
            reviews: label_replies(plan, letters.iter(), &list_peer_reviews(transcript)),
            ..Self::of_question(transcript, ask, InterventionScope::OwnAndPublic)
        }
    }

    /// All fenced sections, in reading order.
    pub(crate) fn all_sections(&self) -> Vec<FencedSection> {
        let mut sections = vec![self.question_section()];
        sections.extend(self.file_sections());
        sections.extend(self.reply_sections());
        sections.extend_from_slice(&self.additions);
        sections
    }

    pub(crate) fn question_section(&self) -> FencedSection {
        FencedSection::from_question(&self.question)
    }

    /// One fence per file, so that no file can imitate another; then the names of further files.
    pub(crate) fn file_sections(&self) -> Vec<FencedSection> {
        let count = self.context.files.len();
        let mut sections: Vec<FencedSection> = (1..)
            .zip(&self.context.files)
            .map(|(number, file)| file_section(number, count, file))
            .collect();
        sections.extend(self.further_files());
        sections
    }

    /// One JSON line per name, so that no name can imitate a line of ours.
    fn further_files(&self) -> Option<FencedSection> {
        let mut lines: Vec<String> = self.context.indexed.iter().map(further_file_line).collect();
        if self.unnamed > 0 {
            lines.push(format!("[… {} more …]", self.unnamed));
        }
        let whose = "the list of further files that belong to the question and are not shown, \
                     a line of JSON for each";
        (!lines.is_empty()).then(|| FencedSection::new("FURTHER FILES", whose, lines.join("\n")))
    }

    /// The opinions, then the reviews.
    fn reply_sections(&self) -> Vec<FencedSection> {
        let opinions = self.opinions.iter().map(|shown| {
            let (name, condition) = (&shown.name, shown.truncation_note());
            let whose = format!("the opinion of the participant known as {name}{condition}");
            FencedSection::new(&format!("OPINION {name}"), &whose, to_pretty_json(&shown.said))
        });
        let reviews = self.reviews.iter().map(|shown| {
            let (name, condition) = (&shown.name, shown.truncation_note());
            let whose = format!(
                "the review of others' opinions by the participant known as {name}{condition}"
            );
            FencedSection::new(&format!("REVIEW BY {name}"), &whose, to_pretty_json(&shown.said))
        });
        opinions.chain(reviews).collect()
    }
}

/// A file of the question. Its path is a first line in JSON, so no name can add a line.
fn file_section(number: usize, count: usize, file: &ContextFile) -> FencedSection {
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
    FencedSection { opening, ..FencedSection::new(&format!("FILE {number}"), &whose, text) }
}

/// The first line of a file's fence.
pub(crate) fn path_line(path: &str) -> String {
    let path: String = path.chars().take(PATH_CHARS_MAX).collect();
    serde_json::json!({ "path": path }).to_string()
}

/// The line of a file that is listed only by name.
pub(crate) fn further_file_line(file: &IndexedFile) -> String {
    let path: String = file.path.chars().take(PATH_CHARS_MAX).collect();
    serde_json::json!({ "path": path, "bytes": file.bytes }).to_string()
}

/// Labels the replies of these seats with their letters, and with their names if reviews are not
/// anonymous.
fn label_replies<'a, T: Clone>(
    plan: &Plan,
    seats: impl IntoIterator<Item = (char, &'a ExpertSlug)>,
    answers: &[SeatAnswer<'_, T>],
) -> Vec<LabeledReply<T>> {
    let labeled = seats.into_iter().filter_map(|(letter, seat)| {
        let answer = answers.iter().find(|answer| answer.seat == seat)?;
        let name = match plan.anonymous_review {
            true => letter.to_string(),
            false => format!("{letter} - {seat}"),
        };
        let is_cut = answer.asked.is_truncated();
        Some(LabeledReply { name, said: answer.said.clone(), is_cut })
    });
    labeled.collect()
}

/// An intervention and its author; empty for a stop. A restatement is a model's text, so it gets
/// its own fence.
fn intervention_sections(noted: &InterventionEntry) -> Vec<FencedSection> {
    match &noted.intervention {
        Intervention::Whisper { text, to } => {
            let whose = match to {
                None => "what the person who asks has said to everybody since the question",
                Some(_) => "what the person who asks has said to you alone",
            };
            vec![FencedSection::new("WHISPER", whose, text.clone())]
        }
        Intervention::Directive { text, restatement, .. } => {
            let whose = "what the person who asks wants everybody to take up from here on";
            let restated = restatement.as_ref().map(|restated| {
                let whose = "the same in one sentence, restated by a model and confirmed by the \
                             person who asks";
                FencedSection::new("DIRECTIVE RESTATED", whose, restated.sentence.clone())
            });
            let own = FencedSection::new("DIRECTIVE", whose, text.clone());
            std::iter::once(own).chain(restated).collect()
        }
        Intervention::Stop => Vec::new(),
    }
}

/// Indented JSON, so that a reader can tell the fields apart.
pub(crate) fn to_pretty_json(said: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(said).unwrap_or_default()
}
