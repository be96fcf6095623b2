//! A council in a folder of its own: three participants, a chair, and the server behind them.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use plenary::domain::ask::Purpose;
use plenary::store::{SqliteStore, Store};
use serde_json::{Value, json};

use crate::kit::{ModelServer, Play, Program, Seen, at, fitting, purpose_of};

pub(crate) const PARTICIPANTS: [&str; 3] = ["ann", "bob", "cid"];
pub(crate) const CHAIR: &str = "dot";

/// Rows of a table that run at once. They mostly wait.
const AT_ONCE: usize = 6;

/// Who is asked for what, how often already.
pub(crate) struct Asked<'a> {
    pub seat: &'a str,
    pub purpose: Purpose,
    /// From 1, for this seat and this purpose.
    pub nth: usize,
    pub seen: &'a Seen,
}

impl Asked<'_> {
    /// The document that fits, with some of its fields replaced.
    pub(crate) fn with(&self, fields: Value) -> Play {
        let (mut document, Value::Object(fields)) = (fitting(self.seen), fields) else {
            panic!("fields must be an object")
        };
        document.as_object_mut().unwrap().extend(fields);
        Play::Reply(document.to_string())
    }
}

pub(crate) struct Council {
    pub program: Program,
    pub server: ModelServer,
}

/// What a run of the program said.
#[derive(Debug)]
pub(crate) struct Told {
    pub code: i32,
    pub document: Value,
    pub stderr: String,
}

impl Told {
    #[track_caller]
    pub(crate) fn at(&self, path: &str) -> &Value {
        at(&self.document, path)
    }

    #[track_caller]
    pub(crate) fn id(&self) -> &str {
        self.at("dialogue_id").as_str().unwrap()
    }

    #[track_caller]
    pub(crate) fn expect(&self, status: &str, code: i32) -> &Self {
        let told = (self.at("status").as_str().unwrap(), self.code);
        assert_eq!(told, (status, code), "{:#}\n{}", self.document, self.stderr);
        self
    }
}

impl Council {
    /// Everybody behaves but for what the script says.
    pub(crate) fn new(script: impl Fn(&Asked<'_>) -> Play + Send + Sync + 'static) -> Self {
        Self::with(script, |_| {})
    }

    /// The same, with changes to the configuration.
    pub(crate) fn with(
        script: impl Fn(&Asked<'_>) -> Play + Send + Sync + 'static,
        change: impl FnOnce(&mut Value),
    ) -> Self {
        let asked: Mutex<HashMap<(String, &'static str), usize>> = Mutex::default();
        let server = ModelServer::start(move |seen| {
            let (seat, purpose) = (seat_of(seen), purpose_of(&seen.system));
            let nth = {
                let mut asked = asked.lock().unwrap();
                let count = asked.entry((seat.clone(), purpose.name())).or_default();
                *count += 1;
                *count
            };
            script(&Asked { seat: &seat, purpose, nth, seen })
        });
        let mut settings = configuration(&server.base_url());
        change(&mut settings);
        let program = Program::new();
        program.file("council.yaml", &settings);
        Self { program, server }
    }

    /// Changes the configuration of a council that was asked already.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Value)) {
        let mut settings = configuration(&self.server.base_url());
        change(&mut settings);
        self.program.file("council.yaml", &settings);
    }

    /// `ask … --json`, its document, and a record that must be whole.
    #[track_caller]
    pub(crate) fn ask(&self, arguments: &[&str]) -> Told {
        self.run(&[&["ask", "--json", "--no-conclusion", "Shall we go ahead?"], arguments].concat())
    }

    /// A command that prints one document; the record must be whole after it.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Told {
        let ran = self.program.run(arguments);
        let document = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?} printed no document: {error}\n{ran:?}"));
        self.verify();
        Told { code: ran.code, document, stderr: ran.stderr }
    }

    /// `verify` must find nothing.
    #[track_caller]
    pub(crate) fn verify(&self) {
        let path = self.program.path().join(".plenary/plenary.db");
        if path.exists() {
            let verification = SqliteStore::open(&path).unwrap().verify(None, None).unwrap();
            assert_eq!(verification.findings, [], "the record was damaged");
        }
    }

    /// How often a seat was called for something, over all attempts.
    pub(crate) fn calls(&self, purpose: Purpose) -> usize {
        self.seen(purpose).len()
    }

    pub(crate) fn seen(&self, purpose: Purpose) -> Vec<Seen> {
        let seen = self.server.seen().into_iter();
        seen.filter(|seen| purpose_of(&seen.system) == purpose).collect()
    }
}

pub(crate) fn seat_of(seen: &Seen) -> String {
    seen.model.trim_start_matches("model-").to_owned()
}

/// Times are generous: whoever must time out has a shorter one.
fn configuration(base_url: &str) -> Value {
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
        // A reply of a megabyte is dear.
        "budget": { "tokens_max": 50_000_000 },
    })
}

/// Checks every row of a table, several at once; the first that fails fails the test.
pub(crate) fn check_all<T: Sync>(rows: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::SeqCst)) {
                    check(row);
                }
            });
        }
    });
}
