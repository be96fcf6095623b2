//! Concluded dialogues, written directly into a store.

use plenary::domain::change::{Change, EntryKind};
use plenary::domain::conclusion::{
    Auditor, Author, CitedClaim, Conclusion, Ending, Field, Objection, Outcome, OutcomeWord,
    Participant, Trail, UnresolvedPoint,
};
use plenary::domain::dialogue::{DialogueStatus, Opening, Protocol, TerminalState};
use plenary::domain::ids::{DialogueId, ExpertSlug};
use plenary::domain::time::Moment;
use plenary::store::{Store, StoreError, transact};

/// How a dialogue concludes.
#[derive(Debug, Clone)]
pub struct Fate<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub protocol: Protocol,
    pub rehearsal: bool,
    pub state: Option<TerminalState>,
    pub recommendation: &'a str,
    pub review_by: &'a str,
    /// Seat and model.
    pub critic: (&'a str, &'a str),
    /// When it concluded.
    pub at: &'a str,
}

impl Default for Fate<'_> {
    fn default() -> Self {
        Self {
            id: "ended",
            title: "Should reads go through a cache?",
            protocol: Protocol::Council,
            rehearsal: false,
            state: Some(TerminalState::Clean),
            recommendation: "Put a cache before the catalogue, and measure its hit rate.",
            review_by: "2026-06-01",
            critic: ("openai", "gpt-4o"),
            at: "2026-02-02T09:00:00Z",
        }
    }
}

pub fn moment(text: &str) -> Moment {
    text.parse().unwrap()
}

fn slug(text: &str) -> ExpertSlug {
    text.parse().unwrap()
}

/// A conclusion result with all fields that its state allows.
pub fn ending(fate: &Fate<'_>) -> Ending {
    let (seat, model) = fate.critic;
    let author = |seat: &str, model: &str| Author {
        seat: slug(seat),
        model: model.to_owned(),
        family: seat.to_owned(),
    };
    let conclusion = Conclusion {
        recommendation: fate.recommendation.to_owned(),
        key_condition: "Reads outnumber writes ten to one.".to_owned(),
        unresolved_points: vec![UnresolvedPoint {
            point: "Whether stale prices may be shown".to_owned(),
            agents_involved: vec![slug("claude"), slug("openai")],
            claims: vec![CitedClaim {
                id: "C0201".parse().unwrap(),
                agent: slug("openai"),
                claim: "A price must never be a minute old.".to_owned(),
            }],
        }],
        review_by: fate.review_by.parse().unwrap(),
        participants: vec![Participant { agent: slug("claude"), version: "3f9a".to_owned() }],
    };
    let objection =
        |text: &str, by| Objection { field: Field::Recommendation, objection: text.to_owned(), by };
    let is_revised = |state| state != TerminalState::Clean;
    let is_rejected = fate.state == Some(TerminalState::Unconverged);
    let trail = |state| match is_revised(state) {
        false => Trail::default(),
        true => Trail {
            objections: vec![objection("three lines were asked for", Auditor::Count)],
            revised_fields: vec![Field::Recommendation],
            second_objections: match is_rejected {
                true => vec![objection("no reason is given", Auditor::Critic)],
                false => Vec::new(),
            },
            original: Some(Conclusion {
                recommendation: "Cache!".to_owned(),
                ..conclusion.clone()
            }),
        },
    };
    Ending {
        terminal_state: fate.state,
        audit: fate.state.map(trail),
        synthesizer: author("claude", "claude-sonnet-4-20250514"),
        critic: fate.state.map(|_| author(seat, model)),
        reviser: fate.state.filter(|state| is_revised(*state)).map(|_| author("claude", "sonnet")),
        conclusion,
    }
}

/// Opens the dialogue only.
pub fn open_for(store: &dyn Store, fate: &Fate<'_>) -> DialogueId {
    let id: DialogueId = fate.id.parse().unwrap();
    let opening = Opening {
        dialogue_id: id.clone(),
        title: fate.title.to_owned(),
        question: Some(fate.title.to_owned()),
        background: None,
        protocol: fate.protocol,
        rehearsal: fate.rehearsal,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: format!("dialogues/{id}"),
    };
    apply(store, &id, EntryKind::DialogueCreated, fate.at, &[Change::DialogueOpened(opening)]);
    id
}

/// Opens the dialogue and concludes it.
pub fn conclude(store: &dyn Store, fate: &Fate<'_>) -> DialogueId {
    let id = open_for(store, fate);
    let mut changes = vec![Change::Concluded(Box::new(ending(fate)))];
    if fate.state.is_some_and(|state| state != TerminalState::Unconverged) {
        let status = DialogueStatus::Converged;
        changes.push(Change::StatusSet { status, reason: None });
    }
    apply(store, &id, EntryKind::Concluded, fate.at, &changes);
    id
}

pub fn record_outcome(store: &dyn Store, id: &DialogueId, outcome: OutcomeWord, at: &str) {
    let change = Change::OutcomeRecorded(Outcome { outcome, note: Some("seen".to_owned()) });
    apply(store, id, EntryKind::OutcomeRecorded, at, &[change]);
}

fn apply(store: &dyn Store, id: &DialogueId, kind: EntryKind, at: &str, changes: &[Change]) {
    transact(store, |unit| unit.apply(id, kind, moment(at), changes))
        .unwrap_or_else(|error: StoreError| panic!("{error:?}"));
}
