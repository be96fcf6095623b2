//! The test kit: a project in a temporary folder with a deterministic clock, the real program, and
//! a scripted model server.

mod conclusion_rows;
pub mod council_driver;
mod dialogues;
pub mod instructions;
mod log_rows;
mod model_server;
mod processes;
mod program;
pub mod records;
mod store_dump;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use plenary::ambient::System;
use plenary::domain::time::Moment;
use plenary::error::Error;
use plenary::files::{AllowedFolders, WritePermission};
use plenary::operations::{self, Project};
use plenary::store::{SqliteStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

pub use conclusion_rows::{
    ConclusionSpec, insert_conclusion, insert_outcome, make_conclusion_result, open_spec_dialogue,
    parse_moment,
};
pub use dialogues::{make_batch, make_item, make_pool, open_dialogue};
pub use log_rows::{
    insert_log_rows, insert_override, insert_verdict, make_log_row, try_insert_log_rows,
};
pub use model_server::{
    MODEL_NAMES, ModelRequest, ModelServer, ReplyGate, ScriptedReply, purpose_of, valid_reply,
};
pub use processes::{
    LiveProcess, RUNAWAYS, RUNAWAYS_COUNT, find_children, find_processes_with, make_environment,
    make_provider, make_request, wait_until, wait_until_blocking,
};
pub use program::{CommandOutput, TestProgram, plenary_binary};
pub use store_dump::dump_store;

/// A clock that advances one millisecond per read, with constant randomness.
#[derive(Debug, Default)]
pub struct FixedClock {
    read_count: AtomicI64,
}

impl System for FixedClock {
    fn now(&self) -> Moment {
        let reads = self.read_count.fetch_add(1, Ordering::SeqCst);
        let start: jiff::Timestamp = "2026-02-02T09:00:00Z".parse().unwrap();
        Moment::new(start + jiff::SignedDuration::from_millis(reads))
    }

    fn random_u64(&self) -> u64 {
        7
    }
}

/// A workspace in a temporary folder, removed on drop.
pub struct TestProject {
    pub folder: TempDir,
    pub project: Project,
}

impl TestProject {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = open_workspace(folder.path());
        Self { folder, project }
    }

    pub fn store(&self) -> &dyn Store {
        self.project.store.as_ref()
    }

    /// Runs an operation by its command-line name and returns its result.
    pub fn run_operation(&self, operation: &str, arguments: &Value) -> Result<Value, Error> {
        run_operation_in(&self.project, operation, arguments)
    }

    /// The same, for an operation that must succeed.
    #[track_caller]
    pub fn run_ok(&self, operation: &str, arguments: &Value) -> Value {
        self.run_operation(operation, arguments)
            .unwrap_or_else(|error| panic!("{operation} was refused: {:#}", error.to_document()))
    }

    /// The error document of an operation that must fail.
    #[track_caller]
    pub fn expect_error(&self, operation: &str, arguments: &Value) -> Value {
        match self.run_operation(operation, arguments) {
            Ok(answer) => panic!("{operation} was not refused: {answer:#}"),
            Err(error) => error.to_document(),
        }
    }

    #[track_caller]
    pub fn export_dialogue(&self, id: &str) -> Value {
        self.run_ok("export", &json!({ "dialogue_id": id }))
    }

    /// `verify` must report no findings.
    #[track_caller]
    pub fn assert_verified(&self) {
        let verification = self.store().verify_record(None, None).unwrap();
        assert_eq!(verification.findings, [], "the record was damaged");
    }
}

pub fn open_workspace(folder: &Path) -> Project {
    let store = folder.join(".plenary/plenary.db");
    Project::new(
        Arc::new(SqliteStore::open(&store).unwrap()),
        Arc::new(FixedClock::default()),
        AllowedFolders::new(folder, &store, &[]),
    )
}

fn run_operation_in(project: &Project, operation: &str, arguments: &Value) -> Result<Value, Error> {
    let parsed = |text: String| serde_json::from_str(&text).unwrap();
    Ok(match operation {
        "create" => json!(operations::create_dialogue(project, arguments)?),
        "panel" => json!(operations::evolve_panel(project, arguments)?),
        "expert" => json!(operations::create_expert(project, arguments)?),
        "register" => json!(operations::register_round(project, arguments)?),
        "verdict" => json!(operations::give_verdict(project, arguments)?),
        "context" => parsed(operations::read_context(project, arguments, WritePermission::Local)?),
        "export" => parsed(operations::print_record(project, arguments)?.text),
        "export_file" => {
            json!(operations::export_record(project, arguments, WritePermission::Local)?)
        }
        "progress" => json!(operations::read_progress(project, arguments)?),
        "abandon" => json!(operations::abandon_dialogue(project, arguments)?),
        "list" => json!(operations::list_dialogues(project, arguments)?),
        "cite" => json!(operations::resolve_citations(project, arguments)?),
        "search" => json!(operations::search_store(project, arguments)?),
        "similar" => json!(operations::find_similar(project, arguments)?),
        "outcome" => json!(operations::record_outcome(project, arguments)?),
        "stats" => json!(operations::count_records(project, arguments)?),
        other => panic!("no operation {other}"),
    })
}

/// Repeats of a randomised test: `few` in `./check`, `often` in `./check long`.
pub fn pick_repeats(few: u32, often: u32) -> u32 {
    if std::env::var_os("PLENARY_CHECK_LONG").is_some() { often } else { few }
}

/// Parses a JSON file of the repository.
#[track_caller]
pub fn read_fixture(path: &str) -> Value {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value at a path such as `tensions.0.status`.
#[track_caller]
pub fn value_at<'a>(document: &'a Value, path: &str) -> &'a Value {
    let pointer = format!("/{}", path.replace('.', "/"));
    document.pointer(&pointer).unwrap_or_else(|| panic!("nothing at {path} in {document:#}"))
}
