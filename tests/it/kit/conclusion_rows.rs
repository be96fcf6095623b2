//! Concluded dialogues, written directly into a store.

use plenary_core::model::dialogue::{DialogueOpening, DialogueStatus, ProtocolKind, TerminalState};
use plenary_core::model::ids::{DialogueId, ExpertSlug};
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::time::Moment;
use plenary_core::protocols::conclusion::types::{
    AuditObjection, AuditTrail, CitedClaim, Conclusion, ConclusionField, ConclusionOutcome,
    ConclusionParticipant, ConclusionResult, ObjectionSource, OutcomeKind, SeatAuthor,
    UnresolvedPoint,
};
use plenary_engine::store::error::StoreError;
use plenary_engine::store::traits::{Store, in_transaction};

/// How a dialogue concludes.
#[derive(Debug, Clone)]
pub struct ConclusionSpec<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub protocol: ProtocolKind,
    pub rehearsal: bool,
    pub state: Option<TerminalState>,
    pub recommendation: &'a str,
    pub review_by: &'a str,
    /// Seat and model.
    pub critic: (&'a str, &'a str),
    /// When it concluded.
    pub concluded_at: &'a str,
}

impl Default for ConclusionSpec<'_> {
    fn default() -> Self {
        Self {
            id: "ended",
            title: "Should reads go through a cache?",
            protocol: ProtocolKind::Council,
            rehearsal: false,
            state: Some(TerminalState::Clean),
            recommendation: "Put a cache before the catalogue, and measure its hit rate.",
            review_by: "2026-06-01",
            critic: ("openai", "gpt-4o"),
            concluded_at: "2026-02-02T09:00:00Z",
        }
    }
}

pub fn parse_moment(text: &str) -> Moment {
    text.parse().unwrap()
}

fn parse_slug(text: &str) -> ExpertSlug {
    text.parse().unwrap()
}

/// A conclusion result with all fields that its state allows.
pub fn make_conclusion_result(fate: &ConclusionSpec<'_>) -> ConclusionResult {
    let (seat, model) = fate.critic;
    let author = |seat: &str, model: &str| SeatAuthor {
        seat: parse_slug(seat),
        model: model.to_owned(),
        family: seat.to_owned(),
    };
    let conclusion = Conclusion {
        recommendation: fate.recommendation.to_owned(),
        key_condition: "Reads outnumber writes ten to one.".to_owned(),
        unresolved_points: vec![UnresolvedPoint {
            point: "Whether stale prices may be shown".to_owned(),
            agents_involved: vec![parse_slug("claude"), parse_slug("openai")],
            claims: vec![CitedClaim {
                id: "C0201".parse().unwrap(),
                agent: parse_slug("openai"),
                claim: "A price must never be a minute old.".to_owned(),
            }],
        }],
        review_by: fate.review_by.parse().unwrap(),
        participants: vec![ConclusionParticipant {
            agent: parse_slug("claude"),
            version: "3f9a".to_owned(),
        }],
    };
    let objection = |text: &str, by| AuditObjection {
        field: ConclusionField::Recommendation,
        objection: text.to_owned(),
        by,
    };
    let is_revised = |state| state != TerminalState::Clean;
    let is_rejected = fate.state == Some(TerminalState::Unconverged);
    let trail = |state| match is_revised(state) {
        false => AuditTrail::default(),
        true => AuditTrail {
            objections: vec![objection("three lines were asked for", ObjectionSource::Count)],
            revised_fields: vec![ConclusionField::Recommendation],
            second_objections: match is_rejected {
                true => vec![objection("no reason is given", ObjectionSource::Critic)],
                false => Vec::new(),
            },
            original: Some(Conclusion {
                recommendation: "Cache!".to_owned(),
                ..conclusion.clone()
            }),
        },
    };
    ConclusionResult {
        terminal_state: fate.state,
        audit: fate.state.map(trail),
        synthesizer: author("claude", "claude-sonnet-4-20250514"),
        critic: fate.state.map(|_| author(seat, model)),
        reviser: fate.state.filter(|state| is_revised(*state)).map(|_| author("claude", "sonnet")),
        conclusion,
    }
}

/// Opens the dialogue only.
pub fn open_spec_dialogue(store: &dyn Store, fate: &ConclusionSpec<'_>) -> DialogueId {
    let id: DialogueId = fate.id.parse().unwrap();
    let opening = DialogueOpening {
        dialogue_id: id.clone(),
        title: fate.title.to_owned(),
        question: Some(fate.title.to_owned()),
        background: None,
        protocol: fate.protocol,
        rehearsal: fate.rehearsal,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: format!("dialogues/{id}"),
        calibrated: false,
        domain_id: None,
    };
    apply_events(
        store,
        &id,
        JournalEntryKind::DialogueCreated,
        fate.concluded_at,
        &[JournalEvent::DialogueOpened(opening)],
    );
    id
}

/// Opens the dialogue and concludes it.
pub fn insert_conclusion(store: &dyn Store, fate: &ConclusionSpec<'_>) -> DialogueId {
    let id = open_spec_dialogue(store, fate);
    let mut changes = vec![JournalEvent::Concluded(Box::new(make_conclusion_result(fate)))];
    if fate.state.is_some_and(|state| state != TerminalState::Unconverged) {
        let status = DialogueStatus::Converged;
        changes.push(JournalEvent::StatusSet { status, reason: None });
    }
    apply_events(store, &id, JournalEntryKind::Concluded, fate.concluded_at, &changes);
    id
}

pub fn insert_outcome(store: &dyn Store, id: &DialogueId, outcome: OutcomeKind, at: &str) {
    let change =
        JournalEvent::OutcomeRecorded(ConclusionOutcome { outcome, note: Some("seen".to_owned()) });
    apply_events(store, id, JournalEntryKind::OutcomeRecorded, at, &[change]);
}

fn apply_events(
    store: &dyn Store,
    id: &DialogueId,
    kind: JournalEntryKind,
    at: &str,
    changes: &[JournalEvent],
) {
    in_transaction(store, |unit| unit.append_entry(id, kind, parse_moment(at), changes))
        .unwrap_or_else(|error: StoreError| panic!("{error:?}"));
}
