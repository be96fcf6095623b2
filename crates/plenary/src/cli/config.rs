//! `trust`: shows the risky settings of a project's `council.yaml` and records the user's consent.

use std::path::{Path, PathBuf};

use clap::Args;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::TextTable;
use plenary_engine::config::environment::EnvVariables;
use plenary_engine::config::error::ConfigError;
use plenary_engine::config::locate::{COUNCIL_FILE, ConfigFlags, find_project_file};
use plenary_engine::config::settle_sections::EffectiveSetting;
use plenary_engine::config::trust::project::{
    TrustReport, UntrustedFile, inspect_trust, record_trust,
};
use plenary_engine::config::trust::record::{FileState, TrustedFile, list_trusted, remove_trust};
use plenary_engine::config::trust::risks::RiskySetting;
use plenary_engine::error::Error;
use serde::Serialize;
use serde_json::Value;

use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::{confirm_prompt, print_message};

/// Allow a council.yaml to run programs and send keys
///
/// Another person may have written the council.yaml of a project. Plenary refuses some settings
/// until you trust the file: programs (`command`, `mcp`), other addresses (`base_url`), other key
/// variables (`api_key_env`) and files outside the project. It refuses every setting of a file that
/// belongs to another user.
///
/// This command shows these settings and asks whether you trust the file. Trust applies to this
/// file with this content, not to the programs and prompt files that it names.
///
/// A file of `--config` or PLENARY_CONFIG, and the file in your own configuration folder, need no
/// trust. Pipelines that run trusted code set PLENARY_TRUST=all. Exit code 0 if the file is trusted
/// or needs no trust, 1 if it is not trusted, 5 if it has errors.
///
/// $ plenary trust
///
/// $ plenary trust --list
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The file [default: the nearest council.yaml upward from here]
    file: Option<PathBuf>,
    /// Trust the file without a question
    #[arg(long, short)]
    yes: bool,
    /// List the files that you trust
    #[arg(long, conflicts_with_all = ["file", "yes", "remove"])]
    list: bool,
    /// Stop trusting the file
    #[arg(long, conflicts_with = "yes")]
    remove: bool,
}

/// The decision about a file.
#[derive(Debug, Serialize)]
struct TrustAnswer<'a> {
    status: TrustStatus,
    path: String,
    sha256: &'a str,
    settings: &'a [RiskySetting],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum TrustStatus {
    Trusted,
    /// The file has no risky setting.
    NotNeeded,
    NotTrusted,
}

#[derive(Debug, Serialize)]
struct TrustList {
    status: &'static str,
    files: Vec<TrustedFile>,
}

#[derive(Debug, Serialize)]
struct TrustRemoval {
    status: &'static str,
    path: String,
    removed: usize,
}

impl TrustArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let environment = EnvVariables::from_process();
        if self.list {
            return list_trusted_files(session, &environment);
        }
        let path = self.file_path(session, &environment)?;
        if self.remove {
            return remove_trusted_file(session, &path, &environment);
        }
        let report = inspect_trust(&path, &environment)?;
        let file = &report.file;
        if file.settings.is_empty() || report.is_recorded {
            let is_needed = !file.settings.is_empty();
            let status = if is_needed { TrustStatus::Trusted } else { TrustStatus::NotNeeded };
            return print_answer(session, file, status, is_needed);
        }
        let is_asked = !self.yes && session.ui.can_ask();
        if self.yes || is_asked && confirm_trust(file) {
            record_trust(file, &environment)?;
            return print_answer(session, file, TrustStatus::Trusted, !is_asked);
        }
        let done = print_answer(session, file, TrustStatus::NotTrusted, !is_asked)?;
        if !is_asked && !session.ui.json {
            session.ui.print_note("`plenary trust --yes` trusts it without a question");
        }
        Ok(done)
    }

    /// The file that the user named; otherwise the one that the search finds.
    fn file_path(
        &self,
        session: &CliSession<'_>,
        environment: &EnvVariables,
    ) -> Result<PathBuf, Error> {
        if let Some(path) = self.file.as_deref().or(session.loader.config_flag()) {
            return Ok(path.to_owned());
        }
        let found = find_project_file(&ConfigFlags::default(), environment)?;
        Ok(found.ok_or_else(|| ConfigError::NoFile { path: COUNCIL_FILE.into() })?)
    }
}

/// Lists the risky settings on stderr and asks whether the user trusts the file.
pub(crate) fn confirm_trust(file: &UntrustedFile) -> bool {
    print_message(&format!("{} asks for:", safe_line(&file.path().to_string_lossy())));
    print_message(&settings_list(&file.settings));
    confirm_prompt("Do you trust this file with this content?")
}

/// Prints the decision. A prompt at the terminal has already listed the settings.
fn print_answer(
    session: &CliSession<'_>,
    file: &UntrustedFile,
    status: TrustStatus,
    lists_settings: bool,
) -> Result<ExitStatus, Error> {
    let path = file.path().to_string_lossy().into_owned();
    let settings = file.settings.as_slice();
    let answer = TrustAnswer { status, path, sha256: file.sha256(), settings };
    session.ui.print_result(&answer, |answer| answer_text(answer, lists_settings))?;
    Ok(match status {
        TrustStatus::Trusted | TrustStatus::NotNeeded => ExitStatus::Ok,
        TrustStatus::NotTrusted => ExitStatus::WithFindings,
    })
}

fn answer_text(answer: &TrustAnswer<'_>, lists_settings: bool) -> String {
    let path = safe_line(&answer.path);
    let listed = match lists_settings {
        true => format!("\n{}", settings_list(answer.settings)),
        false => String::new(),
    };
    match answer.status {
        TrustStatus::NotNeeded => format!("{path} asks for nothing that needs trust."),
        TrustStatus::Trusted => format!("Trusted with this content: {path}{listed}"),
        TrustStatus::NotTrusted => format!("Not trusted: {path}{listed}"),
    }
}

/// One line per setting, with its line number in the file.
fn settings_list(settings: &[RiskySetting]) -> String {
    let lines = settings.iter().map(|setting| {
        let detail = safe_line(&setting.detail);
        let place = match (&setting.key, setting.line) {
            (Some(key), Some(line)) => format!("line {line}, {}: ", safe_line(key)),
            (Some(key), None) => format!("{}: ", safe_line(key)),
            (None, _) => String::new(),
        };
        format!("  - {place}{detail}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn list_trusted_files(
    session: &CliSession<'_>,
    environment: &EnvVariables,
) -> Result<ExitStatus, Error> {
    let list = TrustList { status: "success", files: list_trusted(environment)? };
    let width = session.ui.table_width();
    session.ui.print_result(&list, |list| {
        if list.files.is_empty() {
            return "No file is trusted.".to_owned();
        }
        let mut table = TextTable::new(&["FILE", "CONTENT", "SHA-256"]);
        for file in &list.files {
            let state = match file.state {
                FileState::Unchanged => "unchanged",
                FileState::Changed => "changed since",
                FileState::Missing => "missing",
            };
            table.add_row([file.path.as_str(), state, &file.sha256]);
        }
        table.draw_table(width)
    })?;
    Ok(ExitStatus::Ok)
}

fn remove_trusted_file(
    session: &CliSession<'_>,
    path: &Path,
    environment: &EnvVariables,
) -> Result<ExitStatus, Error> {
    let removed = remove_trust(path, environment)?;
    let path = path.to_string_lossy().into_owned();
    let removal = TrustRemoval { status: "success", path, removed };
    session.ui.print_result(&removal, |removal| {
        let path = safe_line(&removal.path);
        match removal.removed {
            0 => format!("{path} was not trusted."),
            _ => format!("No longer trusted: {path}"),
        }
    })?;
    Ok(ExitStatus::Ok)
}

/// Show the effective settings and their sources
///
/// Options override the environment, the environment overrides council.yaml, and council.yaml
/// overrides the known providers and the defaults. Of a key it prints the variable and whether it
/// is set, never the value. It reports all errors of the file; the exit code is then 5. It also
/// shows settings of a file that you do not trust; other commands refuse them until
/// `plenary trust` allows them.
///
/// $ plenary config
///
/// $ plenary config --json
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {}

#[derive(Debug, Serialize)]
struct ConfigReport {
    status: &'static str,
    settings: Vec<EffectiveSetting>,
    /// Whether the project file is trusted; `None` if no file was found or the user named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted: Option<bool>,
}

impl ConfigArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let settings = session.loader.load_displayed_settings()?.origins;
        let trusted = session.loader.read_trust_report()?.as_ref().map(TrustReport::is_trusted);
        let shown = ConfigReport { status: "success", settings, trusted };
        let width = session.ui.table_width();
        session.ui.print_result(&shown, |shown| config_text(&shown.settings, width))?;
        if trusted == Some(false) {
            session
                .ui
                .print_note("this file is not trusted; `plenary trust` shows its risky settings");
        }
        session.ui.print_detail("`plenary doctor` shows whether each provider can be used");
        Ok(ExitStatus::Ok)
    }
}

fn config_text(settings: &[EffectiveSetting], width: usize) -> String {
    let mut table = TextTable::new(&["KEY", "VALUE", "SOURCE"]);
    for setting in settings {
        table.add_row([
            setting.key.clone(),
            value_text(&setting.value),
            setting.source.to_string(),
        ]);
    }
    table.draw_table(width)
}

/// Formats a value as it is written in the file.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(value_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, field)| format!("{key}: {}", value_text(field)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
