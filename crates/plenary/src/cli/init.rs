//! `init`: writes a `council.yaml` template or the agent skills, or prints an MCP configuration.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plenary_core::markers::skills::SKILLS;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::config::error::ConfigError;
use plenary_engine::config::locate::COUNCIL_FILE;
use plenary_engine::config::project_files::COUNCIL_TEMPLATE;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::{create_file, read_request_text, replace_file};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Write a council.yaml in which every setting is explained; or prepare an agent
///
/// It goes into this folder, or to the path that `--config` names. Three providers
/// are in it: keep those you have a key or a program for, and take the others out.
///
/// With `--skills DIR` it writes the skills instead, and no council.yaml:
/// `DIR/alignment-play/SKILL.md` for an agent that leads a dialogue as its Judge, and
/// `DIR/alignment-expert/SKILL.md` for those that play its experts. Claude Code looks in
/// `~/.claude/skills`, or in `.claude/skills` of a project.
///
/// With `--mcp claude` (codex, gemini) it prints how to tell that program of `plenary mcp`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Replace files that are there and say something else.
    #[arg(long)]
    force: bool,
    /// Write the skills into this folder, and nothing else.
    #[arg(long, value_name = "DIR")]
    skills: Option<PathBuf>,
    /// Print what an agent program's configuration needs to start the MCP server, and nothing else.
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["skills", "force"])]
    mcp: Option<AgentClient>,
}

#[derive(Debug, Serialize)]
struct InitReport {
    status: &'static str,
    path: String,
}

impl InitArgs {
    pub(crate) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        if let Some(client) = self.mcp {
            return print_client_config(session, client);
        }
        if let Some(folder) = &self.skills {
            let others = if self.force { OverwriteMode::Replace } else { OverwriteMode::Keep };
            return write_skills(session, folder, others);
        }
        let path = session.loader.config_flag().unwrap_or(Path::new(COUNCIL_FILE));
        // A dangling link exists too.
        if !self.force && path.symlink_metadata().is_ok() {
            return Err(ConfigError::FileExists { path: path.to_owned() }.into());
        }
        match self.force {
            true => replace_file(path, COUNCIL_TEMPLATE.as_bytes())?,
            false => create_file(path, COUNCIL_TEMPLATE.as_bytes())?,
        }
        let written = InitReport { status: "success", path: path.display().to_string() };
        session
            .ui
            .print_result(&written, |written| format!("Wrote {}\n", safe_line(&written.path)))?;
        if !session.ui.json {
            session
                .ui
                .print_note("next: take out the providers you do not have, then `plenary doctor`");
        }
        Ok(ExitStatus::Ok)
    }
}

/// An agent program that starts MCP servers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentClient {
    Claude,
    Codex,
    Gemini,
}

/// Prints the configuration entry and says which file it belongs to.
pub(crate) fn print_client_config(
    session: &CliSession<'_>,
    client: AgentClient,
) -> Result<ExitStatus, Error> {
    // Use the absolute path: agent programs may have another PATH than the user.
    let program = std::env::current_exe().unwrap_or_else(|_| Path::new("plenary").to_owned());
    // Pass the store and configuration flags on, so that the server uses the same ones.
    let arguments: Vec<String> =
        ["mcp".to_owned()].into_iter().chain(session.loader.absolute_flags()?).collect();
    let server = json!({ "command": program.to_string_lossy(), "args": arguments });
    let entry = server_entry(client, &server);
    match session.ui.json {
        true => session.ui.print_result(&entry, |_| String::new())?,
        false => {
            session.ui.print_data(&client_config_text(client, &entry, &server), DataFormat::Text)?
        }
    }
    if !session.ui.json {
        let place = config_place(client);
        session
            .ui
            .print_note(&format!("merge it into {place}; it serves the folder the agent works in"));
    }
    Ok(ExitStatus::Ok)
}

fn config_place(client: AgentClient) -> &'static str {
    match client {
        AgentClient::Claude => "`.mcp.json` of the project",
        AgentClient::Gemini => "`.gemini/settings.json` of the project",
        AgentClient::Codex => "`~/.codex/config.toml`",
    }
}

/// The entry as JSON, under the key that the agent program expects.
fn server_entry(client: AgentClient, server: &Value) -> Value {
    match client {
        AgentClient::Claude | AgentClient::Gemini => json!({ "mcpServers": { "plenary": server } }),
        AgentClient::Codex => json!({ "mcp_servers": { "plenary": server } }),
    }
}

/// The entry in the syntax of the program's configuration file.
fn client_config_text(client: AgentClient, entry: &Value, server: &Value) -> String {
    match client {
        AgentClient::Claude | AgentClient::Gemini => format!("{entry:#}"),
        AgentClient::Codex => {
            // Strings and lists of strings have the same syntax in TOML and JSON.
            let fields =
                ["command", "args"].map(|name| format!("{name} = {}", json!(server.get(name))));
            format!("[mcp_servers.plenary]\n{}", fields.join("\n"))
        }
    }
}

#[derive(Debug, Serialize)]
struct SkillsReport {
    status: &'static str,
    skills: Vec<SkillReport>,
}

#[derive(Debug, Serialize)]
struct SkillReport {
    name: &'static str,
    path: String,
    /// Whether the file is new or its content changed.
    changed: bool,
}

/// What exists at the path of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExistingFile {
    Missing,
    Same,
    Different,
}

/// What to do with existing files that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverwriteMode {
    /// Write nothing at all.
    Keep,
    Replace,
}

/// Writes each skill to `DIR/NAME/SKILL.md`.
pub(crate) fn write_skills(
    session: &CliSession<'_>,
    folder: &Path,
    others: OverwriteMode,
) -> Result<ExitStatus, Error> {
    let places: Vec<(PathBuf, ExistingFile)> = SKILLS
        .iter()
        .map(|skill| folder.join(skill.name).join("SKILL.md"))
        .zip(&SKILLS)
        .map(|(path, skill)| {
            let existing = compare_existing(&path, skill.text);
            (path, existing)
        })
        .collect();
    let other = places.iter().find(|(_, existing)| *existing == ExistingFile::Different);
    if let Some((path, _)) = other.filter(|_| others == OverwriteMode::Keep) {
        return Err(ConfigError::FileExists { path: path.clone() }.into());
    }
    let mut skills = Vec::with_capacity(places.len());
    for (skill, (path, existing)) in SKILLS.iter().zip(&places) {
        let changed = *existing != ExistingFile::Same;
        if changed {
            replace_file(path, skill.text.as_bytes())?;
        }
        skills.push(SkillReport { name: skill.name, path: path.display().to_string(), changed });
    }
    let written = SkillsReport { status: "success", skills };
    session.ui.print_result(&written, skills_text)?;
    if !session.ui.json {
        session.ui.print_note("next: ask your agent to lead an alignment dialogue");
    }
    Ok(ExitStatus::Ok)
}

fn compare_existing(path: &Path, text: &str) -> ExistingFile {
    // A dangling link exists too.
    if path.symlink_metadata().is_err() {
        return ExistingFile::Missing;
    }
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let is_same = is_file && read_request_text(path).is_ok_and(|there| there == text);
    if is_same { ExistingFile::Same } else { ExistingFile::Different }
}

fn skills_text(written: &SkillsReport) -> String {
    let lines = written.skills.iter().map(|skill| match skill.changed {
        true => format!("Wrote {}\n", safe_line(&skill.path)),
        false => format!("{} is there already\n", safe_line(&skill.path)),
    });
    lines.collect()
}
