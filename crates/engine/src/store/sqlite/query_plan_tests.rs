//! Runs every statement of a dialogue and checks its query plan: none may scan a table without an
//! index.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use plenary_core::model::dialogue::ConclusionStage;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::queries::ConclusionQuery;
use plenary_core::protocols::conclusion::types::{ConclusionOutcome, OutcomeKind};
use plenary_core::protocols::review::log_row::{ContentQuery, LogQuery, LogRange, LogRow};
use plenary_core::protocols::review::policy::{ReviewDecision, VerdictOverride};
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use serde_json::{Value, json};

use crate::app::dialogues::{create_dialogue, create_expert, evolve_panel};
use crate::app::export_record::print_record;
use crate::app::list_dialogues::list_dialogues;
use crate::app::project::Project;
use crate::app::queries::{count_records, find_similar, resolve_citations};
use crate::app::round_context::read_context;
use crate::app::rounds::{give_verdict, read_progress, register_round};
use crate::clock::{RealSystem, System};
use crate::files::allowed_file::WritePermission;
use crate::files::allowed_folders::AllowedFolders;
use crate::store::error::StoreError;
use crate::store::sqlite::connect::open_in_memory;
use crate::store::sqlite::store::SqliteStore;
use crate::store::traits::in_transaction;

/// Statistics count whole tables, so these statements may scan.
const COUNTED_WHOLE: [&str; 2] = ["SELECT count(*)", "GROUP BY"];

type SeenStatements = Arc<Mutex<BTreeSet<String>>>;

/// A workspace whose store records every statement.
fn traced_workspace() -> (Project, SeenStatements) {
    let mut store = SqliteStore::in_memory().unwrap();
    let seen = SeenStatements::default();
    let notes = seen.clone();
    let note = move |event: TraceEvent<'_>| {
        if let TraceEvent::Stmt(statement, _) = event {
            notes.lock().unwrap().insert(statement.sql().into_owned());
        }
    };
    store.trace(TraceEventCodes::SQLITE_TRACE_STMT, note);
    let folders = AllowedFolders::new(Path::new("."), Path::new("./plenary.db"), &[]);
    (Project::new(std::sync::Arc::new(store), std::sync::Arc::new(RealSystem), folders), seen)
}

/// Runs a dialogue that uses every operation once.
fn run_dialogue(project: &Project) {
    let pool = json!({"experts": [{"slug": "ann", "role": "R", "tier": "Core"}, {"slug": "bob", "role": "R", "tier": "Wildcard"}]});
    create_dialogue(
        project,
        &json!({"title": "Talk", "question": "Q?", "expert_pool": pool, "output_dir": "out"}),
    )
    .unwrap();
    create_expert(project, &json!({"dialogue_id": "talk", "expert_slug": "cid", "role": "R", "tier": "Core", "reason": "r"})).unwrap();
    evolve_panel(project, &json!({"dialogue_id": "talk", "round": 0, "panel": [{"expert_slug": "ann", "source": "pool"}]})).unwrap();
    let item = |id: &str, references: Value| json!({"local_id": id, "label": "l", "content": "c", "description": "d", "references": references});
    let round = |round: u8, references: Value| {
        let id = |kind: &str| format!("ANN-{kind}{round:02}01");
        json!({
            "dialogue_id": "talk", "round": round, "score": 1, "expert_scores": {"ann": 1}, "raw_content": {"ann": "x"},
            "perspectives": [item(&id("P"), references.clone())], "recommendations": [item(&id("R"), references.clone())],
            "tensions": [item(&id("T"), references.clone())], "evidence": [item(&id("E"), references.clone())],
            "claims": [item(&id("C"), references)],
            "moves": [{"expert": "ann", "type": "converge"}, {"expert": "bob", "type": "concede", "target": id("P")}],
        })
    };
    register_round(project, &round(0, json!([]))).unwrap();
    let mut second = round(
        1,
        json!([{"type": "support", "target": "@ann"}, {"type": "support", "target": "ANN-E0001"}, {"type": "support", "target": "C0001"}]),
    );
    second["refs"] = json!([{"source_id": "P0001", "ref_type": "question", "target_id": "T0001"}]);
    second["updates"] = json!([{"id": "R0001", "status": "amended", "by": "ann"}]);
    register_round(project, &second).unwrap();
    let verdict = json!({
        "dialogue_id": "talk", "verdict_id": "V1", "verdict_type": "final", "recommendation": "r", "description": "d", "vote": "1-0",
        "tensions_resolved": ["T0001", "T0101"], "recommendations_adopted": ["R0001"], "key_claims": ["C0001"],
    });
    give_verdict(project, &verdict).unwrap();
}

/// Concludes the dialogue and records an outcome.
fn run_conclusion(project: &Project) {
    let id: DialogueId = "talk".parse().unwrap();
    let author = json!({"seat": "ann", "model": "m", "family": "f"});
    let ending = json!({
        "terminal_state": "clean", "audit": null, "synthesizer": &author, "critic": author, "reviser": null,
        "conclusion": {"recommendation": "r", "key_condition": "k", "unresolved_points": [], "review_by": "2020-01-01", "participants": []},
    });
    let changes = [
        JournalEvent::StageReached { stage: ConclusionStage::Concluding },
        JournalEvent::Concluded(Box::new(serde_json::from_value(ending).unwrap())),
    ];
    let done: Result<u64, StoreError> = in_transaction(project.store.as_ref(), |unit| {
        assert!(!unit.is_concluded(&id)?);
        unit.append_entry(&id, JournalEntryKind::Concluded, RealSystem.now(), &changes)
    });
    done.unwrap();
    let since = Some(RealSystem.now());
    project.store.list_endings(&ConclusionQuery { limit: 50, since }).unwrap();
    project.store.list_due(RealSystem.now().utc_day(), 50).unwrap();
    let outcome =
        JournalEvent::OutcomeRecorded(ConclusionOutcome { outcome: OutcomeKind::Held, note: None });
    let done: Result<u64, StoreError> = in_transaction(project.store.as_ref(), |unit| {
        unit.append_entry(&id, JournalEntryKind::OutcomeRecorded, RealSystem.now(), &[outcome])
    });
    done.unwrap();
}

/// Logs a verdict, runs every query of the verdict log and overrides the verdict.
fn run_verdict_log(project: &Project) {
    let id: DialogueId = "talk".parse().unwrap();
    let row = json!({
        "v": 2, "ts": "2026-05-18T10:00:00Z", "artifact": "a.md", "artifact_type": "post", "round1": [], "round2": [],
        "adjudicator": {"final_verdict": "HOLD", "reasoning": "r"}, "verdict_id": "talk/1", "artifact_sha256": "ab",
    });
    let row: LogRow = serde_json::from_value(row).unwrap();
    let word = VerdictOverride {
        verdict_id: "talk/1".into(),
        decision: ReviewDecision::Ship,
        why: "w".into(),
        by: None,
        decided_at: None,
    };
    let changes =
        [JournalEvent::VerdictLogged(Box::new(row.clone())), JournalEvent::VerdictOverridden(word)];
    let done: Result<u64, StoreError> = in_transaction(project.store.as_ref(), |unit| {
        assert!(unit.find_logged("talk/1")?.is_none());
        assert!(unit.find_same_row(&row.content_hash().unwrap())?.is_none());
        assert!(unit.logged_verdict_ids(&id, 2)?.is_empty());
        unit.append_entry(&id, JournalEntryKind::VerdictLogged, RealSystem.now(), &changes)
    });
    done.unwrap();
    let store = project.store.as_ref();
    assert_eq!(store.load_log_lines(0, 9).unwrap().len(), 1);
    assert_eq!(store.prior_verdicts("post", 5).unwrap().len(), 1);
    let content = ContentQuery { sha256: "ab".into(), rehearsal: false };
    assert!(store.find_decided(&content).unwrap().is_some());
    assert!(store.find_logged("talk/1").unwrap().is_some_and(|found| found.overridden.is_some()));
    assert!(store.find_log_line("talk/1").unwrap().is_some());
    assert_eq!(store.list_overrides("talk/1").unwrap().len(), 1);
    for (artifact_type, since) in
        [(None, None), (Some("post"), None), (None, Some(row.ts)), (Some("post"), Some(row.ts))]
    {
        for stretch in [LogRange::After(0), LogRange::Last] {
            let artifact_type = artifact_type.map(str::to_owned);
            let asked =
                LogQuery { artifact_type, since, range: stretch, ..LogQuery::from_start(9) };
            assert!(!store.load_log_page(&asked).unwrap().is_empty());
        }
    }
}

fn load_run_state(project: &Project) {
    let talk = json!({"dialogue_id": "talk"});
    read_context(project, &talk, WritePermission::Local).unwrap();
    print_record(project, &talk).unwrap();
    read_progress(project, &talk).unwrap();
    resolve_citations(project, &json!({"ids": ["talk/P0001"]})).unwrap();
    find_similar(project, &json!({"query": "talk some"})).unwrap();
    count_records(project, &json!({})).unwrap();
    project.store.last_intervention_seq().unwrap();
    for query in [
        json!({}),
        json!({"status": "open"}),
        json!({"protocol": "council"}),
        json!({"status": "open", "protocol": "council"}),
        json!({"after": "talk"}),
    ] {
        list_dialogues(project, &query).unwrap();
    }
}

/// Steps of a query plan that scan a whole table or sort the rows of several dialogues.
fn table_scans(connection: &Connection, sql: &str) -> Vec<String> {
    let within_one = sql.contains("dialogue_id = ?1");
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let count = statement.parameter_count();
    let nothing = vec![rusqlite::types::Null; count];
    let steps = statement
        .query_map(rusqlite::params_from_iter(nothing), |row| row.get::<_, String>(3))
        .unwrap();
    steps
        .map(Result::unwrap)
        .filter(|step| step.starts_with("SCAN") || (step.contains("TEMP B-TREE") && !within_one))
        .filter(|step| !step.contains("VIRTUAL TABLE") && !step.contains("CONSTANT ROW"))
        .collect()
}

#[test]
fn no_question_is_answered_without_an_index() {
    let (project, seen) = traced_workspace();
    run_dialogue(&project);
    run_conclusion(&project);
    run_verdict_log(&project);
    load_run_state(&project);
    let connection = open_in_memory().unwrap();
    let is_query = |sql: &&String| {
        ["SELECT", "INSERT", "UPDATE", "DELETE"]
            .iter()
            .any(|verb| sql.trim_start().starts_with(verb))
    };
    let seen = seen.lock().unwrap();
    // The key columns of a table are few, and sorting them is no scan of its rows.
    let is_schema =
        |sql: &&String| sql.contains("search_text_") || sql.contains("pragma_table_info");
    let statements: Vec<&String> =
        seen.iter().filter(is_query).filter(|sql| !is_schema(sql)).collect();
    assert!(statements.len() > 60, "only {} statements were seen", statements.len());
    let mut complaints = Vec::new();
    for sql in statements {
        let counts = COUNTED_WHOLE.iter().any(|mark| sql.contains(mark))
            && !sql.contains("dialogue_id = ?1");
        let walks = table_scans(&connection, sql);
        if !counts && !walks.is_empty() {
            complaints.push(format!("{walks:?}\n{sql}"));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n\n"));
}
