//! Tests of conclusion columns that no store method returns.

use rusqlite::Connection;

use super::apply::Applier;
use super::connect;
use crate::domain::change::Change;
use crate::domain::conclusion::{Author, Conclusion, Ending};
use crate::domain::dialogue::{DialogueStatus, Opening, Protocol, Stage, TerminalState};
use crate::domain::ids::DialogueId;

fn opening(id: &DialogueId) -> Change {
    Change::DialogueOpened(Opening {
        dialogue_id: id.clone(),
        title: "Talk".into(),
        question: None,
        background: None,
        protocol: Protocol::Council,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: "talk".into(),
    })
}

fn concluded(terminal_state: Option<TerminalState>) -> Change {
    let synthesizer =
        Author { seat: "ann".parse().unwrap(), model: "m".into(), family: "f".into() };
    Change::Concluded(Box::new(Ending {
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

fn reached(stage: Stage) -> Change {
    Change::StageReached { stage }
}

fn held(round: u8) -> Change {
    Change::RoundHeld { round, title: None, score: 0, summary: None }
}

fn closed(status: DialogueStatus) -> Change {
    Change::StatusSet { status, reason: None }
}

fn read(connection: &Connection, column: &str) -> Option<String> {
    let sql = format!("SELECT {column} FROM dialogues");
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}

/// Applies the events in order and checks the lifecycle after each.
#[track_caller]
fn check(steps: &[(Change, &str)]) {
    let connection = connect::memory().unwrap();
    let id: DialogueId = "talk".parse().unwrap();
    let applier = Applier::new(&connection, &id, 1, "2026-02-02T09:00:00Z".parse().unwrap());
    applier.apply(&opening(&id)).unwrap();
    assert_eq!(read(&connection, "lifecycle").as_deref(), Some("pending"));
    for (change, expected) in steps {
        applier.apply(change).unwrap();
        assert_eq!(read(&connection, "lifecycle").as_deref(), Some(*expected), "{change:?}");
    }
}

#[test]
fn an_ending_goes_through_its_stages() {
    check(&[
        (held(1), "round_1"),
        (held(2), "round_2"),
        (reached(Stage::Concluding), "concluding"),
        (reached(Stage::Auditing), "auditing"),
        (reached(Stage::Revising), "revising"),
        (concluded(Some(TerminalState::Revised)), "terminal"),
    ]);
    check(&[(reached(Stage::Auditing), "auditing")]);
}

#[test]
fn a_lifecycle_never_goes_back() {
    check(&[
        (reached(Stage::Revising), "revising"),
        (reached(Stage::Auditing), "revising"),
        (reached(Stage::Concluding), "revising"),
        (held(1), "revising"),
        (concluded(Some(TerminalState::Unconverged)), "terminal"),
        (held(2), "terminal"),
        (reached(Stage::Concluding), "terminal"),
        (reached(Stage::Revising), "terminal"),
    ]);
    check(&[
        (reached(Stage::Concluding), "concluding"),
        (held(1), "concluding"),
        (closed(DialogueStatus::Converging), "concluding"),
        (closed(DialogueStatus::Abandoned), "terminal"),
        (reached(Stage::Auditing), "terminal"),
    ]);
    check(&[
        (closed(DialogueStatus::Converged), "terminal"),
        (reached(Stage::Concluding), "terminal"),
        (concluded(None), "terminal"),
    ]);
}

#[test]
fn a_terminal_state_stands_with_the_dialogue_too() {
    for state in [None, Some(TerminalState::Clean), Some(TerminalState::Unconverged)] {
        let connection = connect::memory().unwrap();
        let id: DialogueId = "talk".parse().unwrap();
        let applier = Applier::new(&connection, &id, 1, "2026-02-02T09:00:00Z".parse().unwrap());
        applier.apply(&opening(&id)).unwrap();
        applier.apply(&concluded(state)).unwrap();
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
    let connection = connect::memory().unwrap();
    let id: DialogueId = "talk".parse().unwrap();
    let applier = Applier::new(&connection, &id, 1, "2026-02-02T09:00:00Z".parse().unwrap());
    applier.apply(&opening(&id)).unwrap();
    applier.apply(&concluded(None)).unwrap();
    assert!(applier.apply(&concluded(None)).is_err(), "a second one");
    for sql in [
        "UPDATE conclusions SET recommendation = 'Do not.'",
        "UPDATE conclusions SET terminal_state = 'clean'",
        "UPDATE conclusions SET review_by = '2030-01-01'",
    ] {
        assert!(connection.execute(sql, []).is_err(), "{sql}");
    }
}
