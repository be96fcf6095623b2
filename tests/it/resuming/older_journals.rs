//! Councils from before conclusions existed: a finished one, and one whose process was killed
//! during a review.
//!
//! The fixture is the journal of a store that the old program wrote, row by row.

use std::path::Path;

use plenary::domain::change::{Change, Entry};
use plenary::store::{SqliteStore, Store};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

use super::attempts::{Life, replies, sent, transcript};
use super::harness::{Council, House, essence};
use super::library::Library;
use super::scripted_seats::Finale;
use crate::kit::{Program, at};

const JOURNAL: &str = include_str!("../../fixtures/journals/before-conclusions.jsonl");
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../migrations/0001_record.sql"),
    include_str!("../../../migrations/0002_search.sql"),
];

/// `PLNY`, the application id of every store.
const APPLICATION_ID: i32 = 0x504c_4e59;

const FINISHED: &str = "finished-faed8c93";
const CUT: &str = "cut-c1e4b301";

/// A row of the journal as stored.
#[derive(Debug, PartialEq, Deserialize)]
struct Row {
    dialogue_id: String,
    kind: String,
    ts: String,
    hash: String,
    payload: String,
}

fn rows() -> Vec<Row> {
    JOURNAL.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The journal of one dialogue, parsed by the current program.
fn journal(id: &str) -> Vec<Entry> {
    let rows = rows().into_iter().filter(|row| row.dialogue_id == id);
    let entries = rows.enumerate().map(|(place, row)| Entry {
        seq: place as u64 + 1,
        kind: row.kind.parse().unwrap(),
        at: row.ts.parse().unwrap(),
        changes: serde_json::from_str::<Vec<Change>>(&row.payload).unwrap(),
    });
    entries.collect()
}

fn written(store: &Path) -> Vec<Row> {
    let connection = Connection::open(store).unwrap();
    let all = "SELECT dialogue_id, kind, ts, hash, payload FROM journal ORDER BY global_seq";
    let mut statement = connection.prepare(all).unwrap();
    let rows = statement.query_map([], |row| {
        let (dialogue_id, kind, ts) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Row { dialogue_id, kind, ts, hash: row.get(3)?, payload: row.get(4)? })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// The store as the old program left it: without the later tables.
fn store_of_that_time(folder: &Path) {
    let today = Library::sound();
    for id in [FINISHED, CUT] {
        today.restore(&journal(id));
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
        old.execute_batch(&format!("INSERT INTO main.{table} SELECT * FROM today.{table}"))
            .unwrap_or_else(|error| panic!("{table}: {error}"));
    }
}

#[track_caller]
fn run(program: &Program, arguments: &[&str]) -> Value {
    let ran = program.run(&[arguments, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn what_was_written_before_conclusions_is_written_the_same_today() {
    let library = Library::sound();
    for id in [FINISHED, CUT] {
        library.restore(&journal(id));
    }
    // Byte for byte, and therefore with the same hashes.
    assert_eq!(written(&library.path().join("plenary.db")), rows());
    assert_eq!(library.store.verify(None, None).unwrap().findings, []);
}

#[test]
fn a_store_from_before_conclusions_is_read_shown_and_verified() {
    let program = Program::new();
    store_of_that_time(program.path());
    let listed = run(&program, &["list"]);
    let states = [0, 1].map(|place| {
        let listed = &listed["dialogues"][place];
        json!([listed["dialogue_id"], listed["status"], listed["terminal_state"]])
    });
    assert_eq!(states, [json!([CUT, "open", null]), json!([FINISHED, "converged", null])]);
    let verified = run(&program, &["verify"]);
    assert_eq!(verified["findings"], json!([]), "{verified:#}");
    for id in [FINISHED, CUT] {
        assert_eq!(run(&program, &["export", id])["conclusion"], Value::Null);
        assert_eq!(program.run(&["show", id, "--full"]).code, 0);
    }
    let replayed = program.run(&["replay", FINISHED]);
    assert_eq!(replayed.code, 0, "{replayed:?}");
    assert!(replayed.stdout.contains("Go ahead in small steps."), "{}", replayed.stdout);
    // It has no audited conclusion.
    assert_eq!(run(&program, &["health"])["considered"], 0);
}

#[test]
fn a_council_from_before_conclusions_goes_on_to_its_report() {
    let program = Program::new();
    store_of_that_time(program.path());
    let house = House::over(program);
    let mut council = Council::new(&house, "cut");
    let beginning = journal(CUT);
    let run = transcript(&beginning);
    council.lives.push(Life { asked: sent(&run), told: replies(&run), journal: beginning });
    let document = council.finish();
    let mut asked = council.lives[1].asked.clone();
    asked.sort();
    assert_eq!(asked, ["R2 cid", "R3 ann"]);
    let undisturbed = Council::new(&house, "undisturbed").finish();
    assert_eq!(essence(&document), essence(&undisturbed));
}

#[test]
fn a_council_from_before_conclusions_can_be_concluded() {
    let program = Program::new();
    store_of_that_time(program.path());
    let house = House::over(program);
    let settings = house.settings(&format!("later.{}", Finale::Revised.word()), "");
    let finished = run(&house.program, &["resume", FINISHED]);
    let concluded = run(&house.program, &["conclude", FINISHED, "--config", &settings]);
    assert_eq!(at(&concluded, "terminal_state"), "revised");
    assert_eq!(at(&concluded, "report"), at(&finished, "report"));
    assert_eq!(house.asked(&format!("later.{}", Finale::Revised.word())).len(), 4);
    let store = SqliteStore::open(&house.program.path().join(".plenary/plenary.db")).unwrap();
    assert_eq!(store.verify(None, None).unwrap().findings, []);
    // The old rows are unchanged.
    let path = house.program.path().join(".plenary/plenary.db");
    assert_eq!(written(&path)[..rows().len()], rows());
}
