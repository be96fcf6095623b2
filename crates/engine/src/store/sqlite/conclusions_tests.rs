//! Tests of conclusion columns that no store method returns.

use plenary_core::model::dialogue::{
    ConclusionStage, DialogueOpening, DialogueStatus, ProtocolKind, TerminalState,
};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEvent;
use plenary_core::protocols::conclusion::types::{Conclusion, ConclusionResult, SeatAuthor};
use rusqlite::Connection;

use crate::store::sqlite::apply::EventApplier;
use crate::store::sqlite::connect::open_in_memory;

fn opening(id: &DialogueId) -> JournalEvent {
    JournalEvent::DialogueOpened(DialogueOpening {
        dialogue_id: id.clone(),
        title: "Talk".into(),
        question: None,
        background: None,
        protocol: ProtocolKind::Council,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: "talk".into(),
        calibrated: false,
        domain_id: None,
    })
}

fn concluded(terminal_state: Option<TerminalState>) -> JournalEvent {
    let synthesizer =
        SeatAuthor { seat: "ann".parse().unwrap(), model: "m".into(), family: "f".into() };
    JournalEvent::Concluded(Box::new(ConclusionResult {
        terminal_state,
        conclusion: Conclusion {
            recommendation: "Do it.".into(),
            key_condition: "It rains.".into(),
            unresolved_points: Vec::new(),
            review_by: "2026-06-01".parse().unwrap(),
            participants: Vec::new(),
        },
        audit: None,
        synthesizer,
        critic: None,
        reviser: None,
    }))
}

fn stage_reached(stage: ConclusionStage) -> JournalEvent {
    JournalEvent::StageReached { stage }
}

fn round_held(round: u8) -> JournalEvent {
    JournalEvent::RoundRecorded { round, title: None, score: 0, summary: None }
}

fn status_set(status: DialogueStatus) -> JournalEvent {
    JournalEvent::StatusSet { status, reason: None }
}

fn read(connection: &Connection, column: &str) -> Option<String> {
    let sql = format!("SELECT {column} FROM dialogues");
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// Applies the events in order and checks the lifecycle after each.
#[track_caller]
fn check(steps: &[(JournalEvent, &str)]) {
    let connection = open_in_memory().unwrap();
    let id: DialogueId = "talk".parse().unwrap();
    let applier =
        EventApplier::new(&connection, id.as_str(), 1, "2026-02-02T09:00:00Z".parse().unwrap());
    applier.apply_event(&opening(&id)).unwrap();
    assert_eq!(read(&connection, "lifecycle").as_deref(), Some("pending"));
    for (change, expected) in steps {
        applier.apply_event(change).unwrap();
        assert_eq!(read(&connection, "lifecycle").as_deref(), Some(*expected), "{change:?}");
    }
}

#[test]
fn an_ending_goes_through_its_stages() {
    check(&[
        (round_held(1), "round_1"),
        (round_held(2), "round_2"),
        (stage_reached(ConclusionStage::Concluding), "concluding"),
        (stage_reached(ConclusionStage::Auditing), "auditing"),
        (stage_reached(ConclusionStage::Revising), "revising"),
        (concluded(Some(TerminalState::Revised)), "terminal"),
    ]);
    check(&[(stage_reached(ConclusionStage::Auditing), "auditing")]);
}

#[test]
fn a_lifecycle_never_goes_back() {
    check(&[
        (stage_reached(ConclusionStage::Revising), "revising"),
        (stage_reached(ConclusionStage::Auditing), "revising"),
        (stage_reached(ConclusionStage::Concluding), "revising"),
        (round_held(1), "revising"),
        (concluded(Some(TerminalState::Unconverged)), "terminal"),
        (round_held(2), "terminal"),
        (stage_reached(ConclusionStage::Concluding), "terminal"),
        (stage_reached(ConclusionStage::Revising), "terminal"),
    ]);
    check(&[
        (stage_reached(ConclusionStage::Concluding), "concluding"),
        (round_held(1), "concluding"),
        (status_set(DialogueStatus::Converging), "concluding"),
        (status_set(DialogueStatus::Abandoned), "terminal"),
        (stage_reached(ConclusionStage::Auditing), "terminal"),
    ]);
    check(&[
        (status_set(DialogueStatus::Converged), "terminal"),
        (stage_reached(ConclusionStage::Concluding), "terminal"),
        (concluded(None), "terminal"),
    ]);
}

#[test]
fn a_terminal_state_stands_with_the_dialogue_too() {
    for state in [None, Some(TerminalState::Clean), Some(TerminalState::Unconverged)] {
        let connection = open_in_memory().unwrap();
        let id: DialogueId = "talk".parse().unwrap();
        let applier =
            EventApplier::new(&connection, id.as_str(), 1, "2026-02-02T09:00:00Z".parse().unwrap());
        applier.apply_event(&opening(&id)).unwrap();
        applier.apply_event(&concluded(state)).unwrap();
        let expected = state.map(|state| state.name().to_owned());
        assert_eq!(read(&connection, "terminal_state"), expected);
        assert_eq!(
            read(&connection, "status").as_deref(),
            Some("open"),
            "status has its own change"
        );
    }
}

#[test]
fn a_conclusion_stands_and_there_is_one() {
    let connection = open_in_memory().unwrap();
    let id: DialogueId = "talk".parse().unwrap();
    let applier =
        EventApplier::new(&connection, id.as_str(), 1, "2026-02-02T09:00:00Z".parse().unwrap());
    applier.apply_event(&opening(&id)).unwrap();
    applier.apply_event(&concluded(None)).unwrap();
    assert!(applier.apply_event(&concluded(None)).is_err(), "a second one");
    for sql in [
        "UPDATE conclusions SET recommendation = 'Do not.'",
        "UPDATE conclusions SET terminal_state = 'clean'",
        "UPDATE conclusions SET review_by = '2030-01-01'",
    ] {
        assert!(connection.execute(sql, []).is_err(), "{sql}");
    }
}
