//! Harness: a store and its log file in their own folder.

use std::path::PathBuf;

use plenary::domain::gate::{GateVerdict, Redaction};
use plenary::store::Store;
use plenary::verdict_log::{Differences, Synced, repair, sync};

use crate::kit::{Bench, log_verdict};

pub struct Shelf {
    pub bench: Bench,
    pub path: PathBuf,
}

impl Shelf {
    /// With this many verdicts of one review, and no file yet.
    pub fn with(verdicts: u32) -> Self {
        let bench = Bench::new();
        let path = bench.folder.path().join("council_log.jsonl");
        let shelf = Self { bench, path };
        (1..=verdicts).for_each(|n| shelf.log(n));
        shelf
    }

    pub fn log(&self, n: u32) {
        log_verdict(self.store(), "review", n, GateVerdict::Hold);
    }

    pub fn store(&self) -> &dyn Store {
        self.bench.store()
    }

    #[track_caller]
    pub fn sync(&self) -> Synced {
        sync(self.store(), &self.path).unwrap()
    }

    #[track_caller]
    pub fn repair(&self) -> Differences {
        repair(self.store(), &self.path, &Redaction::default()).unwrap()
    }

    /// The log lines in the table.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.store().log_lines(0, usize::MAX >> 1).unwrap();
        lines.into_iter().map(|line| line.line).collect()
    }

    /// The content that the file should have.
    pub fn table(&self) -> String {
        self.lines().iter().map(|line| format!("{line}\n")).collect()
    }

    pub fn file(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.path).unwrap()).into_owned()
    }

    pub fn write(&self, text: impl AsRef<[u8]>) {
        std::fs::write(&self.path, text).unwrap();
    }

    /// The content of the file with the lines set aside.
    pub fn aside(&self) -> Option<String> {
        std::fs::read_to_string(self.path.with_extension("jsonl.torn")).ok()
    }
}
