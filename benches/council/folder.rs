//! A folder with a council of three whose models are all on one server.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::measure::BenchmarkResult;

/// One provider of each dialect; the first also chairs.
const PROVIDERS: [(&str, &str, &str); 3] = [
    ("ann", "openai", "[participant, chair]"),
    ("bob", "anthropic", "[participant]"),
    ("cid", "gemini", "[participant]"),
];

/// How many calls a provider takes at once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CallPace {
    Default,
    Unlimited,
}

#[derive(Debug)]
pub(crate) struct BenchmarkFolder {
    folder: TempDir,
}

impl BenchmarkFolder {
    pub(crate) fn new(base_url: &str, pace: CallPace) -> BenchmarkResult<Self> {
        let pace = match pace {
            CallPace::Default => "",
            CallPace::Unlimited => ", max_in_flight: unlimited",
        };
        let mut text = "council:\n  providers:\n".to_owned();
        for (name, dialect, role) in PROVIDERS {
            writeln!(
                text,
                "    - {{name: {name}, role: {role}, model: test-model, dialect: {dialect}, \
                 base_url: \"{base_url}\", transports: [http]{pace}}}"
            )?;
        }
        Self::with_settings(&text)
    }

    /// A folder with this configuration.
    #[expect(clippy::disallowed_methods, reason = "a configuration for the program")]
    pub(crate) fn with_settings(text: &str) -> BenchmarkResult<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        std::fs::write(folder.path().join("council.yaml"), text)?;
        Ok(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file to send with a question.
    #[expect(clippy::disallowed_methods, reason = "a file for the program")]
    pub(crate) fn write_file(&self, name: &str, text: &str) -> BenchmarkResult<()> {
        Ok(std::fs::write(self.path().join(name), text)?)
    }

    /// Writes this many questions, one per line.
    #[expect(clippy::disallowed_methods, reason = "questions for the program")]
    pub(crate) fn write_batch(&self, councils: usize) -> BenchmarkResult<PathBuf> {
        let path = self.path().join("questions.jsonl");
        let line = |number| format!("\"Should we take step {number} before winter?\"\n");
        std::fs::write(&path, (1..=councils).map(line).collect::<String>())?;
        Ok(path)
    }
}
