//! Arguments of all commands, parsed by clap into [`PlenaryArgs`]. The doc comments are `--help`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory, Parser, Subcommand};
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::clock::RealSystem;
use plenary_engine::error::Error;

use crate::cli::audit::AuditArgs;
use crate::cli::checks::{CheckModularityArgs, VerifyArgs};
use crate::cli::config::{ConfigArgs, TrustArgs};
use crate::cli::council::ask::AskArgs;
use crate::cli::council::conclude::ConcludeArgs;
use crate::cli::council::intervene::{DirectArgs, StopArgs, WhisperArgs};
use crate::cli::dialogue::command::DialogueCommand;
use crate::cli::dialogue::queries::{CiteArgs, ExportArgs, ListArgs, ShowArgs};
use crate::cli::doctor::DoctorArgs;
use crate::cli::due::DueArgs;
use crate::cli::health::HealthArgs;
use crate::cli::init::InitArgs;
use crate::cli::log::LogCommand;
use crate::cli::review::{OverrideArgs, ReviewArgs};
use crate::cli::runs::resume::ResumeArgs;
use crate::cli::runs::watch::{ReplayArgs, WatchArgs};
use crate::cli::servers::{McpArgs, ServeArgs};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::sweep::SweepArgs;
use crate::cli::terminal_text::DataFormat;
use crate::cli::ui::{TerminalUi, report_error, report_parse_error};

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
/// the others, a chair reports, and the conclusion is audited by a critic who saw nothing
/// else. `review` puts a document before a gate: SHIP, REVISE or HOLD. `dialogue` keeps the
/// record of a panel that a Judge leads, round by round. Agents do all of it through `mcp`.
/// Everything said has an id, an author and a history.
///
/// Begin with `plenary ask "…"`; it needs no key. `plenary doctor` tells who can be asked.
#[derive(Debug, Parser)]
#[command(name = "plenary", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct PlenaryArgs {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: CliCommand,
}

#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
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
pub(crate) enum CliCommand {
    Ask(Box<AskArgs>),
    Review(Box<ReviewArgs>),
    Sweep(Box<SweepArgs>),
    Override(OverrideArgs),
    #[command(subcommand)]
    Log(LogCommand),
    Audit(AuditArgs),
    Resume(ResumeArgs),
    Watch(WatchArgs),
    Replay(ReplayArgs),
    Whisper(WhisperArgs),
    Direct(DirectArgs),
    Stop(StopArgs),
    Conclude(ConcludeArgs),
    #[command(subcommand)]
    Dialogue(Box<DialogueCommand>),
    List(ListArgs),
    Show(ShowArgs),
    Cite(CiteArgs),
    Export(ExportArgs),
    Health(HealthArgs),
    Due(DueArgs),
    Verify(VerifyArgs),
    CheckModularity(CheckModularityArgs),
    Mcp(McpArgs),
    Serve(ServeArgs),
    Init(InitArgs),
    Config(ConfigArgs),
    Trust(TrustArgs),
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
    pub(crate) fn wants_json(&self) -> bool {
        let of_review = matches!(self, Self::Review(review) if review.wants_json());
        of_review || matches!(self, Self::Sweep(sweep) if sweep.wants_json())
    }
}

/// Runs the program with these protocols and returns its exit code.
pub fn run_program(arguments: impl IntoIterator<Item = OsString>, protocols: Protocols) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match PlenaryArgs::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return report_parse_error(&error, &arguments),
    };
    let mut ui = TerminalUi::new(&cli.global);
    ui.json |= cli.command.wants_json();
    match run_command(cli, &ui, protocols) {
        Ok(done) => done.exit_code(),
        // The reader of a stream closed the pipe on purpose.
        Err(error) if error.is_closed_pipe() => 0,
        Err(error) => report_error(&ui, &error),
    }
}

fn run_command(
    cli: PlenaryArgs,
    ui: &TerminalUi,
    protocols: Protocols,
) -> Result<ExitStatus, Error> {
    if let Some(year) = RealSystem.impossible_year() {
        return Err(Error::Clock { year });
    }
    let session = CliSession::new(&cli.global, ui, protocols);
    match cli.command {
        CliCommand::Ask(ask) => ask.run(&session),
        CliCommand::Review(review) => review.run(&session),
        CliCommand::Sweep(sweep) => sweep.run(&session),
        CliCommand::Override(command) => command.run(&session),
        CliCommand::Log(command) => command.run(&session),
        CliCommand::Audit(audit) => audit.run(&session),
        CliCommand::Resume(resume) => resume.run(&session),
        CliCommand::Watch(watch) => watch.run(&session),
        CliCommand::Replay(replay) => replay.run(&session),
        CliCommand::Whisper(whisper) => whisper.run(&session),
        CliCommand::Direct(direct) => direct.run(&session),
        CliCommand::Stop(stop) => stop.run(&session),
        CliCommand::Conclude(conclude) => conclude.run(&session),
        CliCommand::Dialogue(command) => command.run(&session),
        CliCommand::List(list) => list.run(&session),
        CliCommand::Show(show) => show.run(&session),
        CliCommand::Cite(cite) => cite.run(&session),
        CliCommand::Export(export) => export.run(&session),
        CliCommand::Health(health) => health.run(&session),
        CliCommand::Due(due) => due.run(&session),
        CliCommand::Verify(verify) => verify.run(&session),
        CliCommand::CheckModularity(check) => check.run(&session),
        CliCommand::Mcp(mcp) => mcp.run(&session),
        CliCommand::Serve(serve) => serve.run(&session),
        CliCommand::Init(init) => init.run(&session),
        CliCommand::Config(config) => config.run(&session),
        CliCommand::Trust(trust) => trust.run(&session),
        CliCommand::Doctor(doctor) => doctor.run(&session),
        CliCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut PlenaryArgs::command(), "plenary", &mut script);
            ui.print_data(&String::from_utf8_lossy(&script), DataFormat::Text)?;
            Ok(ExitStatus::Ok)
        }
    }
}
