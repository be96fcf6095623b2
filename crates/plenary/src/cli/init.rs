//! `init`: writes a `council.yaml` template or the agent skills, or prints an MCP configuration.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plenary_core::markers::skills::SKILLS;
use plenary_core::prompting::lens::REPEATED_LENSES;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::found_providers::{FoundProvider, find_providers, test_programs};
use plenary_engine::config::environment::EnvVariables;
use plenary_engine::config::error::ConfigError;
use plenary_engine::config::locate::{COUNCIL_FILE, COUNCIL_TEMPLATE};
use plenary_engine::error::Error;
use plenary_engine::files::read_write::{create_file, read_request_text, replace_file};
use serde::Serialize;
use serde_json::json;

use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;

/// Write a council.yaml, agent skills or MCP settings
///
/// Writes a council.yaml that explains every setting, into this folder or to the path of
/// `--config`. It lists the providers that were found by a key, a program or a local Ollama server;
/// the others are comments. A program must answer a test call of one word. A single provider takes three seats with different lenses. If none was
/// found, the list is a comment too, and a council fills its seats with what it finds later.
///
/// `--skills DIR` writes the skills instead: `council-ask` and `council-review` for an agent that
/// uses a council or the review gate, `alignment-play` for one that leads a dialogue as its Judge,
/// and `alignment-expert` for agents that play its experts, each as `DIR/NAME/SKILL.md`. Claude Code reads `~/.claude/skills`, or `.claude/skills` of a project.
///
/// `--mcp CLIENT` prints the configuration with which that agent program starts `plenary mcp`.
///
/// $ plenary init
///
/// $ plenary init --skills ~/.claude/skills
///
/// $ plenary init --mcp claude
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Write only the skills, into this folder
    #[arg(long, value_name = "DIR")]
    skills: Option<PathBuf>,
    /// Print only the MCP configuration for this agent program
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
            return write_skills(session, folder, self.force);
        }
        let path = session.loader.config_flag().unwrap_or(Path::new(COUNCIL_FILE));
        // A dangling link exists too.
        if !self.force && path.symlink_metadata().is_ok() {
            return Err(ConfigError::FileExists { path: path.to_owned() }.into());
        }
        let (found, failed) = find_working(session)?;
        let text = council_text(&found, &failed);
        match self.force {
            true => replace_file(path, text.as_bytes())?,
            false => create_file(path, text.as_bytes())?,
        }
        let written = InitReport { status: "success", path: path.display().to_string() };
        session
            .ui
            .print_result(&written, |written| format!("Wrote {}\n", safe_line(&written.path)))?;
        if !session.ui.json {
            session.ui.print_note(&describe_found(&found, &failed));
            session.ui.print_note("next:\n  plenary doctor");
        }
        Ok(ExitStatus::Ok)
    }
}

/// The providers that were found, and those whose program failed a test call.
fn find_working(
    session: &CliSession<'_>,
) -> Result<(Vec<FoundProvider>, Vec<FoundProvider>), Error> {
    let mut found = find_providers(&EnvVariables::from_process());
    let programs: Vec<&str> = found.iter().filter_map(FoundProvider::program).collect();
    if programs.is_empty() {
        return Ok((found, Vec::new()));
    }
    if !session.ui.json {
        let programs = programs.join(", ");
        session.ui.print_note(&format!("testing the login of {programs}, for 30 s at most…"));
    }
    test_programs(&mut found)?;
    Ok(found.into_iter().partition(|one| one.failure.is_none()))
}

/// The template with the providers that were found; the others are comments.
fn council_text(found: &[FoundProvider], failed: &[FoundProvider]) -> String {
    let Some((before, rest)) = COUNCIL_TEMPLATE.split_once("  providers:\n") else {
        return COUNCIL_TEMPLATE.to_owned();
    };
    let (known, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let mut list = match found.is_empty() {
        true => {
            "  # `plenary init` found no provider. Without this list, a council fills its three\n  \
             # seats with what it finds. Remove the `#` of at least two providers to choose\n  \
             # the seats.\n  # providers:\n"
                .to_owned()
        }
        false => "  providers:\n".to_owned(),
    };
    for (place, provider) in found.iter().enumerate() {
        let roles = if place == 0 { "participant, chair" } else { "participant" };
        list.push_str(&provider_text(provider, roles));
        if found.len() == 1 {
            let lenses = REPEATED_LENSES.join(", ");
            list.push_str(&format!("      lenses: [{lenses}]   # one model, three seats\n"));
        }
    }
    for block in known.split("    - ").filter(|block| !block.trim().is_empty()) {
        let name = block.lines().next().and_then(|line| line.strip_prefix("name: "));
        let is_it = |provider: &&FoundProvider| Some(provider.name()) == name;
        if let Some(provider) = failed.iter().find(is_it) {
            let reason = safe_line(provider.failure.as_deref().unwrap_or_default());
            list.push_str(&format!("  # {}: {reason}\n", provider.found_by()));
        }
        if !found.iter().any(|provider| is_it(&provider)) {
            let lines = format!("    - {}", block.trim_end());
            lines.lines().for_each(|line| {
                list.push_str(&format!("  # {}\n", line.strip_prefix("  ").unwrap_or(line)));
            });
        }
    }
    format!("{before}{list}\n{}", comment_roles(after, found))
}

fn provider_text(provider: &FoundProvider, roles: &str) -> String {
    let (found_by, name, model) = (provider.found_by(), provider.name(), provider.model());
    let mut text = format!("    # {found_by}\n    - name: {name}\n      role: [{roles}]\n");
    if let Some(url) = provider.base_url() {
        text.push_str(&format!("      dialect: openai\n      base_url: {url}\n"));
    }
    text.push_str(&match provider.takes_latest() {
        true => format!("      model: latest   # {model} or newer\n"),
        false => format!("      model: {model}\n"),
    });
    text
}

/// Comments the roles of providers that are not listed: the defaults fit every panel.
fn comment_roles(text: &str, listed: &[FoundProvider]) -> String {
    let names = |line: &str| listed.iter().any(|one| line.contains(one.name()));
    let is_conclusion = |line: &str| {
        ["conclusion:", "  synthesizer:", "  critic:", "  reviser:"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let comment = |line: &str| match line {
        line if is_conclusion(line) => format!("# {line}\n"),
        line if line.starts_with("  adjudicator:") && !names(line) => {
            format!("  # {}\n", line.trim())
        }
        line => format!("{line}\n"),
    };
    text.lines().map(comment).collect()
}

fn describe_found(found: &[FoundProvider], failed: &[FoundProvider]) -> String {
    let each = found.iter().map(|one| format!("{} ({})", one.name(), one.found_by()));
    let mut text = match (found.is_empty(), failed.is_empty()) {
        (false, _) => format!("found: {}", each.collect::<Vec<_>>().join(", ")),
        (true, true) => {
            "found no provider: set a key such as ANTHROPIC_API_KEY, install claude, codex or \
             gemini, or start Ollama"
                .to_owned()
        }
        (true, false) => "found no provider that answers".to_owned(),
    };
    for provider in failed {
        let reason = provider.failure.as_deref().unwrap_or_default();
        text.push_str(&format!("\nleft out {}: {reason}", provider.name()));
    }
    if !failed.is_empty() {
        text.push_str("\nwhen they answer, write the file again:\n  plenary init --force");
    }
    text
}

/// An agent program that starts MCP servers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentClient {
    Claude,
    Codex,
    Gemini,
    Cursor,
    Vscode,
}

/// Prints the configuration entry and says which file it belongs to.
fn print_client_config(session: &CliSession<'_>, client: AgentClient) -> Result<ExitStatus, Error> {
    // Use the absolute path: agent programs may have another PATH than the user.
    let program = std::env::current_exe().unwrap_or_else(|_| Path::new("plenary").to_owned());
    // Pass the store and configuration flags on, so that the server uses the same ones.
    let arguments: Vec<String> =
        ["mcp".to_owned()].into_iter().chain(session.loader.absolute_flags()?).collect();
    let mut server = json!({ "command": program.to_string_lossy(), "args": arguments });
    if let (AgentClient::Vscode, Some(fields)) = (client, server.as_object_mut()) {
        fields.insert("type".to_owned(), json!("stdio"));
    }
    let (place, key) = match client {
        AgentClient::Claude => ("`.mcp.json` of the project", "mcpServers"),
        AgentClient::Gemini => ("`.gemini/settings.json` of the project", "mcpServers"),
        AgentClient::Codex => ("`~/.codex/config.toml`", "mcp_servers"),
        AgentClient::Cursor => ("`.cursor/mcp.json` of the project", "mcpServers"),
        AgentClient::Vscode => ("`.vscode/mcp.json` of the project", "servers"),
    };
    let entry = json!({ key: { "plenary": server } });
    if session.ui.json {
        session.ui.print_result(&entry, |_| String::new())?;
        return Ok(ExitStatus::Ok);
    }
    let text = match client {
        AgentClient::Claude | AgentClient::Gemini | AgentClient::Cursor | AgentClient::Vscode => {
            format!("{entry:#}")
        }
        // Strings and lists of strings have the same syntax in TOML and JSON.
        AgentClient::Codex => {
            let field = |name: &str| format!("{name} = {}", json!(server.get(name)));
            format!("[mcp_servers.plenary]\n{}\n{}", field("command"), field("args"))
        }
    };
    session.ui.print_data(&text, DataFormat::Text)?;
    session
        .ui
        .print_note(&format!("merge it into {place}; it serves the folder the agent works in"));
    Ok(ExitStatus::Ok)
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

/// Writes each skill to `DIR/NAME/SKILL.md`. Without `force`, an existing file that differs is an
/// error, and nothing is written.
fn write_skills(session: &CliSession<'_>, folder: &Path, force: bool) -> Result<ExitStatus, Error> {
    let path_of = |name: &str| folder.join(name).join("SKILL.md");
    let changed = |path: &Path, text: &str| {
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
        !(is_file && read_request_text(path).is_ok_and(|there| there == text))
    };
    for skill in &SKILLS {
        let path = path_of(skill.name);
        // A dangling link exists too.
        if !force && path.symlink_metadata().is_ok() && changed(&path, skill.text) {
            return Err(ConfigError::FileExists { path }.into());
        }
    }
    let mut skills = Vec::with_capacity(SKILLS.len());
    for skill in &SKILLS {
        let path = path_of(skill.name);
        let changed = changed(&path, skill.text);
        if changed {
            replace_file(&path, skill.text.as_bytes())?;
        }
        skills.push(SkillReport { name: skill.name, path: path.display().to_string(), changed });
    }
    let written = SkillsReport { status: "success", skills };
    session.ui.print_result(&written, skills_text)?;
    if !session.ui.json {
        session.ui.print_note("next: ask your agent to put a question to a council");
    }
    Ok(ExitStatus::Ok)
}

fn skills_text(written: &SkillsReport) -> String {
    let lines = written.skills.iter().map(|skill| match skill.changed {
        true => format!("Wrote {}\n", safe_line(&skill.path)),
        false => format!("{} is there already\n", safe_line(&skill.path)),
    });
    lines.collect()
}
