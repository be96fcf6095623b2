//! Builds a deliberator's messages: the artifact, its context files, and in the second round the
//! judgements of the first.
//!
//! **Invariant:** a `DeliberatorView` contains only the artifact, this seat's context and the
//! judgements of the first round. It never contains verdicts on other artifacts.

use super::condense::condense_deliberator_view;
use super::instructions::{ReadingRound, deliberator_system};
use super::shown::{JudgementSection, ProducerVisibility, about_artifact, truncate_name};
use crate::domain::ask::{Ask, AskMessages};
use crate::domain::gate::{DeliberatorContext, ReviewPlan};
use crate::domain::transcript::RunState;
use crate::prompting::instructions::{CROSS_READING, JUDGEMENT};
use crate::prompting::message::{MessageParts, RenderedPrompt};
use crate::prompting::view::{FencedSection, path_line};
use crate::protocols::gate::list_seat_results;

/// Everything that a deliberator reads.
#[derive(Debug)]
pub(super) struct DeliberatorView {
    pub artifact: String,
    pub about: FencedSection,
    pub context: Vec<DeliberatorContext>,
    pub judgements: Vec<JudgementSection>,
    /// Our own sentences.
    remarks: Vec<String>,
}

/// The messages of either round; `None` if the seat is not a deliberator of this review.
pub(crate) fn deliberator_messages(
    transcript: &RunState,
    ask: &Ask,
    turn: ReadingRound,
) -> Option<RenderedPrompt> {
    let gate = transcript.review_plan()?;
    let system = deliberator_system(gate, turn, &ask.seat)?;
    let mut desk = DeliberatorView::first_round(gate, ask)?;
    if turn == ReadingRound::Cross {
        desk.add_first_round(transcript, ask);
    }
    let condensed = condense_deliberator_view(&mut desk);
    if desk.artifact.len() < gate.artifact.text.len() {
        let cut = "The artifact is too long to be shown whole: its head and its tail are, and what is left out between them is marked. Judge what you see, and say in the brief that you did not see it all.";
        desk.remarks.push(cut.to_owned());
    }
    let parts = MessageParts {
        secret: &transcript.plan.secret,
        sections: &desk.all_sections(),
        remarks: &desk.remarks,
        task: if turn == ReadingRound::Cross { CROSS_READING.task } else { JUDGEMENT.task },
        rejection_reason: ask.retry_reason.as_deref(),
    };
    Some(RenderedPrompt {
        messages: AskMessages { system, user: parts.render_message(ask) },
        condensed,
    })
}

impl DeliberatorView {
    fn first_round(gate: &ReviewPlan, ask: &Ask) -> Option<Self> {
        let context = gate.find_deliberator(&ask.seat)?.context.clone();
        let missing = (1..).zip(&context).filter(|(_, file)| file.text.is_none());
        let remarks = missing.map(|(number, _)| {
            format!(
                "CONTEXT {number} could not be read: its name and the reason stand in its place. \
                 Say in the brief what you could not judge without it."
            )
        });
        Some(Self {
            artifact: gate.artifact.text.clone(),
            about: about_artifact(&gate.artifact, ProducerVisibility::Unnamed),
            remarks: remarks.collect(),
            context,
            judgements: Vec::new(),
        })
    }

    /// Adds the reader's own judgement first, then the others' in plan order.
    fn add_first_round(&mut self, transcript: &RunState, ask: &Ask) {
        let (own, others): (Vec<_>, Vec<_>) = list_seat_results(transcript)
            .into_iter()
            .partition(|position| *position.seat == ask.seat);
        match own.first().and_then(|position| position.first.judgement()) {
            Some(held) => self.judgements.push(JudgementSection::own_first(&ask.seat, held)),
            None => self.remarks.push(
                "You were not heard at the first reading: there is no first judgement of yours, \
                 and this is the only one. `delta_from_r1` says just that."
                    .to_owned(),
            ),
        }
        for position in others {
            let seat = position.seat;
            match position.first.judgement() {
                Some(held) => self.judgements.push(JudgementSection::peer_first(seat, held)),
                None => self.remarks.push(format!("`{seat}` was not heard at the first reading.")),
            }
        }
    }

    /// All fenced sections, in reading order.
    pub(super) fn all_sections(&self) -> Vec<FencedSection> {
        let artifact =
            FencedSection::new("ARTIFACT", "the artifact to judge", self.artifact.clone());
        let mut sections = vec![artifact, self.about.clone()];
        sections.extend(self.context_sections());
        sections.extend(self.judgement_sections());
        sections
    }

    pub(super) fn context_sections(&self) -> impl Iterator<Item = FencedSection> {
        (1..).zip(&self.context).map(|(number, file)| {
            let whose = "a file that you judge by, with its path in the first line";
            let text = match (&file.text, &file.missing) {
                (Some(text), _) => text.clone(),
                (None, Some(reason)) => format!("[could not be read: {}]", truncate_name(reason)),
                (None, None) => "[could not be read]".to_owned(),
            };
            let text = format!("{}\n{text}", path_line(&file.path));
            FencedSection::new(&format!("CONTEXT {number}"), whose, text)
        })
    }

    pub(super) fn judgement_sections(&self) -> impl Iterator<Item = FencedSection> {
        self.judgements.iter().map(JudgementSection::to_section)
    }
}
