//! Errors of the configuration: every problem with its key and line, and suggestions for misspelled
//! names.
//!
//! **Invariant:** no message repeats a value that could be a secret. Values from a closed list are
//! repeated; URLs, keys and contents of variables are not.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;

use plenary_core::model::text::find_nearest;
use serde::Serialize;

use crate::config::trust::project::UntrustedFile;
use crate::files::read_write::FileError;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration file `{path}` does not exist")]
    NoFile { path: PathBuf },
    #[error(transparent)]
    File(FileError),
    #[error("{}", sentence_of(path, problems))]
    Invalid { path: PathBuf, problems: Vec<ConfigProblem> },
    #[error("no provider is configured, and none was found")]
    NoProvider,
    #[error("no provider is configured, and none was found")]
    NoConclusionProvider,
    #[error("council.yaml has no `tier_rules`, which select the files to review")]
    NoTierRules,
    #[error("the environment variable {variable} must be {expected}")]
    Variable { variable: &'static str, expected: String },
    #[error("the option {flag} must be {expected}")]
    Flag { flag: &'static str, expected: String },
    #[error("cannot determine the working folder")]
    NoWorkingFolder(#[source] std::io::Error),
    #[error("`{url}` is not a supported store")]
    UnknownStore { url: String },
    #[error("`{path}` is a link; Plenary does not follow links to its store")]
    LinkedStore { path: PathBuf },
    #[error("the store `{path}` is a folder; it must be a file")]
    StoreIsFolder { path: PathBuf },
    #[error("the store `{path}` is committed to git, so its decisions do not count")]
    TrackedStore { path: PathBuf },
    #[error("`--allow {path}` is not a folder")]
    NotAFolder { path: PathBuf },
    #[error("`{path}` already exists")]
    FileExists { path: PathBuf },
    #[error("{0}")]
    NotTrusted(Box<UntrustedFile>),
    #[error("cannot use the record of trusted files in `{path}`")]
    TrustRecord {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("neither `XDG_STATE_HOME` nor `HOME` is an absolute path, so trust cannot be recorded")]
    NoStateFolder,
}

impl From<FileError> for ConfigError {
    fn from(error: FileError) -> Self {
        if let FileError::Unreadable { path, source } = &error
            && source.kind() == ErrorKind::NotFound
        {
            return Self::NoFile { path: path.clone() };
        }
        Self::File(error)
    }
}

impl ConfigError {
    /// Whether the file is correct, but names providers that cannot be used.
    pub fn is_external(&self) -> bool {
        let problems = self.problems();
        !problems.is_empty() && problems.iter().all(|problem| problem.is_external)
    }

    /// Returns all problems of the file, if the error is about its content.
    pub fn problems(&self) -> &[ConfigProblem] {
        if let Self::Invalid { problems, .. } = self {
            return problems;
        }
        if let Self::NotTrusted(file) = self { &file.problems } else { &[] }
    }
}

/// Prints a single problem; several are only counted here, and the CLI or MCP layer lists them.
fn sentence_of(path: &std::path::Path, problems: &[ConfigProblem]) -> String {
    let path = path.display();
    match problems {
        [problem] => format!("`{path}`: {problem}"),
        _ => format!("`{path}` has {} problems", problems.len()),
    }
}

/// One problem in `council.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    /// Path of the setting, such as `council.quorum.r1_min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub message: String,
    /// The file itself is right, but something outside of it is missing: a key or a program.
    #[serde(skip)]
    pub is_external: bool,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl ConfigProblem {
    /// The text is not YAML, or uses YAML that Plenary does not accept.
    pub(crate) fn in_text(line: Option<u64>, what: &str) -> Self {
        let message = match line {
            Some(line) => format!("{what} (line {line})"),
            None => what.to_owned(),
        };
        Self { key: None, line, message, is_external: false }
    }

    pub(crate) fn unknown_key(path: String, name: &str, line: u64, known: &[&str]) -> Self {
        let advice = match find_nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", known.join(", ")),
        };
        let message = format!("unknown key `{name}` on line {line}; {advice}");
        Self { key: Some(path), line: Some(line), message, is_external: false }
    }

    /// A known key in the wrong mapping.
    pub(crate) fn misplaced_key(path: String, line: u64, meant: &str) -> Self {
        let message = format!("unknown key `{path}` on line {line}; did you mean `{meant}`?");
        Self { key: Some(path), line: Some(line), message, is_external: false }
    }

    /// An invalid value: `fault` follows the key and its line in the message.
    pub(crate) fn in_value(path: &str, line: Option<u64>, fault: &str) -> Self {
        let place = line.map(|line| format!(" on line {line}")).unwrap_or_default();
        let message = format!("`{path}`{place} {fault}");
        Self { key: Some(path.to_owned()), line, message, is_external: false }
    }
}
