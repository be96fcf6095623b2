//! `plenary dialogue`: its subcommands and the shared `--data` option.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plenary_core::dialogue::diagnostics::RequestWarning;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::error::Error;

use crate::cli::dialogue::extract::ExtractArgs;
use crate::cli::dialogue::lifecycle::{AbandonArgs, CreateArgs, ExpertArgs, PanelArgs};
use crate::cli::dialogue::queries::{
    CiteArgs, ExportArgs, ListArgs, ShowArgs, SimilarArgs, StatsArgs,
};
use crate::cli::dialogue::rounds::{
    ContextArgs, ProgressArgs, PromptsArgs, RegisterArgs, VerdictArgs,
};
use crate::cli::session::{CliArguments, CliSession, ExitStatus};
use crate::cli::ui::TerminalUi;

/// Run an expert dialogue: open it, register its rounds, give its verdicts
///
/// Every operation takes its arguments as JSON with `--data FILE` (or `-` for
/// standard input), the same as the MCP tool of that name, and prints the tool's
/// result with `--json`. Options on the command line win over the file.
#[derive(Debug, Subcommand)]
pub(crate) enum DialogueCommand {
    Create(CreateArgs),
    Panel(PanelArgs),
    Context(ContextArgs),
    Prompts(PromptsArgs),
    Expert(ExpertArgs),
    Extract(ExtractArgs),
    Register(RegisterArgs),
    Verdict(VerdictArgs),
    Export(ExportArgs),
    Progress(ProgressArgs),
    List(ListArgs),
    Show(ShowArgs),
    Cite(CiteArgs),
    Similar(SimilarArgs),
    Stats(StatsArgs),
    Abandon(AbandonArgs),
}

/// The arguments of the operation, as JSON.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// The arguments as a JSON object, from a file or `-` for standard input.
    #[arg(long, value_name = "FILE|-")]
    pub data: Option<PathBuf>,
}

impl DataArgs {
    /// What the file says; options are put on top.
    pub(crate) fn arguments(&self) -> Result<CliArguments, Error> {
        CliArguments::new(self.data.as_deref())
    }
}

impl DialogueCommand {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        match self {
            Self::Create(command) => command.run(session),
            Self::Panel(command) => command.run(session),
            Self::Context(command) => command.run(session),
            Self::Prompts(command) => command.run(session),
            Self::Expert(command) => command.run(session),
            Self::Extract(command) => command.run(session),
            Self::Register(command) => command.run(session),
            Self::Verdict(command) => command.run(session),
            Self::Export(command) => command.run(session),
            Self::Progress(command) => command.run(session),
            Self::List(command) => command.run(session),
            Self::Show(command) => command.run(session),
            Self::Cite(command) => command.run(session),
            Self::Similar(command) => command.run(session),
            Self::Stats(command) => command.run(session),
            Self::Abandon(command) => command.run(session),
        }
    }
}

/// Warnings are talk; with `--json` they are in the document already.
pub(crate) fn warn(ui: &TerminalUi, warnings: &[RequestWarning]) {
    if ui.json {
        return;
    }
    for warning in warnings {
        ui.print_note(&format!("warning: {}", safe_line(&warning.to_sentence())));
    }
}
