//! `verify` finds erased, renamed or hidden data: evidence, rows without a dialogue, terms of the
//! search index, look-alike definitions.

use plenary_core::model::journal::JournalEvent;
use plenary_engine::store::error::StoreError;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use rusqlite::Connection;
use serde_json::json;

use crate::councils::harness::TestCouncil;
use crate::kit::{ScriptedReply, TestProgram, TestProject};
use crate::tampering::{TamperedStore, check_tampering};

/// Changes the journal without its trigger and restores the trigger.
fn change_journal(connection: &Connection, sql: &str) {
    let guard: String = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'journal_only_grows_update'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    connection.execute_batch("DROP TRIGGER journal_only_grows_update").unwrap();
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    connection.execute_batch(&guard).unwrap();
}

/// Erases the payloads of each kind of entry, one kind at a time.
fn check_erased(program: &TestProgram, kinds_min: usize) {
    let path = program.path().join(".plenary/plenary.db");
    let head = SqliteStore::open(&path).unwrap().verify_record(None, None).unwrap().head;
    let original = std::fs::read(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    let mut statement = connection.prepare("SELECT DISTINCT kind FROM journal").unwrap();
    let kinds: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(kinds.len() >= kinds_min, "{kinds:?}");
    drop(statement);
    drop(connection);
    for kind in kinds {
        std::fs::write(&path, &original).unwrap();
        let connection = Connection::open(&path).unwrap();
        change_journal(
            &connection,
            &format!("UPDATE journal SET payload = NULL WHERE kind = '{kind}'"),
        );
        let id: String = connection
            .query_row("SELECT dialogue_id FROM journal WHERE payload IS NULL", [], |row| {
                row.get(0)
            })
            .unwrap();
        drop(connection);
        for arguments in [&["verify"][..], &["verify", "--head", &head], &["verify", &id]] {
            let ran = program.run_command(arguments);
            assert_eq!(ran.code, 1, "{kind} {arguments:?}: {ran:?}");
            assert!(ran.stdout.contains("its payload was erased [payload]"), "{kind}: {ran:?}");
        }
        // A run with erased evidence must not resume as if it had never been asked.
        let ran = program.run_command(&["resume", &id]);
        assert_eq!(ran.code, 4, "{kind}: {ran:?}");
        assert!(ran.stderr.contains("`plenary verify`"), "{kind}: {ran:?}");
    }
}

#[test]
fn erased_evidence_is_found() {
    let program = TestProgram::new();
    let ran = program.run_command(&["ask", "--rehearse", "Shall we?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    check_erased(&program, 6);
}

#[test]
fn prompts_that_settings_withhold_are_no_finding_and_their_entries_cannot_be_erased() {
    let withholding = |settings: &mut serde_json::Value| {
        settings["retention"] = json!({ "keep_prompts": false });
    };
    let council = TestCouncil::with_settings(|_| ScriptedReply::Valid, withholding);
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    let store = SqliteStore::open(&council.program.path().join(".plenary/plenary.db")).unwrap();
    let verified = store.verify_record(None, None).unwrap();
    assert_eq!(verified.findings, []);
    let entries = store.load_entries(&result.dialogue_id().parse().unwrap(), 0).unwrap();
    let mut withheld = 0;
    for change in entries.iter().flat_map(|entry| &entry.events) {
        if let JournalEvent::AskPrepared { messages, messages_sha256, .. } = change {
            assert!(messages.is_none() && messages_sha256.is_some());
            withheld += 1;
        }
    }
    assert!(withheld > 0);
    drop(store);
    check_erased(&council.program, 5);
}

#[test]
fn a_payload_of_another_type_is_found() {
    check_tampering(&[
        (
            "UPDATE journal SET payload = CAST(payload AS BLOB) WHERE global_seq = 3",
            &["payload", "replay"],
        ),
        ("UPDATE journal SET payload = 7 WHERE global_seq = 3", &["payload", "replay"]),
        ("UPDATE journal SET payload = '' WHERE global_seq = 3", &["payload", "replay"]),
        ("UPDATE journal SET payload = '[]' WHERE global_seq = 3", &["payload", "replay"]),
        (
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, 'global_hash    TEXT NOT NULL', 'global_hash    TEXT')
               WHERE name = 'journal';
             PRAGMA writable_schema = RESET;
             UPDATE journal SET global_hash = NULL WHERE global_seq = 3",
            &["global_chain", "schema"],
        ),
    ]);
}

#[test]
fn a_byte_that_only_looks_like_the_one_before_is_found() {
    // U+FFFD replaces unreadable bytes, so a real U+FFFD and an unreadable byte look the same.
    let bench = TestProject::new();
    bench.run_ok("create", &json!({ "title": "Odd \u{fffd} title", "question": "Why?" }));
    let connection = Connection::open(bench.folder.path().join(".plenary/plenary.db")).unwrap();
    change_journal(
        &connection,
        "UPDATE journal SET payload = CAST(replace(CAST(payload AS BLOB), x'efbfbd', x'ff') AS TEXT)",
    );
    let found = bench.store().verify_record(None, None).unwrap().findings;
    assert!(found.iter().any(|finding| finding.check == "payload"), "{found:?}");
}

#[test]
fn a_dialogue_that_was_renamed_is_found() {
    let tables: Vec<String> = {
        let scene = TamperedStore::new_store();
        let connection = scene.open_connection();
        let sql = "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c
                   WHERE m.type = 'table' AND c.name = 'dialogue_id'";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert!(tables.len() >= 27, "{tables:?}");
    let renamed: String = tables
        .iter()
        .map(|table| {
            format!("UPDATE {table} SET dialogue_id = 'other-name' WHERE dialogue_id = 'talk';")
        })
        .collect();
    let sql = format!("{renamed} UPDATE chain_heads SET scope = 'other-name' WHERE scope = 'talk'");
    check_tampering(&[(&sql, &["replay"])]);
}

#[test]
fn rows_without_a_dialogue_are_found() {
    let ending = "terminal_state, recommendation, key_condition, unresolved_points, review_by, \
                  participants, audit, synthesizer, critic, reviser, rehearsal, awaited, created_at";
    let without = format!("INSERT INTO conclusions SELECT NULL, {ending} FROM conclusions");
    check_tampering(&[
        (&without, &["replay"]),
        ("UPDATE overrides SET dialogue_id = CAST('review' AS BLOB)", &["foreign_key", "replay"]),
        (
            "INSERT INTO local_ids VALUES ('gone', 'ANN-P0001', 0, 'ann', 'P0001')",
            &["foreign_key", "replay"],
        ),
    ]);
}

#[test]
fn a_search_index_that_was_changed_is_found() {
    // Remove a term of the first text from the index only: tell FTS5 that the text was different.
    let scene = TamperedStore::new_store();
    let connection = scene.open_connection();
    let (rowid, body): (i64, String) = connection
        .query_row("SELECT rowid, body FROM search_text LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    drop((connection, scene));
    assert_eq!(body, "Talk");
    let forged = format!(
        "CREATE TABLE kept AS SELECT * FROM search_text_content;
         UPDATE search_text SET body = 'Silence' WHERE rowid = {rowid};
         DELETE FROM search_text_content;
         INSERT INTO search_text_content SELECT * FROM kept;
         DROP TABLE kept"
    );
    let both = &["integrity", "search_index"][..];
    check_tampering(&[
        (&forged, both),
        ("DELETE FROM search_text_docsize WHERE id = 1", both),
        ("UPDATE search_text_docsize SET sz = x'000009' WHERE id = 1", both),
        (
            "INSERT INTO search_text (search_text, rank) VALUES ('rank', 'bm25(0.0, 0.0, -1.0)')",
            &["search_index"],
        ),
        (
            "UPDATE search_text_content SET c2 = 'Silence' WHERE id = 1",
            &["integrity", "replay", "search_index"],
        ),
    ]);
}

#[test]
fn a_search_index_in_ruins_is_a_finding_and_not_a_failure() {
    let scene = TamperedStore::new_store();
    for sql in [
        "DELETE FROM search_text_data",
        "UPDATE search_text_data SET block = zeroblob(length(block))",
        "UPDATE search_text_data SET block = x'ff' WHERE id > 10",
        "DELETE FROM search_text_config",
        "UPDATE search_text_config SET v = 99",
        "DELETE FROM search_text_content",
    ] {
        let found = scene.verify_after(sql, None).findings;
        assert!(!found.is_empty(), "{sql}");
    }
}

#[test]
fn a_search_index_that_does_not_find_its_words_is_found() {
    // Enough terms that the index needs a table to find the page of each.
    let words: String = (10_000..16_000).map(|number| format!("w{number} ")).collect();
    let bench = TestProject::new();
    bench.run_ok("create", &json!({ "title": "Talk", "question": words }));
    bench.assert_verified();
    let connection = Connection::open(bench.folder.path().join(".plenary/plenary.db")).unwrap();
    let pages: usize =
        connection.query_row("SELECT count(*) FROM search_text_idx", [], |row| row.get(0)).unwrap();
    assert!(pages > 3, "{pages}");
    connection.execute_batch("DELETE FROM search_text_idx").unwrap();
    let found = bench.store().verify_record(None, None).unwrap().findings;
    assert!(found.iter().any(|finding| finding.check == "search_index"), "{found:?}");
}

#[test]
fn an_index_that_was_optimised_or_merged_is_clean() {
    check_tampering(&[
        ("INSERT INTO search_text (search_text) VALUES ('optimize')", &[]),
        ("INSERT INTO search_text (search_text) VALUES ('rebuild')", &[]),
        ("INSERT INTO search_text (search_text, rank) VALUES ('merge', 500)", &[]),
        ("ANALYZE", &[]),
    ]);
}

#[test]
fn a_definition_that_hides_behind_another_name_is_found() {
    let trigger = |name: &str| {
        format!(
            "CREATE TRIGGER {name} AFTER INSERT ON journal BEGIN
               DELETE FROM overrides; END;"
        )
    };
    // Before the table of the same name in the schema, and after its own table.
    let first = "CREATE TRIGGER journal AFTER INSERT ON dialogues BEGIN DELETE FROM overrides; END;
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET rowid = rowid + 10000 WHERE name <> 'dialogues';
         UPDATE sqlite_schema SET rowid = 5000 WHERE type = 'trigger' AND name = 'journal';
         PRAGMA writable_schema = RESET";
    let reserved = format!(
        "{} PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET name = 'sqlite_guard', sql = replace(sql, 'plain', 'sqlite_guard')
           WHERE name = 'plain';
         PRAGMA writable_schema = RESET",
        trigger("plain")
    );
    check_tampering(&[
        (&trigger("harmless"), &["schema"]),
        (&trigger("journal"), &["schema"]),
        (first, &["schema"]),
        (&reserved, &["schema"]),
        ("CREATE TABLE notes (text TEXT)", &["schema"]),
        ("CREATE VIEW notes AS SELECT 1", &["schema"]),
        ("ALTER TABLE moves ADD COLUMN more TEXT", &["schema", "replay"]),
    ]);
}

#[test]
fn a_version_or_mark_that_was_changed_does_not_pass() {
    for (sql, code) in [
        ("PRAGMA user_version = 0", 4),
        ("PRAGMA user_version = 3", 4),
        ("PRAGMA user_version = 99", 5),
        ("PRAGMA user_version = -1", 4),
        ("PRAGMA application_id = 0", 4),
        ("PRAGMA application_id = 7", 4),
    ] {
        let program = TestProgram::new();
        assert_eq!(program.run_command(&["dialogue", "create", "Talk"]).code, 0);
        let path = program.path().join(".plenary/plenary.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        for arguments in [&["verify"][..], &["list"], &["ask", "--rehearse", "x?"]] {
            let ran = program.run_command(arguments);
            assert_eq!(ran.code, code, "{sql} {arguments:?}: {ran:?}");
            assert!(ran.stderr.contains("hint:"), "{sql}: {ran:?}");
        }
    }
}

#[test]
fn an_entry_without_its_payload_cannot_be_read() {
    let bench = TestProject::new();
    bench.run_ok("create", &json!({ "title": "Talk", "question": "Why?" }));
    let connection = Connection::open(bench.folder.path().join(".plenary/plenary.db")).unwrap();
    change_journal(&connection, "UPDATE journal SET payload = NULL");
    let read = bench.store().load_entries(&"talk".parse().unwrap(), 0);
    assert!(matches!(read, Err(StoreError::Malformed { .. })), "{read:?}");
}
