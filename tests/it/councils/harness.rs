//! Harness: a council in its own folder, with three participants, a chair and a model server.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use plenary_core::model::ask::AskPurpose;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::{Value, json};

use crate::kit::{
    ModelRequest, ModelServer, ScriptedReply, TestProgram, purpose_of, valid_reply, value_at,
};

pub(crate) const PARTICIPANTS: [&str; 3] = ["ann", "bob", "cid"];
pub(crate) const CHAIR: &str = "dot";

/// Table rows that run in parallel. They mostly wait.
const PARALLEL_ROWS: usize = 6;

/// A request with its seat, its purpose and its number.
pub(crate) struct SeatRequest<'a> {
    pub seat: &'a str,
    pub purpose: AskPurpose,
    /// From 1, for this seat and this purpose.
    pub nth: usize,
    pub request: &'a ModelRequest,
}

impl SeatRequest<'_> {
    /// A valid reply with some fields replaced.
    pub(crate) fn valid_with(&self, fields: Value) -> ScriptedReply {
        let (mut document, Value::Object(fields)) = (valid_reply(self.request), fields) else {
            panic!("fields must be an object")
        };
        document.as_object_mut().unwrap().extend(fields);
        ScriptedReply::Reply(document.to_string())
    }
}

pub(crate) struct TestCouncil {
    pub program: TestProgram,
    pub server: ModelServer,
}

/// Exit code, document and stderr of one command.
#[derive(Debug)]
pub(crate) struct CommandResult {
    pub code: i32,
    pub document: Value,
    pub stderr: String,
}

impl CommandResult {
    #[track_caller]
    pub(crate) fn value_at(&self, path: &str) -> &Value {
        value_at(&self.document, path)
    }

    #[track_caller]
    pub(crate) fn dialogue_id(&self) -> &str {
        self.value_at("dialogue_id").as_str().unwrap()
    }

    #[track_caller]
    pub(crate) fn expect_status(&self, status: &str, code: i32) -> &Self {
        let result = (self.value_at("status").as_str().unwrap(), self.code);
        assert_eq!(result, (status, code), "{:#}\n{}", self.document, self.stderr);
        self
    }
}

impl TestCouncil {
    /// All seats reply validly except where the script says otherwise.
    pub(crate) fn new(
        script: impl Fn(&SeatRequest<'_>) -> ScriptedReply + Send + Sync + 'static,
    ) -> Self {
        Self::with_settings(script, |_| {})
    }

    /// The same with changed settings.
    pub(crate) fn with_settings(
        script: impl Fn(&SeatRequest<'_>) -> ScriptedReply + Send + Sync + 'static,
        change: impl FnOnce(&mut Value),
    ) -> Self {
        let asked: Mutex<HashMap<(String, &'static str), usize>> = Mutex::default();
        let server = ModelServer::start(move |seen| {
            let (seat, purpose) = (seat_of(seen), purpose_of(seen));
            let nth = {
                let mut asked = asked.lock().unwrap();
                let count = asked.entry((seat.clone(), purpose.name())).or_default();
                *count += 1;
                *count
            };
            script(&SeatRequest { seat: &seat, purpose, nth, request: seen })
        });
        let mut settings = default_settings(&server.base_url());
        change(&mut settings);
        let program = TestProgram::new();
        program.write_json("council.yaml", &settings);
        Self { program, server }
    }

    /// Changes the settings of an existing council.
    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Value)) {
        let mut settings = default_settings(&self.server.base_url());
        change(&mut settings);
        self.program.write_json("council.yaml", &settings);
    }

    /// Runs `ask … --json` and verifies the record afterwards.
    #[track_caller]
    pub(crate) fn run_ask(&self, arguments: &[&str]) -> CommandResult {
        self.run_command(
            &[&["ask", "--json", "--no-conclusion", "Shall we go ahead?"], arguments].concat(),
        )
    }

    /// Runs a command that prints one document and verifies the record afterwards.
    #[track_caller]
    pub(crate) fn run_command(&self, arguments: &[&str]) -> CommandResult {
        let ran = self.program.run_command(arguments);
        let document = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?} printed no document: {error}\n{ran:?}"));
        self.assert_verified();
        CommandResult { code: ran.code, document, stderr: ran.stderr }
    }

    /// `verify` must report no findings.
    #[track_caller]
    pub(crate) fn assert_verified(&self) {
        let path = self.program.path().join(".plenary/plenary.db");
        if path.exists() {
            let verification = SqliteStore::open(&path).unwrap().verify_record(None, None).unwrap();
            assert_eq!(verification.findings, [], "the record was damaged");
        }
    }

    /// Number of calls for a purpose, retries included.
    pub(crate) fn call_count(&self, purpose: AskPurpose) -> usize {
        self.requests_for(purpose).len()
    }

    pub(crate) fn requests_for(&self, purpose: AskPurpose) -> Vec<ModelRequest> {
        let seen = self.server.requests().into_iter();
        seen.filter(|seen| purpose_of(seen) == purpose).collect()
    }
}

pub(crate) fn seat_of(seen: &ModelRequest) -> String {
    seen.model.trim_start_matches("model-").to_owned()
}

/// Timeouts are generous: a seat that must time out gets a shorter one.
fn default_settings(base_url: &str) -> Value {
    let provider = |name: &str, role: &str| {
        json!({ "name": name, "role": [role], "model": format!("model-{name}"),
            "dialect": "openai", "base_url": base_url, "family": format!("family-{name}") })
    };
    let mut providers: Vec<Value> =
        PARTICIPANTS.iter().map(|name| provider(name, "participant")).collect();
    providers.push(provider(CHAIR, "chair"));
    json!({
        "council": {
            "providers": providers,
            "timeouts": { "r1_per_provider": 30_000, "r2_per_provider": 30_000, "r3_chair": 30_000 },
        },
        // A reply of one megabyte costs many tokens.
        "budget": { "tokens_max": 50_000_000 },
    })
}

/// Checks every row of a table, several in parallel; the first failure fails the test.
pub(crate) fn check_all<T: Sync>(rows: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL_ROWS {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::SeqCst)) {
                    check(row);
                }
            });
        }
    });
}
