//! The Principal's interventions in a run, for documents and events.

use serde::Serialize;

use crate::model::ids::ExpertSlug;
use crate::model::intervention::{Intervention, InterventionEntry};
use crate::model::run_state::RunState;
use crate::model::string_enum::words;
use crate::model::time::Moment;

words! {
    /// Names as typed on the command line.
    pub enum InterventionKind {
        Whisper = "whisper",
        Direct = "direct",
        Stop = "stop",
    }
}

/// An intervention with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimedIntervention {
    pub at: Moment,
    #[serde(flatten)]
    pub seen: InterventionSummary,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterventionSummary {
    /// The round in progress.
    pub round: u8,
    pub kind: InterventionKind,
    pub text: Option<String>,
    /// The only seat that sees it; `None` if all do.
    pub to: Option<ExpertSlug>,
    /// The restatement of a directive.
    pub restated: Option<String>,
    /// Whether the Principal confirmed the restatement. Only for directives.
    pub confirmed: Option<bool>,
}

pub fn list_interventions(state: &RunState) -> Vec<TimedIntervention> {
    state.interventions.iter().map(TimedIntervention::from_noted).collect()
}

impl TimedIntervention {
    pub fn from_noted(noted: &InterventionEntry) -> Self {
        let InterventionEntry { at, round, intervention } = noted;
        Self { at: *at, seen: InterventionSummary::from_intervention(*round, intervention) }
    }
}

impl InterventionSummary {
    pub(crate) fn from_intervention(round: u8, intervention: &Intervention) -> Self {
        let bare =
            |kind| Self { round, kind, text: None, to: None, restated: None, confirmed: None };
        match intervention {
            Intervention::Whisper { text, to } => {
                Self { text: Some(text.clone()), to: to.clone(), ..bare(InterventionKind::Whisper) }
            }
            Intervention::Directive { text, restatement, confirmed } => Self {
                text: Some(text.clone()),
                restated: restatement.as_ref().map(|restated| restated.sentence.clone()),
                confirmed: Some(*confirmed),
                ..bare(InterventionKind::Direct)
            },
            Intervention::Stop => bare(InterventionKind::Stop),
        }
    }

    /// `whisper to cid, in private`, `whisper to all`, `directive`, `stop`.
    pub(crate) fn action_text(&self) -> String {
        match (self.kind, &self.to) {
            (InterventionKind::Whisper, Some(seat)) => format!("whisper to {seat}, in private"),
            (InterventionKind::Whisper, None) => "whisper to all".to_owned(),
            (InterventionKind::Direct, _) => "directive".to_owned(),
            (InterventionKind::Stop, _) => "stop".to_owned(),
        }
    }

    /// The text of the intervention and its effect.
    pub(crate) fn detail_texts(&self) -> Vec<String> {
        let mut words: Vec<String> = self.text.iter().cloned().collect();
        words.extend(self.restated.as_ref().map(|sentence| format!("understood as: {sentence}")));
        match self.kind {
            InterventionKind::Direct if self.confirmed == Some(false) => {
                words.push("not confirmed, so it had no effect".to_owned());
            }
            InterventionKind::Stop => {
                words.push("Plenary asks no further seat in the rounds".to_owned())
            }
            InterventionKind::Whisper | InterventionKind::Direct => {}
        }
        words
    }
}
