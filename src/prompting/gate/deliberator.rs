//! Builds a deliberator's messages: the artifact, its context files, and in the second round the
//! judgements of the first.
//!
//! **Invariant:** a `DeliberatorView` contains only the artifact, this seat's context and the
//! judgements of the first round. It never contains verdicts on other artifacts.

use super::condense::condense;
use super::instructions::{Turn, deliberator_system};
use super::shown::{Maker, Shown, about, name};
use crate::domain::ask::{Ask, Messages};
use crate::domain::gate::{ContextRef, GatePlan};
use crate::domain::transcript::Transcript;
use crate::prompting::instructions::{CROSS_READING, JUDGEMENT};
use crate::prompting::message::{Parts, Prepared};
use crate::prompting::view::{Section, path_line};
use crate::protocols::gate::positions;

/// Everything that a deliberator reads.
#[derive(Debug)]
pub(super) struct Desk {
    pub artifact: String,
    pub about: Section,
    pub context: Vec<ContextRef>,
    pub judgements: Vec<Shown>,
    /// Our own sentences.
    remarks: Vec<String>,
}

/// The messages of either round; `None` if the seat is not a deliberator of this review.
pub(crate) fn deliberator(transcript: &Transcript, ask: &Ask, turn: Turn) -> Option<Prepared> {
    let gate = transcript.gate()?;
    let system = deliberator_system(gate, turn, &ask.seat)?;
    let mut desk = Desk::first(gate, ask)?;
    if turn == Turn::Cross {
        desk.add_first_round(transcript, ask);
    }
    let condensed = condense(&mut desk);
    if desk.artifact.len() < gate.artifact.text.len() {
        let cut = "The artifact is too long to be shown whole: its head and its tail are, and what is left out between them is marked. Judge what you see, and say in the brief that you did not see it all.";
        desk.remarks.push(cut.to_owned());
    }
    let parts = Parts {
        secret: &transcript.plan.secret,
        sections: &desk.sections(),
        remarks: &desk.remarks,
        task: if turn == Turn::Cross { CROSS_READING.task } else { JUDGEMENT.task },
        faults: ask.stricter.as_deref(),
    };
    Some(Prepared { messages: Messages { system, user: parts.message(ask) }, condensed })
}

impl Desk {
    fn first(gate: &GatePlan, ask: &Ask) -> Option<Self> {
        let context = gate.deliberator(&ask.seat)?.context.clone();
        let missing = (1..).zip(&context).filter(|(_, file)| file.text.is_none());
        let remarks = missing.map(|(number, _)| {
            format!(
                "CONTEXT {number} could not be read: its name and the reason stand in its place. \
                 Say in the brief what you could not judge without it."
            )
        });
        Some(Self {
            artifact: gate.artifact.text.clone(),
            about: about(&gate.artifact, Maker::Unnamed),
            remarks: remarks.collect(),
            context,
            judgements: Vec::new(),
        })
    }

    /// Adds the reader's own judgement first, then the others' in plan order.
    fn add_first_round(&mut self, transcript: &Transcript, ask: &Ask) {
        let (own, others): (Vec<_>, Vec<_>) =
            positions(transcript).into_iter().partition(|position| *position.seat == ask.seat);
        match own.first().and_then(|position| position.first.held()) {
            Some(held) => self.judgements.push(Shown::own(&ask.seat, held)),
            None => self.remarks.push(
                "You were not heard at the first reading: there is no first judgement of yours, \
                 and this is the only one. `delta_from_r1` says just that."
                    .to_owned(),
            ),
        }
        for position in others {
            let seat = position.seat;
            match position.first.held() {
                Some(held) => self.judgements.push(Shown::first_of(seat, held)),
                None => self.remarks.push(format!("`{seat}` was not heard at the first reading.")),
            }
        }
    }

    /// All fenced sections, in reading order.
    pub(super) fn sections(&self) -> Vec<Section> {
        let artifact = Section::new("ARTIFACT", "the artifact to judge", self.artifact.clone());
        let mut sections = vec![artifact, self.about.clone()];
        sections.extend(self.context_sections());
        sections.extend(self.judgement_sections());
        sections
    }

    pub(super) fn context_sections(&self) -> impl Iterator<Item = Section> {
        (1..).zip(&self.context).map(|(number, file)| {
            let whose = "a file that you judge by, with its path in the first line";
            let text = match (&file.text, &file.missing) {
                (Some(text), _) => text.clone(),
                (None, Some(reason)) => format!("[could not be read: {}]", name(reason)),
                (None, None) => "[could not be read]".to_owned(),
            };
            let text = format!("{}\n{text}", path_line(&file.path));
            Section::new(&format!("CONTEXT {number}"), whose, text)
        })
    }

    pub(super) fn judgement_sections(&self) -> impl Iterator<Item = Section> {
        self.judgements.iter().map(Shown::section)
    }
}
