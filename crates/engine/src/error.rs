//! The error type of the crate, as users and clients see it.
//!
//! Modules own small, precise errors. This file maps them to an exit code, a JSON-RPC code, a
//! status, an
//! error document and a hint, so that the CLI and the servers agree.

use std::borrow::Cow;

use plenary_core::model::ids::DialogueId;
use plenary_core::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::agent_check::AgentCheckError;
use crate::app::planning::panel_setup::PlanningError;
use crate::clock::CLOCK_YEARS;
use crate::config::error::ConfigError;
use crate::context_files::gather::ContextFileError;
use crate::error_hints::{
    hint_for_config, hint_for_context_files, hint_for_file, hint_for_modularity, hint_for_store,
};
use crate::files::read_write::{FileError, WriteError};
use crate::providers::rehearsal::script::ScriptError;
use crate::store::error::StoreError;
use crate::verdict_log::log_file::LogFileError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", .0.summary_message())]
    Refused(ValidationErrors),
    /// A value of the command line that the request rejects.
    #[error("{}", .0.summary_message())]
    Argument(ValidationErrors),
    /// A part of a dialogue that is not there: a round, a call.
    #[error("{}", .0.summary_message())]
    Missing(ValidationErrors),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    LogFile(#[from] LogFileError),
    #[error(transparent)]
    Material(#[from] ContextFileError),
    #[error(transparent)]
    Modularity(#[from] AgentCheckError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Convene(#[from] PlanningError),
    /// The store failed during a run. Entries written before the failure are kept.
    #[error("the run `{id}` stopped early; {} kept", describe_replies(*.replies))]
    Halted {
        id: DialogueId,
        /// Number of replies in the journal.
        replies: usize,
        #[source]
        source: StoreError,
    },
    /// Wrong usage of the command line that the argument parser cannot detect.
    #[error("{0}")]
    Usage(String),
    #[error("cannot listen on this address")]
    Listen(#[source] std::io::Error),
    #[error("cannot use the token in `{}`", path.display())]
    Token {
        path: std::path::PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "the system clock shows the year {year}; Plenary needs a year from {} to {}",
        CLOCK_YEARS.start(),
        CLOCK_YEARS.end()
    )]
    Clock { year: i64 },
    #[error("cannot start the run")]
    Runtime(#[source] std::io::Error),
    #[error("cannot serialise the result")]
    Document(#[source] serde_json::Error),
    #[error("cannot write the result")]
    Output(#[source] std::io::Error),
}

impl From<ValidationErrors> for Error {
    fn from(refusal: ValidationErrors) -> Self {
        Self::Refused(refusal)
    }
}

impl From<ValidationError> for Error {
    fn from(fault: ValidationError) -> Self {
        Self::Refused(fault.into())
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused(fault) => Self::Refused((*fault).into()),
            WriteError::File(error) => Self::File(error),
        }
    }
}

/// Serialises an answer as one compact JSON document.
pub fn to_json_text(answer: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(answer).map_err(Error::Document)
}

/// Stable across releases: scripts and clients may branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    Refused,
    Incomplete,
    NotFound,
    Configuration,
    Usage,
    Internal,
    Interrupted,
}

impl ErrorKind {
    /// Exit code of a command that failed. A command that completes returns `ExitStatus` of the
    /// CLI, which also uses 2.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Refused => 1,
            Self::Incomplete => 3,
            Self::NotFound => 4,
            Self::Configuration => 5,
            Self::Usage => 64,
            Self::Internal => 70,
            Self::Interrupted => 130,
        }
    }

    /// Status of an HTTP request that failed.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Refused => 422,
            Self::NotFound => 404,
            Self::Usage => 400,
            Self::Incomplete | Self::Interrupted => 503,
            Self::Configuration | Self::Internal => 500,
        }
    }

    /// Error code of an MCP request that no tool handles. MCP defines the first code for missing
    /// resources; JSON-RPC defines the others.
    pub fn json_rpc_code(self) -> i32 {
        match self {
            Self::NotFound => -32_002,
            Self::Refused | Self::Usage => -32_602,
            Self::Incomplete | Self::Configuration | Self::Internal | Self::Interrupted => -32_603,
        }
    }
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(refusal) if is_not_found(refusal) => ErrorKind::NotFound,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Argument(_) => ErrorKind::Usage,
            Self::Missing(_) => ErrorKind::NotFound,
            Self::Store(error) => kind_of_store_error(error),
            Self::Halted { source, .. } => kind_of_halt(source),
            Self::File(FileError::Unwritable { .. }) => ErrorKind::Incomplete,
            Self::File(_) | Self::Material(_) | Self::Modularity(_) => ErrorKind::NotFound,
            Self::LogFile(error) => kind_of_log_error(error),
            Self::Config(ConfigError::FileExists { .. }) => ErrorKind::Refused,
            Self::Config(ConfigError::Flag { .. }) => ErrorKind::Usage,
            Self::Config(_) | Self::Script(_) | Self::Convene(_) => ErrorKind::Configuration,
            Self::Usage(_) => ErrorKind::Usage,
            Self::Listen(_) | Self::Token { .. } | Self::Clock { .. } => ErrorKind::Configuration,
            Self::Runtime(_) | Self::Document(_) | Self::Output(_) => ErrorKind::Internal,
        }
    }

    /// Status of the HTTP request that failed.
    pub fn http_status(&self) -> u16 {
        // The caller can rehearse instead.
        let can_rehearse = matches!(self, Self::Config(ConfigError::NoProvider));
        if can_rehearse { 422 } else { self.kind().http_status() }
    }

    /// Returns true if the reader of the output closed the pipe.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Returns what the user can try next, if anything.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        if let Self::Halted { id, source, .. } = self {
            return Some(hint_for_halt(id, source).into());
        }
        self.static_hint().map(Cow::Borrowed)
    }

    fn static_hint(&self) -> Option<&'static str> {
        match self {
            Self::Refused(_)
            | Self::Argument(_)
            | Self::Missing(_)
            | Self::Halted { .. }
            | Self::Runtime(_)
            | Self::Document(_)
            | Self::Output(_) => None,
            Self::Listen(_) => Some("choose another `--port`"),
            Self::Clock { .. } => Some("set the system clock, then run the command again"),
            Self::Token { .. } => Some(
                "remove the file; `plenary serve` then creates one that only you can read (mode 0600)",
            ),
            Self::Usage(_) => Some("`plenary help COMMAND` lists the options of a command"),
            Self::Store(error) => hint_for_store(error),
            Self::File(error) => Some(hint_for_file(error)),
            Self::LogFile(LogFileError::Store(error)) => hint_for_store(error),
            Self::LogFile(error) => error.hint(),
            Self::Material(error) => Some(hint_for_context_files(error)),
            Self::Modularity(error) => Some(hint_for_modularity(error)),
            Self::Script(_) => Some(
                "write a list of `{seat?, round?, purpose?, contains?, reply | fail, delay_ms?, times?}`",
            ),
            Self::Config(error) => Some(hint_for_config(error)),
            Self::Convene(error) => Some(error.hint()),
        }
    }

    /// Puts the validation errors of a batch into the seed's envelope, even a single one.
    #[must_use]
    pub fn of_batch(self) -> Self {
        if let Self::Refused(refusal) = self { Self::Refused(refusal.of_batch()) } else { self }
    }

    /// The validation errors, if the request has some.
    pub fn faults(&self) -> Option<&ValidationErrors> {
        if let Self::Refused(faults) | Self::Argument(faults) | Self::Missing(faults) = self {
            return Some(faults);
        }
        None
    }

    /// Builds the error document for programs.
    pub fn to_document(&self) -> Value {
        if let Some(faults) = self.faults() {
            return faults.to_document();
        }
        let mut document = json!({
            "status": "error",
            "error_code": self.error_code(),
            "message": self.full_message(),
        });
        if let (Some(hint), Value::Object(map)) = (self.hint(), &mut document) {
            // A program reads the document, so it may name the field of a request.
            let field = match matches!(self, Self::Config(ConfigError::NoProvider)) {
                true => "; over MCP and HTTP the field is `rehearse: true`",
                false => "",
            };
            map.insert("suggestion".to_owned(), format!("{hint}{field}").into());
        }
        if let (Self::Halted { id, replies, .. }, Value::Object(map)) = (self, &mut document) {
            map.insert("dialogue_id".to_owned(), json!(id));
            map.insert("replies_kept".to_owned(), json!(replies));
            map.insert("resume".to_owned(), json!(format_resume_command(id)));
        }
        if let (Self::Config(error), Value::Object(map)) = (self, &mut document)
            && !error.problems().is_empty()
        {
            map.insert("problems".to_owned(), json!(error.problems()));
        }
        document
    }

    fn error_code(&self) -> &'static str {
        match self {
            Self::Refused(_) | Self::Argument(_) | Self::Missing(_) => "batch_validation_failed",
            Self::Store(StoreError::Newer { .. }) => "store_newer",
            Self::Store(StoreError::Missing { .. }) => "store_missing",
            Self::Store(StoreError::Denied { .. }) => "store_denied",
            Self::Store(StoreError::Empty { .. }) => "store_empty",
            Self::Store(StoreError::Foreign { .. }) => "store_foreign",
            Self::Store(StoreError::Busy { .. }) => "store_busy",
            Self::Store(StoreError::ForeignLocks { .. }) => "locks_foreign",
            Self::Store(_) => "store_failed",
            Self::Halted { .. } => "run_halted",
            Self::File(FileError::Unwritable { .. }) => "unwritable",
            Self::Material(ContextFileError::TooMany { .. })
            | Self::Modularity(AgentCheckError::TooMany { .. }) => "too_many_files",
            Self::Modularity(
                AgentCheckError::NoPrompt { .. } | AgentCheckError::AllExempt { .. },
            ) => "nothing_scanned",
            Self::LogFile(
                LogFileError::Unwritable { .. }
                | LogFileError::NoFolder { .. }
                | LogFileError::Busy { .. },
            ) => "unwritable",
            Self::LogFile(LogFileError::Store(_)) => "store_failed",
            Self::File(_) | Self::Material(_) | Self::Modularity(_) | Self::LogFile(_) => {
                "unreadable"
            }
            Self::Config(ConfigError::FileExists { .. }) => "file_exists",
            Self::Config(ConfigError::NotTrusted(_)) => "config_not_trusted",
            Self::Config(_) => "invalid_configuration",
            Self::Script(_) => "invalid_script",
            Self::Convene(_) => "no_panel",
            Self::Usage(_) => "usage",
            Self::Listen(_) => "cannot_listen",
            Self::Token { .. } => "token_unusable",
            Self::Clock { .. } => "clock_wrong",
            Self::Runtime(_) => "runtime",
            Self::Document(_) => "internal",
            Self::Output(_) => "output_failed",
        }
    }

    /// Joins the message and its causes into one line.
    pub fn full_message(&self) -> String {
        let mut sentence = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            sentence.push_str(&format!(": {error}"));
            cause = error.source();
        }
        sentence
    }
}

fn is_not_found(refusal: &ValidationErrors) -> bool {
    [ErrorCode::DialogueNotFound, ErrorCode::AmbiguousId, ErrorCode::VerdictNotFound]
        .into_iter()
        .any(|code| refusal.has_code(code))
}

fn kind_of_store_error(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::Newer { .. } | StoreError::ReadOnly | StoreError::ForeignLocks { .. } => {
            ErrorKind::Configuration
        }
        StoreError::Missing { .. }
        | StoreError::Denied { .. }
        | StoreError::Empty { .. }
        | StoreError::Foreign { .. }
        | StoreError::Unopenable { .. }
        | StoreError::NoFolder { .. }
        | StoreError::Damaged { .. }
        | StoreError::Malformed { .. }
        | StoreError::Io(_) => ErrorKind::NotFound,
        StoreError::Busy { .. } | StoreError::DiskFull => ErrorKind::Incomplete,
        StoreError::Database(_)
        | StoreError::NotRun
        | StoreError::WriterGone
        | StoreError::Shared { .. }
        | StoreError::Unwritable(_) => ErrorKind::Internal,
    }
}

/// Kind of a halted run: incomplete if the user can fix the cause and resume.
fn kind_of_halt(error: &StoreError) -> ErrorKind {
    if matches!(error, StoreError::ReadOnly | StoreError::Io(_)) {
        return ErrorKind::Incomplete;
    }
    kind_of_store_error(error)
}

fn hint_for_halt(id: &DialogueId, error: &StoreError) -> String {
    let first = match error {
        StoreError::DiskFull => "free some disk space",
        StoreError::Io(_) => "check the disk, its free space and your quota",
        StoreError::ReadOnly => "make the store and its folder writable",
        StoreError::Busy { .. } => "wait until the other process ends",
        StoreError::Damaged { .. } | StoreError::Malformed { .. } => {
            return "restore the store from a backup, then run the command again".to_owned();
        }
        StoreError::Newer { .. }
        | StoreError::Foreign { .. }
        | StoreError::Missing { .. }
        | StoreError::Denied { .. }
        | StoreError::Empty { .. }
        | StoreError::Unopenable { .. }
        | StoreError::NoFolder { .. }
        | StoreError::ForeignLocks { .. }
        | StoreError::Database(_)
        | StoreError::NotRun
        | StoreError::Shared { .. }
        | StoreError::WriterGone
        | StoreError::Unwritable(_) => "fix the error above",
    };
    let command = format_resume_command(id);
    format!("{first}; only calls without a recorded reply are repeated. Then run: `{command}`")
}

fn format_resume_command(id: &DialogueId) -> String {
    format!("plenary resume {id}")
}

fn describe_replies(count: usize) -> String {
    match count {
        0 => "no reply was".to_owned(),
        1 => "1 reply was".to_owned(),
        count => format!("{count} replies were"),
    }
}

fn kind_of_log_error(error: &LogFileError) -> ErrorKind {
    match error {
        LogFileError::NotAFile { .. } | LogFileError::Link { .. } => ErrorKind::Configuration,
        LogFileError::Unreadable { .. } => ErrorKind::NotFound,
        LogFileError::NoFolder { .. }
        | LogFileError::Unwritable { .. }
        | LogFileError::Busy { .. } => ErrorKind::Incomplete,
        LogFileError::Store(error) => kind_of_store_error(error),
    }
}
