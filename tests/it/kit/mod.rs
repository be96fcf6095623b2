//! The test kit: a project in a temporary folder with a deterministic clock, the real program, and
//! a scripted model server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

pub use conclusion_rows::ConclusionSpec;
pub use conclusion_rows::insert_conclusion;
pub use conclusion_rows::insert_outcome;
pub use conclusion_rows::make_conclusion_result;
pub use conclusion_rows::open_spec_dialogue;
pub use conclusion_rows::parse_moment;
pub use dialogues::make_batch;
pub use dialogues::make_item;
pub use dialogues::make_pool;
pub use dialogues::open_dialogue;
pub use log_rows::insert_log_rows;
pub use log_rows::insert_override;
pub use log_rows::insert_verdict;
pub use log_rows::make_log_row;
pub use log_rows::try_insert_log_rows;
pub use model_server::MODEL_NAMES;
pub use model_server::ModelRequest;
pub use model_server::ModelServer;
pub use model_server::ReplyGate;
pub use model_server::ScriptedReply;
pub use model_server::StreamFault;
pub use model_server::purpose_of;
pub use model_server::valid_reply;
use plenary_core::ethos::requests::EthosOp;
use plenary_core::markers::extract_request::extract_round;
use plenary_core::model::time::Moment;
use plenary_engine::app::checks::record_outcome;
use plenary_engine::app::dialogues::{
    abandon_dialogue, create_dialogue, create_expert, evolve_panel,
};
use plenary_engine::app::ethos::run_ethos_op;
use plenary_engine::app::export_record::{export_record, print_record};
use plenary_engine::app::list_dialogues::list_dialogues;
use plenary_engine::app::project::Project;
use plenary_engine::app::queries::{count_records, find_similar, resolve_citations, search_store};
use plenary_engine::app::round_context::read_context;
use plenary_engine::app::rounds::{give_verdict, read_progress, register_round};
use plenary_engine::clock::System;
use plenary_engine::error::Error;
use plenary_engine::files::allowed_file::WritePermission;
use plenary_engine::files::allowed_folders::AllowedFolders;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
pub use processes::LiveProcess;
pub use processes::RUNAWAYS;
pub use processes::RUNAWAYS_COUNT;
pub use processes::find_children;
pub use processes::find_processes_with;
pub use processes::make_environment;
pub use processes::make_provider;
pub use processes::make_request;
pub use processes::wait_until;
pub use processes::wait_until_blocking;
pub use program::CommandOutput;
pub use program::TestProgram;
pub use program::plenary_binary;
use serde_json::{Value, json};
pub use store_dump::dump_store;
use tempfile::TempDir;

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
        "create" => json!(create_dialogue(project, arguments)?),
        "panel" => json!(evolve_panel(project, arguments)?),
        "expert" => json!(create_expert(project, arguments)?),
        "register" => json!(register_round(project, arguments)?),
        "verdict" => json!(give_verdict(project, arguments)?),
        "context" => parsed(read_context(project, arguments, WritePermission::Local)?),
        "export" => parsed(print_record(project, arguments)?.text),
        "export_file" => {
            json!(export_record(project, arguments, WritePermission::Local)?)
        }
        "extract" => json!(extract_round(arguments)?),
        "progress" => json!(read_progress(project, arguments)?),
        "abandon" => json!(abandon_dialogue(project, arguments)?),
        "list" => json!(list_dialogues(project, arguments)?),
        "cite" => json!(resolve_citations(project, arguments)?),
        "search" => json!(search_store(project, arguments)?),
        "similar" => json!(find_similar(project, arguments)?),
        "outcome" => json!(record_outcome(project, arguments)?),
        "stats" => json!(count_records(project, arguments)?),
        other => match EthosOp::named(other) {
            Some(op) => run_ethos_op(project, op, arguments)?,
            None => panic!("no operation {other}"),
        },
    })
}

/// Repeats of a randomised test: `few` in `./check`, `often` in `./check long`.
pub fn pick_repeats(few: u32, often: u32) -> u32 {
    if std::env::var_os("PLENARY_CHECK_LONG").is_some() { often } else { few }
}

/// Parses a JSON file of the repository.
#[track_caller]
pub fn read_fixture(path: &str) -> Value {
    let full = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    let text = std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value at a path such as `tensions.0.status`.
#[track_caller]
pub fn value_at<'a>(document: &'a Value, path: &str) -> &'a Value {
    let pointer = format!("/{}", path.replace('.', "/"));
    document.pointer(&pointer).unwrap_or_else(|| panic!("nothing at {path} in {document:#}"))
}
