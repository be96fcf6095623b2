//! Stores of other versions: older ones are migrated, newer and foreign ones stay unchanged.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests look at files themselves, and one that cannot set itself up should say so loudly"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use plenary_engine::store::error::StoreError;
use plenary_engine::store::sqlite::store::SqliteStore;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::kit::{
    TestProgram, TestProject, dump_store, make_batch, make_item, open_dialogue, open_workspace,
};

const FIRST_MIGRATION: &str = include_str!("../../migrations/0001_record.sql");

/// `PLNY`, the application id of every store.
const APPLICATION_ID: i32 = 0x504c_4e59;

fn store_path(folder: &Path) -> PathBuf {
    folder.join(".plenary/plenary.db")
}

/// A dialogue with data in every field that `similar` searches.
fn filled_project() -> TestProject {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    bench.run_ok("create", &json!({ "title": "Zeppelin", "question": "Helium or hydrogen?" }));
    let labelled = |local_id: &str, label: &str| {
        let mut item = make_item(local_id, "");
        item["label"] = json!(label);
        item
    };
    let tensions = [labelled("ANN-T0001", "Buoyancy against safety")];
    let claims = [labelled("ANN-C0001", "Ballast decides")];
    bench.run_ok("register", &make_batch(0, json!({ "tensions": tensions, "claims": claims })));
    bench.run_ok(
        "verdict",
        &json!({
            "dialogue_id": "talk", "verdict_id": "V01", "verdict_type": "interim",
            "recommendation": "Moor at Lakehurst", "description": "For the mast.",
        }),
    );
    bench
}

/// Writes the project's store as the first version of the program would have.
fn write_first_version(bench: &TestProject, folder: &Path) {
    std::fs::create_dir_all(folder.join(".plenary")).unwrap();
    let old = Connection::open(store_path(folder)).unwrap();
    old.pragma_update(None, "journal_mode", "WAL").unwrap();
    old.execute_batch(FIRST_MIGRATION).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    let current = store_path(bench.folder.path());
    old.execute("ATTACH ?1 AS current", [current.to_str().unwrap()]).unwrap();
    let mut tables = old
        .prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY rowid")
        .unwrap();
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.len() > 20 && !tables.contains(&"search_text".to_owned()));
    for table in tables {
        let columns = list_columns(&old, &table);
        old.execute_batch(&format!(
            "INSERT INTO main.{table} SELECT {columns} FROM current.{table}"
        ))
        .unwrap();
    }
}

/// The columns that a table has in the older store; later versions may have added some.
pub fn list_columns(old: &Connection, table: &str) -> String {
    let mut columns = old.prepare("SELECT name FROM pragma_table_info(?1, 'main')").unwrap();
    let columns = columns.query_map([table], |row| row.get::<_, String>(0)).unwrap();
    columns.map(|name| format!("\"{}\"", name.unwrap())).collect::<Vec<_>>().join(", ")
}

/// Every file of a folder with its content.
fn folder_contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// A folder with this store must be rejected with this code and stay unchanged.
#[track_caller]
fn check_rejected(program: &TestProgram, code: i32, error_code: &str) -> Value {
    let folder = program.path().join(".plenary");
    let before = folder_contents(&folder);
    let mut refusal = Value::Null;
    for arguments in [["list", "--json"].as_slice(), &["dialogue", "create", "Talk", "--json"]] {
        let ran = program.run_command(arguments);
        refusal = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, refusal["error_code"].as_str()), (code, Some(error_code)), "{ran:?}");
    }
    assert_eq!(folder_contents(&folder), before, "the file was changed");
    refusal
}

/// A folder with a store made by the test.
fn program_with_store(make: impl FnOnce(&Path)) -> TestProgram {
    let program = TestProgram::new();
    std::fs::create_dir(program.path().join(".plenary")).unwrap();
    make(&store_path(program.path()));
    program
}

#[test]
fn an_older_store_is_carried_forward() {
    let bench = filled_project();
    let folder = tempfile::tempdir().unwrap();
    write_first_version(&bench, folder.path());
    let carried = TestProject { project: open_workspace(folder.path()), folder };
    carried.assert_verified();
    assert_eq!(dump_store(carried.folder.path()), dump_store(bench.folder.path()));
    assert_eq!(carried.export_dialogue("talk"), bench.export_dialogue("talk"));
    for (query, id, matched) in [
        ("zeppelin", "zeppelin", "title"),
        ("hydrogen", "zeppelin", "question"),
        ("buoyancy", "talk", "tension"),
        ("ballast", "talk", "claim"),
        ("Lakehurst", "talk", "conclusion"),
    ] {
        let found = carried.run_ok("similar", &json!({ "query": query }));
        let first = &found["results"][0];
        assert_eq!(
            (first["dialogue_id"].as_str(), first["matched"].as_str()),
            (Some(id), Some(matched))
        );
    }
    // The migrated store can be written to.
    carried.run_ok("register", &make_batch(1, json!({ "claims": [make_item("ANN-C0101", "")] })));
    carried.assert_verified();
}

#[test]
fn an_older_store_is_carried_forward_once_by_several_at_once() {
    let program = TestProgram::new();
    write_first_version(&filled_project(), program.path());
    let titles: Vec<String> = (0..8).map(|writer| format!("Writer {writer}")).collect();
    create_at_once(&program, &titles);
    let connection = Connection::open(store_path(program.path())).unwrap();
    let version: u32 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert!(version >= 2);
    let texts: u32 = connection
        .query_row("SELECT count(*) FROM search_text WHERE body = 'Zeppelin'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(texts, 1, "the texts were carried over more than once");
}

#[test]
fn a_fresh_store_is_made_by_several_at_once() {
    let program = TestProgram::new();
    create_at_once(&program, &vec!["Talk".to_owned(); 8]);
}

/// Starts one process per title; all must succeed with different ids and no lock message.
#[track_caller]
fn create_at_once(program: &TestProgram, titles: &[String]) {
    let children: Vec<_> = titles
        .iter()
        .map(|title| {
            let mut command = program.command();
            command.args(["dialogue", "create", title, "--json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut ids = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !printed.contains("locked"), "{printed}");
        let created: Value = serde_json::from_slice(&output.stdout).unwrap();
        ids.push(created["dialogue_id"].as_str().unwrap().to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), titles.len());
    assert_eq!(program.run_command(&["verify"]).code, 0);
}

/// A store of the current version with the version number of a later one.
fn write_newer_store(path: &Path, journal_mode: &str) {
    drop(SqliteStore::open(path).unwrap());
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    connection.pragma_update(None, "journal_mode", journal_mode).unwrap();
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    // A later program may use any journal mode.
    for journal_mode in ["WAL", "DELETE"] {
        let program = program_with_store(|path| write_newer_store(path, journal_mode));
        let refusal = check_rejected(&program, 5, "store_newer");
        let message = refusal["message"].as_str().unwrap();
        assert!(
            message.contains("newer Plenary (schema 99; this version supports 11)"),
            "{message}"
        );
        assert!(refusal["suggestion"].as_str().unwrap().contains("newest Plenary"));
        let refused = SqliteStore::open(&store_path(program.path())).map(drop);
        assert!(
            matches!(refused, Err(StoreError::Newer { found: 99, known: 3.., .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn a_newer_store_is_refused_in_words_too() {
    let program = program_with_store(|path| write_newer_store(path, "WAL"));
    let ran = program.run_command(&["list"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (5, ""));
    let printed = ran.stderr.replace(program.path().to_str().unwrap(), "FOLDER");
    insta::assert_snapshot!(printed, @"
    error: the store `FOLDER/.plenary/plenary.db` was written by a newer Plenary (schema 99; this version supports 11)
    hint: install the newest Plenary, or choose another store with `--store FILE`
    ");
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let long = "a store is not a diary\n".repeat(1_000);
    for text in ["hello", long.as_str(), "SQLite format 3\0 and then nothing"] {
        let program = program_with_store(|path| std::fs::write(path, text).unwrap());
        check_rejected(&program, 4, "store_foreign");
    }
}

#[test]
fn a_foreign_database_is_refused_and_left_alone() {
    let program = program_with_store(|path| {
        let foreign = Connection::open(path).unwrap();
        foreign
            .execute_batch("CREATE TABLE cookies (name TEXT); INSERT INTO cookies VALUES ('x')")
            .unwrap();
    });
    check_rejected(&program, 4, "store_foreign");
    // Another program's application id does not make it ours, with tables or without.
    for sql in ["", "CREATE TABLE dialogues (dialogue_id TEXT)"] {
        let program = program_with_store(|path| {
            let foreign = Connection::open(path).unwrap();
            foreign.pragma_update(None, "application_id", 0x4750_4b47).unwrap();
            foreign.execute_batch(sql).unwrap();
        });
        check_rejected(&program, 4, "store_foreign");
    }
}

#[test]
fn a_folder_is_no_store() {
    let program = program_with_store(|path| std::fs::create_dir(path).unwrap());
    for arguments in [["list", "--json"].as_slice(), &["dialogue", "create", "Talk", "--json"]] {
        assert_eq!(program.run_command(arguments).code, 5);
    }
    assert_eq!(std::fs::read_dir(store_path(program.path())).unwrap().count(), 0);
}

#[test]
fn a_store_that_was_cut_in_half_is_refused_and_left_alone() {
    let program = program_with_store(|path| {
        drop(open_filled_store(path));
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    });
    let before = std::fs::read(store_path(program.path())).unwrap();
    let ran = program.run_command(&["dialogue", "create", "Talk", "--json"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    let refusal: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(refusal["status"], "error");
    assert_eq!(std::fs::read(store_path(program.path())).unwrap(), before);
}

fn open_filled_store(path: &Path) -> SqliteStore {
    let bench = filled_project();
    let source = Connection::open(store_path(bench.folder.path())).unwrap();
    source.execute("VACUUM INTO ?1", [path.to_str().unwrap()]).unwrap();
    SqliteStore::open(path).unwrap()
}

/// Runs the program as a user without any files; root could write everywhere, so root becomes
/// `nobody`.
#[cfg(unix)]
fn run_as_nobody(
    program: &TestProgram,
    binary: &std::path::Path,
    arguments: &[&str],
) -> std::process::Output {
    use std::os::unix::fs::MetadataExt;
    const NOBODY_UID: &str = "65534";
    let is_root = std::fs::metadata(program.path()).unwrap().uid() == 0;
    let mut command = if is_root {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", NOBODY_UID, "--regid", NOBODY_UID, "--clear-groups"]).arg(binary);
        command
    } else {
        std::process::Command::new(binary)
    };
    command.args(arguments).current_dir(program.path()).output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_can_be_read_and_verified() {
    use std::os::unix::fs::PermissionsExt;
    let program = TestProgram::new();
    assert_eq!(program.run_command(&["dialogue", "create", "Talk"]).code, 0);
    // Other users may not be able to read the build folder, so they get a copy of the program.
    let binary = program.path().join("plenary");
    std::fs::copy(crate::kit::plenary_binary(), &binary).unwrap();
    let mode = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&program.path().join(".plenary/plenary.db"), 0o444);
    mode(&program.path().join(".plenary"), 0o555);
    mode(&binary, 0o755);
    mode(program.path(), 0o555);
    for arguments in [&["list"][..], &["show", "talk"], &["verify"], &["export", "talk"]] {
        let output = run_as_nobody(&program, &binary, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    }
    let refused = run_as_nobody(&program, &binary, &["dialogue", "abandon", "talk"]);
    assert_eq!(refused.status.code(), Some(5), "{}", String::from_utf8_lossy(&refused.stderr));
    mode(program.path(), 0o755);
    mode(&program.path().join(".plenary"), 0o755);
}
