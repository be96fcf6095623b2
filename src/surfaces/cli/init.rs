//! `init`: writes a `council.yaml` template or the agent skills, or prints an MCP configuration.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::clients::{AgentClient, print_client_config};
use super::session::{CliSession, ExitStatus};
use super::skills::{OverwriteMode, write_skills};
use crate::config::{COUNCIL_FILE, COUNCIL_TEMPLATE, ConfigError};
use crate::error::Error;
use crate::export::safe_text;
use crate::files;

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
pub(super) struct InitArgs {
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
    pub(super) fn run(&self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
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
            true => files::replace_file(path, COUNCIL_TEMPLATE.as_bytes())?,
            false => files::create_file(path, COUNCIL_TEMPLATE.as_bytes())?,
        }
        let written = InitReport { status: "success", path: path.display().to_string() };
        session.ui.print_result(&written, |written| {
            format!("Wrote {}\n", safe_text::safe_line(&written.path))
        })?;
        if !session.ui.json {
            session
                .ui
                .print_note("next: take out the providers you do not have, then `plenary doctor`");
        }
        Ok(ExitStatus::Ok)
    }
}
