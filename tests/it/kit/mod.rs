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

use plenary::ambient::Ambient;
use plenary::domain::time::Moment;
use plenary::error::Error;
use plenary::files::{Folders, WritePermission};
use plenary::operations::{self, Project};
use plenary::store::{SqliteStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

pub use conclusion_rows::{Fate, conclude, ending, moment, open_for, record_outcome};
pub use dialogues::{batch, item, open_dialogue, pool};
pub use log_rows::{log_row, log_rows, log_verdict, override_verdict, try_log_rows};
pub use model_server::{Gate, ModelServer, OFFERED, Play, Seen, fitting, purpose_of};
pub use processes::{
    RUNAWAYS, RUNAWAYS_COUNT, SeenProcess, alive_with, children_named, provider, request, soon,
    soon_enough, surroundings,
};
pub use program::{Program, Ran, binary};
pub use store_dump::dump;

/// A clock that advances one millisecond per read, with constant randomness.
#[derive(Debug, Default)]
pub struct Still {
    reads: AtomicI64,
}

impl Ambient for Still {
    fn now(&self) -> Moment {
        let reads = self.reads.fetch_add(1, Ordering::SeqCst);
        let start: jiff::Timestamp = "2026-02-02T09:00:00Z".parse().unwrap();
        Moment::new(start + jiff::SignedDuration::from_millis(reads))
    }

    fn chance(&self) -> u64 {
        7
    }
}

/// A workspace in a temporary folder, removed on drop.
pub struct Bench {
    pub folder: TempDir,
    pub project: Project,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = workspace_in(folder.path());
        Self { folder, project }
    }

    pub fn store(&self) -> &dyn Store {
        self.project.store.as_ref()
    }

    /// Runs an operation by its command-line name and returns its result.
    pub fn run(&self, operation: &str, arguments: &Value) -> Result<Value, Error> {
        run(&self.project, operation, arguments)
    }

    /// The same, for an operation that must succeed.
    #[track_caller]
    pub fn must(&self, operation: &str, arguments: &Value) -> Value {
        self.run(operation, arguments)
            .unwrap_or_else(|error| panic!("{operation} was refused: {:#}", error.document()))
    }

    /// The error document of an operation that must fail.
    #[track_caller]
    pub fn refused(&self, operation: &str, arguments: &Value) -> Value {
        match self.run(operation, arguments) {
            Ok(answer) => panic!("{operation} was not refused: {answer:#}"),
            Err(error) => error.document(),
        }
    }

    #[track_caller]
    pub fn export(&self, id: &str) -> Value {
        self.must("export", &json!({ "dialogue_id": id }))
    }

    /// `verify` must report no findings.
    #[track_caller]
    pub fn verify(&self) {
        let verification = self.store().verify(None, None).unwrap();
        assert_eq!(verification.findings, [], "the record was damaged");
    }
}

pub fn workspace_in(folder: &Path) -> Project {
    let store = folder.join(".plenary/plenary.db");
    Project::new(
        Arc::new(SqliteStore::open(&store).unwrap()),
        Arc::new(Still::default()),
        Folders::new(folder, &store, &[]),
    )
}

fn run(project: &Project, operation: &str, arguments: &Value) -> Result<Value, Error> {
    let parsed = |text: String| serde_json::from_str(&text).unwrap();
    Ok(match operation {
        "create" => json!(operations::create(project, arguments)?),
        "panel" => json!(operations::evolve_panel(project, arguments)?),
        "expert" => json!(operations::create_expert(project, arguments)?),
        "register" => json!(operations::register(project, arguments)?),
        "verdict" => json!(operations::give_verdict(project, arguments)?),
        "context" => parsed(operations::context(project, arguments, WritePermission::Local)?),
        "export" => parsed(operations::printed(project, arguments)?.text),
        "export_file" => json!(operations::export(project, arguments, WritePermission::Local)?),
        "progress" => json!(operations::progress(project, arguments)?),
        "abandon" => json!(operations::abandon(project, arguments)?),
        "list" => json!(operations::list(project, arguments)?),
        "cite" => json!(operations::cite(project, arguments)?),
        "search" => json!(operations::search(project, arguments)?),
        "similar" => json!(operations::similar(project, arguments)?),
        "outcome" => json!(operations::record_outcome(project, arguments)?),
        "stats" => json!(operations::stats(project, arguments)?),
        other => panic!("no operation {other}"),
    })
}

/// Repeats of a randomised test: `few` in `./check`, `often` in `./check long`.
pub fn times(few: u32, often: u32) -> u32 {
    if std::env::var_os("PLENARY_CHECK_LONG").is_some() { often } else { few }
}

/// Parses a JSON file of the repository.
#[track_caller]
pub fn fixture(path: &str) -> Value {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value at a path such as `tensions.0.status`.
#[track_caller]
pub fn at<'a>(document: &'a Value, path: &str) -> &'a Value {
    let pointer = format!("/{}", path.replace('.', "/"));
    document.pointer(&pointer).unwrap_or_else(|| panic!("nothing at {path} in {document:#}"))
}
