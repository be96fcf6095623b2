//! Harness: the real program and its verdict log, with foreign log files beside it.

use plenary_core::protocols::review::policy::ReviewVerdict;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::{Value, json};

use crate::kit::{CommandOutput, TestProgram, insert_verdict};

pub struct LogProgram {
    pub program: TestProgram,
}

impl LogProgram {
    pub fn new() -> Self {
        let program = TestProgram::new();
        std::fs::write(program.path().join("council.yaml"), "council: {}\n").unwrap();
        Self { program }
    }

    /// With this many verdicts of one review, and their file.
    pub fn with_verdicts(verdicts: u32) -> Self {
        let project = Self::new();
        (1..=verdicts).for_each(|n| project.insert_verdict(n, ReviewVerdict::Hold));
        if verdicts > 0 {
            project.run_ok(&["log", "repair"]);
        }
        project
    }

    pub fn write_settings(&self, yaml: &str) {
        self.write_file("council.yaml", yaml);
    }

    pub fn open_store(&self) -> SqliteStore {
        SqliteStore::open(&self.program.path().join(".plenary/plenary.db")).unwrap()
    }

    pub fn insert_verdict(&self, n: u32, verdict: ReviewVerdict) {
        insert_verdict(&self.open_store(), "review", n, verdict);
    }

    pub fn write_file(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.program.path().join(name), text).unwrap();
    }

    pub fn read_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.program.path().join(name)).unwrap()
    }

    /// The content of the log file.
    pub fn read_log_file(&self) -> String {
        self.read_file("council_log.jsonl")
    }

    /// The content that the log file should have, from the store.
    pub fn expected_file(&self) -> String {
        let lines = self.open_store().load_log_lines(0, 100_000).unwrap();
        lines.iter().map(|line| format!("{}\n", line.line)).collect()
    }

    pub fn run_command(&self, arguments: &[&str]) -> CommandOutput {
        self.program.run_command(arguments)
    }

    #[track_caller]
    pub fn run_ok(&self, arguments: &[&str]) -> CommandOutput {
        let ran = self.run_command(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran
    }

    /// Runs with `--json`: the exit code and the document.
    #[track_caller]
    pub fn run_json(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = self.run_command(&[arguments, &["--json"]].concat());
        let document = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?} printed no document: {error}\n{ran:?}"));
        (ran.code, document)
    }

    /// The store must be intact, and the file must match it.
    #[track_caller]
    pub fn assert_verified(&self) {
        self.run_ok(&["verify"]);
        assert_eq!(self.read_log_file(), self.expected_file());
    }
}

/// A row in another program's format, `n` minutes after ten.
pub fn foreign_row(n: u32, verdict: &str) -> Value {
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
pub fn to_lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}
