//! What the Principal did while a deliberation was under way.

use serde::Serialize;

use crate::domain::ids::ExpertSlug;
use crate::domain::intervention::{Intervention, Noted};
use crate::domain::time::Moment;
use crate::domain::transcript::Transcript;
use crate::domain::words::words;

words! {
    /// As it is typed.
    pub enum InterventionKind {
        Whisper = "whisper",
        Direct = "direct",
        Stop = "stop",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Intervened {
    pub at: Moment,
    /// The round that was under way.
    pub round: u8,
    pub kind: InterventionKind,
    pub text: Option<String>,
    /// The only seat that sees it; nothing, when all do.
    pub to: Option<ExpertSlug>,
    /// How a directive was understood.
    pub restated: Option<String>,
    /// Whether a directive was meant so. Only directives have this.
    pub confirmed: Option<bool>,
}

pub(crate) fn interventions(transcript: &Transcript) -> Vec<Intervened> {
    transcript.interventions.iter().map(told).collect()
}

fn told(noted: &Noted) -> Intervened {
    seen(noted.at, noted.round, &noted.intervention)
}

/// An intervention as it is told.
pub(crate) fn seen(at: Moment, round: u8, intervention: &Intervention) -> Intervened {
    let bare = |kind| Intervened {
        at,
        round,
        kind,
        text: None,
        to: None,
        restated: None,
        confirmed: None,
    };
    match intervention {
        Intervention::Whisper { text, to } => Intervened {
            text: Some(text.clone()),
            to: to.clone(),
            ..bare(InterventionKind::Whisper)
        },
        Intervention::Directive { text, restatement, confirmed } => Intervened {
            text: Some(text.clone()),
            restated: restatement.as_ref().map(|restated| restated.sentence.clone()),
            confirmed: Some(*confirmed),
            ..bare(InterventionKind::Direct)
        },
        Intervention::Stop => bare(InterventionKind::Stop),
    }
}
