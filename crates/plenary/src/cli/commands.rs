//! Arguments of all commands, parsed by clap into [`PlenaryArgs`]. The doc comments are `--help`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::clock::RealSystem;
use plenary_engine::error::Error;

use crate::cli::audit::AuditArgs;
use crate::cli::checks::{CheckModularityArgs, VerifyArgs};
use crate::cli::completions::CompletionsArgs;
use crate::cli::config::{ConfigArgs, TrustArgs};
use crate::cli::cost::CostArgs;
use crate::cli::council::align::AlignArgs;
use crate::cli::council::ask::AskArgs;
use crate::cli::council::conclude::ConcludeArgs;
use crate::cli::council::intervene::{DirectArgs, StopArgs, WhisperArgs};
use crate::cli::dialogue::command::DialogueCommand;
use crate::cli::dialogue::list::ListArgs;
use crate::cli::dialogue::queries::CiteArgs;
use crate::cli::dialogue::show::{ExportArgs, ShowArgs};
use crate::cli::doctor::DoctorArgs;
use crate::cli::due::DueArgs;
use crate::cli::ethos::command::EthosArgs;
use crate::cli::health::HealthArgs;
use crate::cli::help::{ManArgs, WIDTH_MAX, style_help};
use crate::cli::init::InitArgs;
use crate::cli::log::LogCommand;
use crate::cli::models::ModelsArgs;
use crate::cli::option_names::name_options;
use crate::cli::review::{OverrideArgs, ReviewArgs};
use crate::cli::runs::resume::ResumeArgs;
use crate::cli::runs::watch::{ReplayArgs, WatchArgs};
use crate::cli::servers::{McpArgs, ServeArgs};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::sweep::SweepArgs;
use crate::cli::ui::{TerminalUi, print_guide, report_error, report_parse_error, set_color_mode};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Cyan.on_default().bold())
    .usage(AnsiColor::Cyan.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Yellow.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0    success: every terminal state, SHIP, or a skipped file
  1    refused input, findings, or REVISE
  2    HOLD
  3    incomplete: too few answers, budget, deadline, no audit
  4    not found or unreadable
  5    configuration error, or no provider
  64   wrong command line
  70   internal error
  130  interrupted";

/// Let a panel of models argue, and record every step
///
/// `ask` puts a question to a council: each model answers alone, each reviews the others, a chair
/// reports, and a critic who sees only the conclusion audits it. `review` judges a document: SHIP,
/// REVISE or HOLD. `dialogue` keeps the record of a panel that a Judge leads. Agents use the same
/// commands through `mcp`. Every statement has an id, an author and a history.
///
/// `plenary ask "Tea or coffee?"` works at once: without a provider it rehearses offline.
/// `plenary doctor` checks your providers. `plenary help COMMAND` explains a command.
#[derive(Debug, Parser)]
#[command(name = "plenary", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = WIDTH_MAX)]
pub(crate) struct PlenaryArgs {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: CliCommand,
}

#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Print the result as one JSON document
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Use this configuration file [default: the nearest council.yaml upward from here, else the
    /// one in your configuration folder; environment: PLENARY_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    /// Use this store [default: the one that council.yaml names, else .plenary/plenary.db;
    /// environment: PLENARY_STORE]
    #[arg(long, global = true, value_name = "URL|PATH", help_heading = "Global options")]
    pub store: Option<String>,
    /// Also allow reading and writing files in this folder; repeatable
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub allow: Vec<PathBuf>,
    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = false,
        value_enum,
        help_heading = "Global options"
    )]
    pub color: ColorMode,
    /// Print long pages without a pager [the pager: environment PAGER, else less]
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_pager: bool,
    /// Print more messages
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Global options")]
    pub verbose: bool,
    /// Print no messages except errors
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub quiet: bool,
}

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMode {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

/// The commands by the groups in which the help lists them.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    #[command(flatten)]
    Ask(AskGroup),
    #[command(flatten)]
    Review(ReviewGroup),
    #[command(flatten)]
    Dialogue(DialogueGroup),
    #[command(flatten)]
    Record(RecordGroup),
    #[command(flatten)]
    Setup(SetupGroup),
}

/// Declares commands that all have `run(session)`.
macro_rules! commands {
    ($(#[$meta:meta])* pub(crate) enum $group:ident {
        $($(#[$attribute:meta])* $command:ident($arguments:ty),)+
    }) => {
        #[derive(Debug, clap::Subcommand)]
        $(#[$meta])*
        pub(crate) enum $group { $($(#[$attribute])* $command($arguments),)+ }

        impl $group {
            pub(crate) fn run(
                self,
                session: &$crate::cli::session::CliSession<'_>,
            ) -> Result<$crate::cli::session::ExitStatus, plenary_engine::error::Error> {
                match self { $(Self::$command(command) => command.run(session),)+ }
            }
        }
    };
}
pub(crate) use commands;

commands! {
    pub(crate) enum AskGroup {
        Ask(Box<AskArgs>),
        Align(Box<AlignArgs>),
        Resume(ResumeArgs),
        Watch(WatchArgs),
        Replay(ReplayArgs),
        Whisper(WhisperArgs),
        Direct(DirectArgs),
        Stop(StopArgs),
        Conclude(ConcludeArgs),
    }
}

commands! {
    pub(crate) enum ReviewGroup {
        Review(Box<ReviewArgs>),
        Sweep(Box<SweepArgs>),
        Override(OverrideArgs),
        #[command(subcommand)]
        Log(LogCommand),
        Audit(AuditArgs),
        CheckModularity(CheckModularityArgs),
    }
}

commands! {
    pub(crate) enum DialogueGroup {
        #[command(subcommand)]
        Dialogue(Box<DialogueCommand>),
        Ethos(Box<EthosArgs>),
    }
}

commands! {
    pub(crate) enum RecordGroup {
        List(ListArgs),
        Show(ShowArgs),
        Cite(CiteArgs),
        Export(ExportArgs),
        Cost(CostArgs),
        Due(DueArgs),
        Health(HealthArgs),
        Verify(VerifyArgs),
    }
}

commands! {
    pub(crate) enum SetupGroup {
        Init(InitArgs),
        Doctor(DoctorArgs),
        Models(ModelsArgs),
        Config(ConfigArgs),
        Trust(TrustArgs),
        Mcp(McpArgs),
        Serve(ServeArgs),
        Completions(CompletionsArgs),
        Man(ManArgs),
    }
}

impl CliCommand {
    /// Whether the command's own `--format` selects JSON, like `--json`.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Review(ReviewGroup::Review(review)) => review.wants_json(),
            Self::Review(ReviewGroup::Sweep(sweep)) => sweep.wants_json(),
            Self::Ask(_)
            | Self::Review(_)
            | Self::Dialogue(_)
            | Self::Record(_)
            | Self::Setup(_) => false,
        }
    }
}

/// Runs the program with these protocols and returns its exit code.
pub fn run_program(arguments: impl IntoIterator<Item = OsString>, protocols: Protocols) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.len() <= 1 {
        return print_guide();
    }
    let cli = match PlenaryArgs::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return report_parse_error(&style_help(error, &arguments), &arguments),
    };
    set_color_mode(cli.global.color);
    let mut ui = TerminalUi::new(&cli.global);
    ui.json |= cli.command.wants_json();
    match run_command(cli, &ui, protocols) {
        Ok(done) => done.exit_code(),
        // The reader of a stream closed the pipe on purpose.
        Err(error) if error.is_closed_pipe() => 0,
        Err(error) => report_error(&ui, &name_options(error, &arguments)),
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
        CliCommand::Ask(command) => command.run(&session),
        CliCommand::Review(command) => command.run(&session),
        CliCommand::Dialogue(command) => command.run(&session),
        CliCommand::Record(command) => command.run(&session),
        CliCommand::Setup(command) => command.run(&session),
    }
}
