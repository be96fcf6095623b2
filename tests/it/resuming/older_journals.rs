//! Councils from before conclusions existed: a finished one, and one whose process was killed
//! during a review.
//!
//! The fixture is the journal of a store that the old program wrote, row by row.

use std::path::Path;

use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

use super::attempts::{RunAttempt, fold_journal, list_replies, list_sent};
use super::harness::{ResumeProject, ResumedCouncil, stable_document};
use super::library::LibraryHarness;
use super::scripted_seats::CouncilFinale;
use crate::kit::{TestProgram, value_at};

const JOURNAL: &str = include_str!("../../fixtures/journals/before-conclusions.jsonl");
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../migrations/0001_record.sql"),
    include_str!("../../../migrations/0002_search.sql"),
];

/// `PLNY`, the application id of every store.
const APPLICATION_ID: i32 = 0x504c_4e59;

const FINISHED_ID: &str = "finished-faed8c93";
const CUT_ID: &str = "cut-c1e4b301";

/// A row of the journal as stored.
#[derive(Debug, PartialEq, Deserialize)]
struct JournalRow {
    dialogue_id: String,
    kind: String,
    ts: String,
    hash: String,
    payload: String,
}

fn fixture_rows() -> Vec<JournalRow> {
    JOURNAL.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The journal of one dialogue, parsed by the current program.
fn parse_journal(id: &str) -> Vec<JournalEntry> {
    let rows = fixture_rows().into_iter().filter(|row| row.dialogue_id == id);
    let entries = rows.enumerate().map(|(place, row)| JournalEntry {
        seq: place as u64 + 1,
        kind: row.kind.parse().unwrap(),
        at: row.ts.parse().unwrap(),
        events: serde_json::from_str::<Vec<JournalEvent>>(&row.payload).unwrap(),
    });
    entries.collect()
}

fn stored_rows(store: &Path) -> Vec<JournalRow> {
    let connection = Connection::open(store).unwrap();
    let all = "SELECT dialogue_id, kind, ts, hash, payload FROM journal ORDER BY global_seq";
    let mut statement = connection.prepare(all).unwrap();
    let rows = statement.query_map([], |row| {
        let (dialogue_id, kind, ts) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(JournalRow { dialogue_id, kind, ts, hash: row.get(3)?, payload: row.get(4)? })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// The store as the old program left it: without the later tables.
fn write_old_store(folder: &Path) {
    let today = LibraryHarness::with_valid_replies();
    for id in [FINISHED_ID, CUT_ID] {
        today.restore_journal(&parse_journal(id));
    }
    std::fs::create_dir_all(folder.join(".plenary")).unwrap();
    let old = Connection::open(folder.join(".plenary/plenary.db")).unwrap();
    old.pragma_update(None, "journal_mode", "WAL").unwrap();
    old.execute_batch(&MIGRATIONS.concat()).unwrap();
    old.pragma_update(None, "user_version", MIGRATIONS.len() as u32).unwrap();
    old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    let store = today.path().join("plenary.db");
    old.execute("ATTACH ?1 AS today", [store.to_str().unwrap()]).unwrap();
    // The tables of the search index fill themselves.
    let tables = "SELECT name FROM main.sqlite_schema
                  WHERE type = 'table' AND name NOT LIKE 'search\\_text\\_%' ESCAPE '\\' ORDER BY rowid";
    let mut tables = old.prepare(tables).unwrap();
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.len() > 20 && !tables.contains(&"conclusions".to_owned()), "{tables:?}");
    for table in tables {
        let columns = crate::migrations::list_columns(&old, &table);
        old.execute_batch(&format!("INSERT INTO main.{table} SELECT {columns} FROM today.{table}"))
            .unwrap_or_else(|error| panic!("{table}: {error}"));
    }
}

#[track_caller]
fn run_json(program: &TestProgram, arguments: &[&str]) -> Value {
    let ran = program.run_command(&[arguments, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn what_was_written_before_conclusions_is_written_the_same_today() {
    let library = LibraryHarness::with_valid_replies();
    for id in [FINISHED_ID, CUT_ID] {
        library.restore_journal(&parse_journal(id));
    }
    // Byte for byte, and therefore with the same hashes.
    assert_eq!(stored_rows(&library.path().join("plenary.db")), fixture_rows());
    assert_eq!(library.store.verify_record(None, None).unwrap().findings, []);
}

#[test]
fn a_store_from_before_conclusions_is_read_shown_and_verified() {
    let program = TestProgram::new();
    write_old_store(program.path());
    let listed = run_json(&program, &["list"]);
    let states = [0, 1].map(|place| {
        let listed = &listed["dialogues"][place];
        json!([listed["dialogue_id"], listed["status"], listed["terminal_state"]])
    });
    assert_eq!(states, [json!([CUT_ID, "open", null]), json!([FINISHED_ID, "converged", null])]);
    let verified = run_json(&program, &["verify"]);
    assert_eq!(verified["findings"], json!([]), "{verified:#}");
    for id in [FINISHED_ID, CUT_ID] {
        assert_eq!(run_json(&program, &["export", id])["conclusion"], Value::Null);
        assert_eq!(program.run_command(&["show", id, "--full"]).code, 0);
    }
    let replayed = program.run_command(&["replay", FINISHED_ID]);
    assert_eq!(replayed.code, 0, "{replayed:?}");
    assert!(replayed.stdout.contains("Go ahead in small steps."), "{}", replayed.stdout);
    // It has no audited conclusion.
    assert_eq!(run_json(&program, &["health"])["considered"], 0);
}

#[test]
fn a_council_from_before_conclusions_goes_on_to_its_report() {
    let program = TestProgram::new();
    write_old_store(program.path());
    let house = ResumeProject::with_program(program);
    let mut council = ResumedCouncil::new(&house, "cut");
    let beginning = parse_journal(CUT_ID);
    let run = fold_journal(&beginning);
    council.attempts.push(RunAttempt {
        requests: list_sent(&run),
        reported: list_replies(&run),
        journal: beginning,
    });
    let document = council.run_to_end();
    let mut asked = council.attempts[1].requests.clone();
    asked.sort();
    assert_eq!(asked, ["R2 cid", "R3 ann"]);
    let undisturbed = ResumedCouncil::new(&house, "undisturbed").run_to_end();
    assert_eq!(stable_document(&document), stable_document(&undisturbed));
}

#[test]
fn a_council_from_before_conclusions_can_be_concluded() {
    let program = TestProgram::new();
    write_old_store(program.path());
    let house = ResumeProject::with_program(program);
    let settings =
        house.write_settings(&format!("later.{}", CouncilFinale::Revised.name_part()), "");
    let finished = run_json(&house.program, &["resume", FINISHED_ID]);
    let concluded = run_json(&house.program, &["conclude", FINISHED_ID, "--config", &settings]);
    assert_eq!(value_at(&concluded, "terminal_state"), "revised");
    assert_eq!(value_at(&concluded, "report"), value_at(&finished, "report"));
    assert_eq!(
        house.requests_of(&format!("later.{}", CouncilFinale::Revised.name_part())).len(),
        4
    );
    let store = SqliteStore::open(&house.program.path().join(".plenary/plenary.db")).unwrap();
    assert_eq!(store.verify_record(None, None).unwrap().findings, []);
    // The old rows are unchanged.
    let path = house.program.path().join(".plenary/plenary.db");
    assert_eq!(stored_rows(&path)[..fixture_rows().len()], fixture_rows());
}
