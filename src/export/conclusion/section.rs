//! The ending in a dialogue's own document, with what became of it.

use serde::Serialize;

use super::ended::{Audited, Ended};
use crate::domain::conclusion::{Author, Concluded, Conclusion, Outcome, OutcomeWord};
use crate::domain::time::Moment;

/// Every field is there from the beginning; they are filled when it was concluded.
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

/// What became of it, in somebody's word.
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
