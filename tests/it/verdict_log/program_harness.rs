//! Harness: the real program and its verdict log, with foreign log files beside it.

use plenary::domain::gate::GateVerdict;
use plenary::store::{SqliteStore, Store};
use serde_json::{Value, json};

use crate::kit::{Program, Ran, log_verdict};

pub struct Desk {
    pub program: Program,
}

impl Desk {
    pub fn new() -> Self {
        let program = Program::new();
        std::fs::write(program.path().join("council.yaml"), "council: {}\n").unwrap();
        Self { program }
    }

    /// With this many verdicts of one review, and their file.
    pub fn with(verdicts: u32) -> Self {
        let desk = Self::new();
        (1..=verdicts).for_each(|n| desk.log(n, GateVerdict::Hold));
        if verdicts > 0 {
            desk.must(&["log", "repair"]);
        }
        desk
    }

    pub fn configure(&self, yaml: &str) {
        self.write("council.yaml", yaml);
    }

    pub fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.program.path().join(".plenary/plenary.db")).unwrap()
    }

    pub fn log(&self, n: u32, verdict: GateVerdict) {
        log_verdict(&self.store(), "review", n, verdict);
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.program.path().join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.program.path().join(name)).unwrap()
    }

    /// The content of the log file.
    pub fn file(&self) -> String {
        self.read("council_log.jsonl")
    }

    /// The content that the log file should have, from the store.
    pub fn table(&self) -> String {
        let lines = self.store().log_lines(0, 100_000).unwrap();
        lines.iter().map(|line| format!("{}\n", line.line)).collect()
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.program.run(arguments)
    }

    #[track_caller]
    pub fn must(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran
    }

    /// Runs with `--json`: the exit code and the document.
    #[track_caller]
    pub fn document(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = self.run(&[arguments, &["--json"]].concat());
        let document = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?} printed no document: {error}\n{ran:?}"));
        (ran.code, document)
    }

    /// The store must be intact, and the file must match it.
    #[track_caller]
    pub fn verify(&self) {
        self.must(&["verify"]);
        assert_eq!(self.file(), self.table());
    }
}

/// A row in another program's format, `n` minutes after ten.
pub fn theirs(n: u32, verdict: &str) -> Value {
    let blocks = verdict != "SHIP";
    let seat = json!({"deliberator": "skeptic", "verdict": "revise", "scores": {"argument_soundness": 3},
                      "would_block": blocks, "irreducible": false, "revision_brief": format!("Brief {n}.")});
    json!({
        "v": 2, "ts": format!("2026-03-02T10:{n:02}:00Z"), "artifact": format!("posts/{n}.md"),
        "artifact_type": "linkedin_post", "round1": [seat], "round2": [seat],
        "adjudicator": {"final_verdict": verdict, "reasoning": format!("Reasons {n}."), "revision_brief": "",
                        "applied_compounding": false, "prior_verdicts_consulted": 0},
    })
}

/// Rows as the lines of a file.
pub fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}
