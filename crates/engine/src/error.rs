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
use crate::files::read_write::{FileError, WriteError};
use crate::providers::rehearsal::script::ScriptError;
use crate::store::error::StoreError;
use crate::verdict_log::log_file::LogFileError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", .0.summary_message())]
    Refused(ValidationErrors),
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
            Self::Store(error) => kind_of_store_error(error),
            Self::Halted { source, .. } => kind_of_halt(source),
            Self::File(FileError::Unwritable { .. }) => ErrorKind::Incomplete,
            Self::File(_) | Self::Material(_) | Self::Modularity(_) => ErrorKind::NotFound,
            Self::LogFile(error) => kind_of_log_error(error),
            Self::Config(ConfigError::FileExists { .. }) => ErrorKind::Refused,
            Self::Config(_) | Self::Script(_) | Self::Convene(_) => ErrorKind::Configuration,
            Self::Usage(_) => ErrorKind::Usage,
            Self::Listen(_) | Self::Token { .. } | Self::Clock { .. } => ErrorKind::Configuration,
            Self::Runtime(_) | Self::Document(_) | Self::Output(_) => ErrorKind::Internal,
        }
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
                "write a list of `{seat?, round?, contains?, reply | fail, delay_ms?, times?}`",
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

    /// Builds the error document for programs.
    pub fn to_document(&self) -> Value {
        if let Self::Refused(refusal) = self {
            return refusal.to_document();
        }
        let mut document = json!({
            "status": "error",
            "error_code": self.error_code(),
            "message": self.full_message(),
        });
        if let (Some(hint), Value::Object(map)) = (self.hint(), &mut document) {
            map.insert("suggestion".to_owned(), hint.into());
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
            Self::Refused(_) => "batch_validation_failed",
            Self::Store(StoreError::Newer { .. }) => "store_newer",
            Self::Store(StoreError::Missing { .. }) => "store_missing",
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
    format!("{first}, then run `{command}`; it repeats only calls without a recorded reply")
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

fn hint_for_store(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::Newer { .. } => {
            Some("install the newest Plenary, or choose another store with `--store FILE`")
        }
        StoreError::Missing { .. } => Some(
            "check `--store`; the first `plenary ask` or `plenary dialogue create` creates a store",
        ),
        StoreError::Foreign { .. } => {
            Some("choose another store with `--store FILE`, or restore it from a backup")
        }
        StoreError::Unopenable { .. } | StoreError::NoFolder { .. } => Some(
            "check that you can write to the folder, or choose another store with `--store FILE`",
        ),
        StoreError::ForeignLocks { .. } => {
            Some("move the folder away, or choose another store with `--store FILE`")
        }
        StoreError::ReadOnly => Some("make the file and its folder writable"),
        StoreError::Busy { .. } => Some("nothing was changed; try again"),
        StoreError::DiskFull => Some("nothing was changed; free some disk space and try again"),
        StoreError::Io(_) => {
            Some("check the disk, its free space, and the permissions of the file")
        }
        StoreError::Damaged { .. } => {
            Some("restore the store from a backup, or choose another one with `--store FILE`")
        }
        StoreError::Malformed { .. } => {
            Some("`plenary verify` lists what was changed; then restore the store from a backup")
        }
        StoreError::Database(_)
        | StoreError::NotRun
        | StoreError::WriterGone
        | StoreError::Shared { .. }
        | StoreError::Unwritable(_) => None,
    }
}

fn hint_for_file(error: &FileError) -> &'static str {
    match error {
        FileError::Unreadable { .. } | FileError::NotAFile { .. } => {
            "name a readable file, or `-` for standard input"
        }
        FileError::TooLarge { .. } => "split the file",
        FileError::NotText { .. } => "save the file as UTF-8",
        FileError::Unwritable { .. } => "check the folder's permissions and free space",
    }
}

fn hint_for_context_files(error: &ContextFileError) -> &'static str {
    match error {
        ContextFileError::Unreadable { .. } => "name files and folders that exist and can be read",
        ContextFileError::NotAFile { .. } => "save the content to a file and name that file",
        ContextFileError::Folder { .. } => "name its files; `plenary sweep DIR` reviews a folder",
        ContextFileError::Unfit { .. } => {
            "a review needs UTF-8 text of at most about 350 KB, not reached through a link"
        }
        ContextFileError::TooMany { .. } => {
            "name smaller folders, or exclude files in `.councilignore`"
        }
    }
}

fn hint_for_modularity(error: &AgentCheckError) -> &'static str {
    match error {
        AgentCheckError::Unreadable { .. } | AgentCheckError::NoPrompt { .. } => {
            "name a folder with prompts in `agents/NAME/prompt.md`"
        }
        AgentCheckError::Outside { .. } => "name the folder that the link points to",
        AgentCheckError::TooMany { .. } => "name the folder of a host that contains `agents/`",
        AgentCheckError::AllExempt { .. } => {
            "pass `--exempt` only for agents that may know about the review"
        }
    }
}

fn hint_for_config(error: &ConfigError) -> &'static str {
    match error {
        ConfigError::NoFile { .. } | ConfigError::File(_) => {
            "name a readable UTF-8 file; `plenary init` writes a `council.yaml`"
        }
        ConfigError::Invalid { .. } if error.is_external() => {
            "set the variable, install the program, or remove the provider from the file"
        }
        ConfigError::Invalid { .. } => {
            "correct the file; `plenary init` writes one that explains every setting"
        }
        ConfigError::NoProvider => {
            "set a key such as ANTHROPIC_API_KEY, or name providers in council.yaml; a rehearsal (`--rehearse`, over MCP `rehearse: true`) needs none"
        }
        ConfigError::NoConclusionProvider => {
            "set a key such as ANTHROPIC_API_KEY, or name providers in council.yaml: models write the conclusion of a record that is no rehearsal"
        }
        ConfigError::NoTierRules => {
            "add `tier_rules` to council.yaml; the file of `plenary init` has an example. `plenary review FILE` needs none"
        }
        ConfigError::Variable { .. } => "set the variable to a valid value, or unset it",
        ConfigError::Flag { .. } => "`plenary help COMMAND` lists the valid values",
        ConfigError::NoWorkingFolder(_) => "change to a folder that exists",
        ConfigError::UnknownStore { .. } => "use a path, or `sqlite:PATH`",
        ConfigError::LinkedStore { .. } => {
            "remove the link if you did not create it, or name its target with `--store FILE`"
        }
        ConfigError::StoreIsFolder { .. } => "name a file, for example `--store plenary.db`",
        ConfigError::NotAFolder { .. } => "name a folder that exists",
        ConfigError::FileExists { .. } => "`--force` replaces it",
        ConfigError::NotTrusted(_) => {
            "run `plenary trust` to see these settings and to allow them; pipelines set PLENARY_TRUST=all"
        }
        ConfigError::TrustRecord { .. } => {
            "make the folder accessible to you only (chmod 700), or name the file with `--config FILE`"
        }
        ConfigError::NoStateFolder => "set HOME, or name the file with `--config FILE`",
    }
}
