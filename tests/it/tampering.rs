//! `verify` detects every change of the file: each case is an SQL statement and the check that must
//! report it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot set itself up should say so loudly"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use plenary_core::model::dialogue::TerminalState;
use plenary_core::protocols::conclusion::types::OutcomeKind;
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::{Store, VerifyReport};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::{
    ConclusionSpec, TestProject, insert_conclusion, insert_outcome, insert_override,
    insert_verdict, make_batch, make_item, open_dialogue,
};

/// Dialogues with all kinds of data: `talk` with two rounds and two verdicts, `second`, and `ended`
/// with a conclusion and its outcome.
fn filled_project() -> TestProject {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let scores = json!({ "ann": 3, "bob": 4 });
    let mut recommendation = make_item("ANN-R0001", "address BOB-T0001");
    recommendation["parameters"] = json!({ "share": 0.3 });
    let first = json!({
        "title": "Opening", "summary": "Positions.", "expert_scores": &scores,
        "raw_content": { "ann": "[PERSPECTIVE P01: …]" },
        "perspectives": [make_item("ANN-P0001", ""), make_item("BOB-P0001", "oppose ANN-P0001")],
        "recommendations": [recommendation],
        "tensions": [make_item("BOB-T0001", "")],
        "evidence": [make_item("ANN-E0001", "support ANN-P0001")],
        "claims": [make_item("ANN-C0001", "depend ANN-E0001")],
        "moves": [{ "expert": "bob", "type": "challenge", "target": "ANN-P0001" }],
    });
    bench.run_ok("register", &make_batch(0, first));
    let second = json!({
        "expert_scores": scores,
        "perspectives": [make_item("ANN-P0101", "refine P0001")],
        "tension_updates": [{ "id": "T0001", "status": "resolved", "by": "bob", "reason": "met" }],
        "moves": [{ "expert": "ann", "type": "converge" }, { "expert": "bob", "type": "converge" }],
    });
    bench.run_ok("register", &make_batch(1, second));
    bench.run_ok("verdict", &make_verdict("final", "final"));
    bench.run_ok("verdict", &make_verdict("doubts", "dissent"));
    let other = json!({ "title": "Second", "question": "Another?" });
    bench.run_ok("create", &other);
    let ended = insert_conclusion(
        bench.store(),
        &ConclusionSpec { state: Some(TerminalState::Revised), ..ConclusionSpec::default() },
    );
    insert_outcome(bench.store(), &ended, OutcomeKind::Mixed, "2026-06-02T09:00:00Z");
    insert_verdict(bench.store(), "review", 1, ReviewVerdict::Hold);
    insert_verdict(bench.store(), "other", 1, ReviewVerdict::Ship);
    insert_override(bench.store(), "review", 1, ReviewDecision::Ship);
    bench
}

fn make_verdict(id: &str, verdict_type: &str) -> Value {
    json!({
        "dialogue_id": "talk", "verdict_id": id, "verdict_type": verdict_type,
        "recommendation": "Do it", "description": "Because.", "vote": "2-0",
        "author_expert": "bob", "recommendations_adopted": ["R0001"],
    })
}

/// A closed store that the test can change and restore again and again.
pub struct TamperedStore {
    folder: TempDir,
    original: Vec<u8>,
}

impl TamperedStore {
    pub fn new_store() -> Self {
        let TestProject { folder, project } = filled_project();
        drop(project);
        let crime = Self { folder, original: Vec::new() };
        // Put everything into one file, so that a copy of it is a copy of the store.
        crime.open_connection().pragma_update(None, "journal_mode", "DELETE").unwrap();
        let original = read_bytes(&crime.store_path());
        Self { original, ..crime }
    }

    pub fn store_path(&self) -> PathBuf {
        self.folder.path().join(".plenary/plenary.db")
    }

    /// A connection as an attacker would open it: without foreign keys, checks and triggers.
    pub fn open_connection(&self) -> Connection {
        let connection = Connection::open(self.store_path()).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection.pragma_update(None, "ignore_check_constraints", true).unwrap();
        connection
    }

    /// Restores the store, changes it, and verifies it.
    pub fn verify_after(&self, sql: &str, head: Option<&str>) -> VerifyReport {
        for suffix in ["-wal", "-shm"] {
            delete_file(&self.folder.path().join(format!(".plenary/plenary.db{suffix}")));
        }
        write_bytes(&self.store_path(), &self.original);
        let connection = self.open_connection();
        let guards = trigger_statements(&connection);
        let (drop_guards, restore_guards): (Vec<_>, Vec<_>) = guards.into_iter().unzip();
        connection.execute_batch(&drop_guards.concat()).unwrap();
        connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        connection.execute_batch(&restore_guards.concat()).unwrap();
        drop(connection);
        let store = SqliteStore::open(&self.store_path()).unwrap();
        store.verify_record(None, head).unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }
}

/// For each trigger the statements that drop and recreate it.
fn trigger_statements(connection: &Connection) -> Vec<(String, String)> {
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid")
        .unwrap();
    let guards = statement.query_map([], |row| {
        let (name, sql): (String, String) = (row.get(0)?, row.get(1)?);
        Ok((format!("DROP TRIGGER {name};"), format!("{sql};")))
    });
    guards.unwrap().map(Result::unwrap).collect()
}

#[expect(clippy::disallowed_methods, reason = "the crime is committed behind the store's back")]
fn read_bytes(path: &PathBuf) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the crime is committed behind the store's back")]
fn write_bytes(path: &PathBuf, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the crime is committed behind the store's back")]
fn delete_file(path: &PathBuf) {
    // The file may be missing.
    let _ = std::fs::remove_file(path);
}

/// Each row: the change, and the checks that detect it.
#[track_caller]
pub fn check_tampering(crimes: &[(&str, &[&str])]) {
    let scene = TamperedStore::new_store();
    let mut unlike = Vec::new();
    for (sql, expected) in crimes {
        let found: BTreeSet<&str> =
            scene.verify_after(sql, None).findings.iter().map(|finding| finding.check).collect();
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        if found != expected {
            unlike.push(format!("{sql}\n  found {found:?}, expected {expected:?}"));
        }
    }
    assert!(unlike.is_empty(), "\n{}", unlike.join("\n"));
}

#[test]
fn an_unchanged_store_is_clean() {
    check_tampering(&[("", &[]), ("VACUUM", &[]), ("REINDEX", &[])]);
}

#[test]
fn a_changed_row_is_found() {
    check_tampering(&[
        ("UPDATE perspectives SET content = 'x' WHERE seq = 1", &["replay"]),
        ("UPDATE perspectives SET label = label || ' ' WHERE seq = 2", &["replay"]),
        ("UPDATE tensions SET description = 'calm'", &["replay"]),
        ("UPDATE tensions SET status = 'open'", &["replay", "status"]),
        ("UPDATE claims SET status = 'withdrawn'", &["replay", "status"]),
        ("UPDATE evidence SET contributors = '[\"bob\"]'", &["replay"]),
        ("UPDATE perspectives SET \"references\" = '[]' WHERE seq = 2", &["replay"]),
        ("UPDATE perspectives SET \"references\" = NULL WHERE seq = 2", &["replay"]),
        ("UPDATE recommendations SET parameters = '{\"share\":0.31}'", &["replay"]),
        ("UPDATE recommendations SET adopted_in_verdict = 'doubts'", &["replay"]),
        ("UPDATE tension_events SET actors = '[\"ann\"]' WHERE seq = 1", &["replay"]),
        ("UPDATE tension_events SET reason = 'forced' WHERE reason = 'met'", &["replay"]),
        (
            "UPDATE tension_events SET event_type = 'reopened' WHERE event_type = 'resolved'",
            &["replay", "status"],
        ),
        ("UPDATE expert_scores SET score = score + 1 WHERE round = 0", &["replay"]),
        ("UPDATE expert_profiles SET total_score = 99 WHERE expert_slug = 'ann'", &["replay"]),
        ("UPDATE rounds SET score = 11 WHERE round = 1", &["replay"]),
        ("UPDATE rounds SET created_at = '2026-02-02T09:00:00.000001Z'", &["replay"]),
        ("UPDATE refs SET ref_type = 'support' WHERE ref_type = 'oppose'", &["replay"]),
        ("UPDATE moves SET context = 'why not'", &["replay"]),
        ("UPDATE raw_replies SET content = 'I never said that'", &["replay"]),
        ("UPDATE registrations SET answer = '{}' WHERE round = 0", &["replay"]),
        ("UPDATE local_ids SET global_id = 'P0002' WHERE local_id = 'ANN-P0001'", &["replay"]),
        ("UPDATE verdicts SET recommendation = 'Do not' WHERE verdict_id = 'final'", &["replay"]),
        ("UPDATE verdicts SET vote = '1-1', forced = 1", &["replay"]),
        ("UPDATE dialogues SET title = 'Other' WHERE dialogue_id = 'talk'", &["replay"]),
        ("UPDATE dialogues SET status = 'open' WHERE dialogue_id = 'talk'", &["replay"]),
        ("UPDATE dialogues SET question = 'What else?' WHERE dialogue_id = 'second'", &["replay"]),
    ]);
}

#[test]
fn an_ending_that_was_changed_is_found() {
    check_tampering(&[
        ("UPDATE conclusions SET recommendation = 'Do not'", &["replay"]),
        ("UPDATE conclusions SET key_condition = key_condition || ' '", &["replay"]),
        ("UPDATE conclusions SET terminal_state = 'clean'", &["replay"]),
        ("UPDATE conclusions SET terminal_state = NULL", &["replay"]),
        ("UPDATE dialogues SET terminal_state = 'clean' WHERE dialogue_id = 'ended'", &["replay"]),
        ("UPDATE dialogues SET lifecycle = 'auditing' WHERE dialogue_id = 'ended'", &["replay"]),
        ("UPDATE conclusions SET unresolved_points = '[]'", &["replay"]),
        ("UPDATE conclusions SET review_by = '2036-06-01'", &["replay"]),
        ("UPDATE conclusions SET participants = '[]'", &["replay"]),
        ("UPDATE conclusions SET audit = NULL", &["replay"]),
        ("UPDATE conclusions SET critic = synthesizer", &["replay"]),
        ("UPDATE conclusions SET reviser = NULL", &["replay"]),
        ("UPDATE conclusions SET rehearsal = 1", &["replay"]),
        ("UPDATE conclusions SET awaited = 1", &["replay"]),
        ("UPDATE conclusions SET created_at = '2026-02-02T09:00:00.000001Z'", &["replay"]),
        ("DELETE FROM conclusions", &["foreign_key", "replay"]),
        (
            "UPDATE search_text SET body = 'x' WHERE dialogue_id = 'ended' AND field = 'conclusion'",
            &["replay"],
        ),
        (
            "INSERT INTO conclusions SELECT 'talk', terminal_state, recommendation, key_condition, unresolved_points, review_by, participants, audit, synthesizer, critic, reviser, rehearsal, awaited, created_at FROM conclusions",
            &["replay"],
        ),
        ("UPDATE outcomes SET outcome = 'held'", &["replay"]),
        ("UPDATE outcomes SET outcome = 'forgotten'", &["integrity", "replay"]),
        ("UPDATE outcomes SET note = NULL", &["replay"]),
        ("UPDATE outcomes SET seq = 2", &["replay"]),
        ("DELETE FROM outcomes", &["replay"]),
        (
            "INSERT INTO outcomes VALUES ('ended', 2, 'failed', NULL, '2026-06-03T09:00:00.000000Z')",
            &["replay"],
        ),
    ]);
}

#[test]
fn a_verdict_of_the_gate_that_was_changed_is_found() {
    check_tampering(&[
        ("UPDATE verdict_log SET line = replace(line, 'HOLD', 'SHIP')", &["replay"]),
        ("UPDATE verdict_log SET line = line || ' '", &["replay"]),
        ("UPDATE verdict_log SET verdict = 'REVISE'", &["replay"]),
        ("UPDATE verdict_log SET verdict = 'PASS'", &["integrity", "replay"]),
        ("UPDATE verdict_log SET artifact_type = 'memo'", &["replay"]),
        ("UPDATE verdict_log SET artifact_sha256 = NULL", &["replay"]),
        ("UPDATE verdict_log SET rehearsal = 1", &["replay"]),
        ("UPDATE verdict_log SET imported = 1", &["replay"]),
        ("UPDATE verdict_log SET row_sha256 = 'ab'", &["replay"]),
        // Swaps only their order.
        ("UPDATE verdict_log SET seq = 0 - seq", &["replay"]),
        (
            "UPDATE verdict_log SET verdict_id = 'review/2' WHERE dialogue_id = 'review'",
            &["foreign_key", "replay"],
        ),
        ("DELETE FROM verdict_log WHERE dialogue_id = 'other'", &["replay"]),
        ("DELETE FROM verdict_log WHERE dialogue_id = 'review'", &["foreign_key", "replay"]),
        (
            "INSERT INTO verdict_log SELECT dialogue_id, 'review/9', seq + 1, ts, artifact, artifact_type, artifact_sha256, tier, producer, verdict, rehearsal, imported, row_sha256, line FROM verdict_log WHERE dialogue_id = 'review'",
            &["replay"],
        ),
        ("UPDATE overrides SET decision = 'HOLD'", &["replay"]),
        ("UPDATE overrides SET why = 'Nobody asked.'", &["replay"]),
        ("UPDATE overrides SET created_at = '2026-02-02T09:00:00.000001Z'", &["replay"]),
        ("DELETE FROM overrides", &["replay"]),
        (
            "INSERT INTO overrides SELECT dialogue_id, verdict_id, 2, decision, why, created_at, by FROM overrides",
            &["replay"],
        ),
    ]);
}

#[test]
fn a_change_of_kind_alone_is_found() {
    check_tampering(&[
        // NULL, and the text 'null'.
        ("UPDATE tension_events SET reason = 'null' WHERE reason IS NULL", &["replay"]),
        ("UPDATE moves SET context = 'null' WHERE context IS NULL", &["replay"]),
        // A text, and its bytes.
        ("UPDATE rounds SET title = CAST('Opening' AS BLOB) WHERE round = 0", &["replay"]),
    ]);
    // Text that moves from one column to the next.
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    let mut perspective = make_item("ANN-P0001", "");
    (perspective["label"], perspective["content"]) = (json!("a/b"), json!("c"));
    bench.run_ok("register", &make_batch(0, json!({ "perspectives": [perspective] })));
    let connection = Connection::open(bench.folder.path().join(".plenary/plenary.db")).unwrap();
    connection.execute("UPDATE perspectives SET label = 'a', content = 'b/c'", []).unwrap();
    let found = bench.store().verify_record(None, None).unwrap().findings;
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_missing_row_is_found() {
    check_tampering(&[
        ("DELETE FROM tension_events WHERE event_type = 'resolved'", &["replay", "status"]),
        ("DELETE FROM perspective_events WHERE event_type = 'created'", &["replay", "status"]),
        ("DELETE FROM rounds WHERE round = 1", &["foreign_key", "replay"]),
        ("DELETE FROM refs", &["replay"]),
        ("DELETE FROM moves WHERE move_type = 'challenge'", &["replay"]),
        ("DELETE FROM verdicts WHERE verdict_id = 'doubts'", &["replay"]),
        ("DELETE FROM evidence", &["foreign_key", "replay"]),
        ("DELETE FROM expert_profiles WHERE expert_slug = 'bob'", &["foreign_key", "replay"]),
        ("DELETE FROM dialogues WHERE dialogue_id = 'second'", &["replay"]),
    ]);
}

#[test]
fn a_foreign_row_is_found() {
    check_tampering(&[
        (
            "INSERT INTO perspectives SELECT dialogue_id, round, 9, label, content, contributors, status, \"references\", created_at FROM perspectives WHERE round = 0 AND seq = 1",
            &["replay", "status"],
        ),
        (
            "INSERT INTO refs VALUES ('talk', 'P', 'P0001', 'support', 'C', 'C0001', '2026-02-02T09:00:00.000000Z')",
            &["replay"],
        ),
        (
            "INSERT INTO refs VALUES ('nobody', 'P', 'P0001', 'support', 'C', 'C0001', '2026-02-02T09:00:00.000000Z')",
            &["foreign_key", "replay"],
        ),
        (
            "INSERT INTO dialogues (dialogue_id, title, created_at) VALUES ('third', 'Third', '2026-02-02T09:00:00.000000Z')",
            &["replay"],
        ),
        (
            "INSERT INTO verdicts SELECT dialogue_id, 'forged', 3, verdict_type, round, author_expert, recommendation, description, conditions, vote, confidence, tensions_resolved, tensions_accepted, recommendations_adopted, key_evidence, key_claims, supporting_experts, ethos_compliance, forced, warning, created_at FROM verdicts WHERE verdict_id = 'final'",
            &["replay"],
        ),
        ("INSERT INTO chain_heads VALUES ('third', 1, 'ab')", &["cut"]),
    ]);
}

#[test]
fn a_journal_that_was_edited_is_found() {
    check_tampering(&[
        ("UPDATE journal SET payload = replace(payload, 'Text of', 'Text by') WHERE global_seq = 2", &["payload", "replay"]),
        ("UPDATE journal SET ts = '2026-02-02T08:00:00.000000Z' WHERE global_seq = 2", &["hash", "replay"]),
        ("UPDATE journal SET kind = 'panel_evolved' WHERE global_seq = 2", &["hash"]),
        ("UPDATE journal SET dialogue_id = 'second' WHERE global_seq = 5", &["chain", "cut", "gap", "replay"]),
        ("UPDATE journal SET hash = prev_hash WHERE global_seq = 3", &["chain", "global_chain", "hash"]),
        ("UPDATE journal SET payload = NULL WHERE global_seq = 3", &["payload", "replay"]),
        ("UPDATE journal SET payload = 'not JSON' WHERE global_seq = 3", &["payload", "replay"]),
        ("CREATE TEMP TABLE p AS SELECT global_seq g, payload FROM journal;
          UPDATE journal SET payload = (SELECT payload FROM p WHERE g = 5 - global_seq) WHERE global_seq IN (2, 3)", &["payload", "replay"]),
        ("CREATE TEMP TABLE p AS SELECT global_seq g, payload, payload_sha256 s FROM journal;
          UPDATE journal SET (payload, payload_sha256) = (SELECT payload, s FROM p WHERE g = 5 - global_seq) WHERE global_seq IN (2, 3)", &["hash", "replay"]),
    ]);
}

#[test]
fn a_journal_that_was_cut_is_found() {
    check_tampering(&[
        ("DELETE FROM journal WHERE global_seq = 3", &["chain", "gap", "global_chain", "replay"]),
        (
            "DELETE FROM journal WHERE global_seq = (SELECT max(global_seq) FROM journal)",
            &["cut", "replay"],
        ),
        ("DELETE FROM journal WHERE global_seq = 1", &["chain", "gap", "global_chain", "replay"]),
        ("DELETE FROM journal", &["cut", "replay"]),
        ("UPDATE chain_heads SET hash = lower(hex(zeroblob(32))) WHERE scope = 'talk'", &["cut"]),
        ("UPDATE chain_heads SET seq = seq + 1 WHERE scope = '*'", &["cut"]),
        ("DELETE FROM chain_heads WHERE scope = '*'", &["cut"]),
    ]);
}

#[test]
fn a_dialogue_that_was_taken_out_whole_is_found() {
    let tables = [
        "dialogues",
        "expert_pool",
        "expert_profiles",
        "panels",
        "rounds",
        "registrations",
        "expert_scores",
        "raw_replies",
        "perspectives",
        "recommendations",
        "tensions",
        "evidence",
        "claims",
        "perspective_events",
        "recommendation_events",
        "tension_events",
        "evidence_events",
        "claim_events",
        "local_ids",
        "refs",
        "moves",
        "verdicts",
        "conclusions",
        "outcomes",
        "journal",
        "search_text",
    ];
    let deletions: String = tables
        .iter()
        .map(|table| format!("DELETE FROM {table} WHERE dialogue_id = 'talk';"))
        .collect();
    let sql = format!("{deletions} DELETE FROM chain_heads WHERE scope = 'talk'");
    check_tampering(&[(&sql, &["global_chain"])]);
}

#[test]
fn what_cannot_be_read_is_a_finding_and_not_a_failure() {
    check_tampering(&[
        (
            "UPDATE perspectives SET round = 300 WHERE round = 1",
            &["foreign_key", "integrity", "replay", "status"],
        ),
        (
            "UPDATE perspectives SET status = x'ff' WHERE seq = 2",
            &["integrity", "replay", "status"],
        ),
        ("UPDATE journal SET ts = 'noon' WHERE global_seq = 2", &["hash", "replay"]),
        ("UPDATE journal SET ts = 7 WHERE global_seq = 2", &["hash", "replay"]),
        (
            "UPDATE journal SET hash = x'00' WHERE global_seq = 2",
            &["chain", "global_chain", "hash"],
        ),
        ("UPDATE chain_heads SET seq = -1 WHERE scope = 'talk'", &["cut"]),
    ]);
}

#[test]
fn what_similar_would_say_is_part_of_the_record() {
    check_tampering(&[
        ("UPDATE search_text SET body = 'Something else' WHERE field = 'title'", &["replay"]),
        ("DELETE FROM search_text WHERE dialogue_id = 'second'", &["replay"]),
        ("INSERT INTO search_text VALUES ('talk', 'claim', 'Buy it')", &["replay"]),
    ]);
}

#[test]
fn a_table_that_was_taken_away_is_found() {
    check_tampering(&[
        ("DROP TABLE moves", &["schema"]),
        ("DROP INDEX idx_journal_interventions", &["schema"]),
        ("DROP TABLE search_text", &["schema"]),
        ("DROP TABLE perspective_events", &["schema"]),
    ]);
}

#[test]
fn a_guard_that_was_taken_away_is_found() {
    let scene = TamperedStore::new_store();
    let connection = scene.open_connection();
    connection.execute_batch("DROP TRIGGER verdicts_are_immutable").unwrap();
    drop(connection);
    let store = SqliteStore::open(&scene.store_path()).unwrap();
    let findings = store.verify_record(None, None).unwrap().findings;
    assert_eq!(findings.iter().map(|finding| finding.check).collect::<Vec<_>>(), ["schema"]);
}

#[test]
fn a_complete_rewrite_is_found_by_the_head_alone() {
    let head = filled_project().store().verify_record(None, None).unwrap().head;
    // The same clock and dialogues with one different text: consistent in itself.
    let other = TestProject::new();
    other.run_ok("create", &json!({ "title": "Talk", "question": "Rewritten?" }));
    other.assert_verified();
    let found = other.store().verify_record(None, Some(&head)).unwrap().findings;
    assert_eq!(found.iter().map(|finding| finding.check).collect::<Vec<_>>(), ["head"]);
    // `verify` accepts the head of a clean store and every earlier one.
    let scene = TamperedStore::new_store();
    let clean = scene.verify_after("", None);
    assert_eq!(scene.verify_after("", Some(&clean.head)).findings, []);
}
