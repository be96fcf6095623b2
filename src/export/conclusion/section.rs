//! The conclusion in the export of a dialogue, with its recorded outcomes.

use serde::Serialize;

use super::ended::{AuditView, ConclusionView};
use crate::domain::conclusion::{
    Conclusion, ConclusionOutcome, OutcomeKind, RecordedConclusion, SeatAuthor,
};
use crate::domain::time::Moment;

/// All fields are always present; they are null before the conclusion.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ConclusionExport<'a> {
    conclusion: Option<Conclusion>,
    draft: Option<Conclusion>,
    explanation: Option<String>,
    synthesizer: Option<SeatAuthor>,
    audit: Option<AuditView>,
    concluded_at: Option<Moment>,
    outcomes: Vec<OutcomeEntry<'a>>,
}

/// An outcome that a person recorded.
#[derive(Debug, Serialize)]
struct OutcomeEntry<'a> {
    at: Moment,
    outcome: OutcomeKind,
    note: Option<&'a str>,
}

impl<'a> ConclusionExport<'a> {
    pub(crate) fn from_concluded(concluded: Option<&'a RecordedConclusion>) -> Self {
        let Some(concluded) = concluded else { return Self::default() };
        let ConclusionView { conclusion, draft, explanation, synthesizer, audit, .. } =
            ConclusionView::from_result(&concluded.ending);
        Self {
            conclusion,
            draft,
            explanation,
            synthesizer,
            audit,
            concluded_at: Some(concluded.at),
            outcomes: concluded.outcomes.iter().map(outcome_entry).collect(),
        }
    }
}

fn outcome_entry((at, given): &(Moment, ConclusionOutcome)) -> OutcomeEntry<'_> {
    OutcomeEntry { at: *at, outcome: given.outcome, note: given.note.as_deref() }
}
