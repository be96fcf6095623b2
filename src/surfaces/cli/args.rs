//! Arguments of all commands, parsed by clap into [`PlenaryArgs`]. The doc comments are `--help`.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};

use super::council::{ask, conclude, intervene};
use super::dialogue::{DialogueCommand, queries};
use super::doctor::DoctorArgs;
use super::gate::{audit, log, override_verdict, review, sweep};
use super::runs::{resume, watch};
use super::{config, due, health, init, modularity, servers, trust, verify};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Cyan.on_default().bold())
    .usage(AnsiColor::Cyan.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Yellow.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0   done: Clean, Revised and Unconverged alike; SHIP, or skipped
  1   refused, REVISE, or findings
  2   HOLD
  3   incomplete (quorum, budget, deadline, no audit); `plenary resume`
  4   not found or unreadable
  5   configuration
  64  usage
  70  internal error
  130 interrupted";

/// Deliberations on the record: who said what, what it rested on, how it ended.
///
/// `ask` puts a question before a council of models: each answers alone, each reviews
/// the others, a chair reports, and the conclusion is audited by somebody who saw nothing
/// else. `review` puts a document before a gate: SHIP, REVISE or HOLD. `dialogue` keeps the
/// record of a panel that somebody leads, round by round. Agents do all of it through `mcp`.
/// Everything said has an id, an author and a history.
///
/// Begin with `plenary ask "…"`; it needs no key. `plenary doctor` tells who can be asked.
#[derive(Debug, Parser)]
#[command(name = "plenary", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 100)]
pub(super) struct PlenaryArgs {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: CliCommand,
}

#[derive(Debug, Args)]
pub(super) struct GlobalArgs {
    /// Print one JSON document instead of text.
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// The project's `council.yaml` [default: found upward from here, else in the user's config
    /// folder; environment: PLENARY_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    /// Where dialogues are kept [default: what `council.yaml` says, else `.plenary/plenary.db`
    /// beside it, or here; environment: PLENARY_STORE]
    #[arg(long, global = true, value_name = "URL|PATH", help_heading = "Global options")]
    pub store: Option<String>,
    /// A further folder that files may be written to. May be repeated.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub allow: Vec<PathBuf>,
    /// Say more on standard error.
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Global options")]
    pub verbose: bool,
    /// Say nothing on standard error but errors.
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
    Ask(Box<ask::AskArgs>),
    Review(Box<review::ReviewArgs>),
    Sweep(Box<sweep::SweepArgs>),
    Override(override_verdict::OverrideArgs),
    #[command(subcommand)]
    Log(log::LogCommand),
    Audit(audit::AuditArgs),
    Resume(resume::ResumeArgs),
    Watch(watch::WatchArgs),
    Replay(watch::ReplayArgs),
    Whisper(intervene::WhisperArgs),
    Direct(intervene::DirectArgs),
    Stop(intervene::StopArgs),
    Conclude(conclude::ConcludeArgs),
    #[command(subcommand)]
    Dialogue(Box<DialogueCommand>),
    List(queries::ListArgs),
    Show(queries::ShowArgs),
    Cite(queries::CiteArgs),
    Export(queries::ExportArgs),
    Health(health::HealthArgs),
    Due(due::DueArgs),
    Verify(verify::VerifyArgs),
    CheckModularity(modularity::CheckModularityArgs),
    Mcp(servers::McpArgs),
    Serve(servers::ServeArgs),
    Init(init::InitArgs),
    Config(config::ConfigArgs),
    Trust(trust::TrustArgs),
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    ///
    /// For bash: plenary completions bash > ~/.local/share/bash-completion/completions/plenary
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

impl CliCommand {
    /// Whether the command's own `--format` selects JSON, like `--json`.
    pub(super) fn wants_json(&self) -> bool {
        let of_review = matches!(self, Self::Review(review) if review.wants_json());
        of_review || matches!(self, Self::Sweep(sweep) if sweep.wants_json())
    }
}
