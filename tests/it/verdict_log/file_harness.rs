//! Harness: a store and its log file in their own folder.

use std::path::PathBuf;

use plenary_core::protocols::review::policy::ReviewVerdict;
use plenary_core::protocols::review::redaction::LogRedaction;
use plenary_engine::store::traits::Store;
use plenary_engine::verdict_log::sync::{LogDifferences, SyncResult, repair_log, sync_log};

use crate::kit::{TestProject, insert_verdict};

pub struct LogFileProject {
    pub project: TestProject,
    pub log_path: PathBuf,
}

impl LogFileProject {
    /// With this many verdicts of one review, and no file yet.
    pub fn with_verdicts(verdicts: u32) -> Self {
        let bench = TestProject::new();
        let path = bench.folder.path().join("council_log.jsonl");
        let shelf = Self { project: bench, log_path: path };
        (1..=verdicts).for_each(|n| shelf.insert_verdict(n));
        shelf
    }

    pub fn insert_verdict(&self, n: u32) {
        insert_verdict(self.store(), "review", n, ReviewVerdict::Hold);
    }

    pub fn store(&self) -> &dyn Store {
        self.project.store()
    }

    #[track_caller]
    pub fn sync_file(&self) -> SyncResult {
        sync_log(self.store(), &self.log_path).unwrap()
    }

    #[track_caller]
    pub fn repair_file(&self) -> LogDifferences {
        repair_log(self.store(), &self.log_path, &LogRedaction::default()).unwrap()
    }

    /// The log lines in the table.
    pub fn table_lines(&self) -> Vec<String> {
        let lines = self.store().load_log_lines(0, usize::MAX >> 1).unwrap();
        lines.into_iter().map(|line| line.line).collect()
    }

    /// The content that the file should have.
    pub fn expected_file(&self) -> String {
        self.table_lines().iter().map(|line| format!("{line}\n")).collect()
    }

    pub fn read_file(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log_path).unwrap()).into_owned()
    }

    pub fn write_file(&self, text: impl AsRef<[u8]>) {
        std::fs::write(&self.log_path, text).unwrap();
    }

    /// The content of the file with the lines set aside.
    pub fn read_torn_file(&self) -> Option<String> {
        std::fs::read_to_string(self.log_path.with_extension("jsonl.torn")).ok()
    }
}
