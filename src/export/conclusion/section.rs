//! The conclusion in the export of a dialogue, with its recorded outcomes.

use serde::Serialize;

use super::ended::{Audited, Ended};
use crate::domain::conclusion::{Author, Concluded, Conclusion, Outcome, OutcomeWord};
use crate::domain::time::Moment;

/// All fields are always present; they are null before the conclusion.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Section<'a> {
    conclusion: Option<Conclusion>,
    draft: Option<Conclusion>,
    explanation: Option<String>,
    synthesizer: Option<Author>,
    audit: Option<Audited>,
    concluded_at: Option<Moment>,
    outcomes: Vec<Became<'a>>,
}

/// An outcome that a person recorded.
#[derive(Debug, Serialize)]
struct Became<'a> {
    at: Moment,
    outcome: OutcomeWord,
    note: Option<&'a str>,
}

impl<'a> Section<'a> {
    pub(crate) fn of(concluded: Option<&'a Concluded>) -> Self {
        let Some(concluded) = concluded else { return Self::default() };
        let Ended { conclusion, draft, explanation, synthesizer, audit, .. } =
            Ended::by(&concluded.ending);
        Self {
            conclusion,
            draft,
            explanation,
            synthesizer,
            audit,
            concluded_at: Some(concluded.at),
            outcomes: concluded.outcomes.iter().map(became).collect(),
        }
    }
}

fn became((at, given): &(Moment, Outcome)) -> Became<'_> {
    Became { at: *at, outcome: given.outcome, note: given.note.as_deref() }
}
