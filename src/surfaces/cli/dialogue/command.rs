//! `plenary dialogue`: its subcommands and the shared `--data` option.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{extract, lifecycle, queries, rounds};
use crate::error::Error;
use crate::export::safe_text;
use crate::record::RequestWarning;
use crate::surfaces::cli::session::{CliArguments, CliSession, ExitStatus};
use crate::surfaces::cli::ui::TerminalUi;

/// Run an expert dialogue: open it, register its rounds, give its verdicts
///
/// Every operation takes its arguments as JSON with `--data FILE` (or `-` for
/// standard input), the same as the MCP tool of that name, and prints the tool's
/// result with `--json`. Options on the command line win over the file.
#[derive(Debug, Subcommand)]
pub(crate) enum DialogueCommand {
    Create(lifecycle::CreateArgs),
    Panel(lifecycle::PanelArgs),
    Context(rounds::ContextArgs),
    Prompts(rounds::PromptsArgs),
    Expert(lifecycle::ExpertArgs),
    Extract(extract::ExtractArgs),
    Register(rounds::RegisterArgs),
    Verdict(rounds::VerdictArgs),
    Export(queries::ExportArgs),
    Progress(rounds::ProgressArgs),
    List(queries::ListArgs),
    Show(queries::ShowArgs),
    Cite(queries::CiteArgs),
    Similar(queries::SimilarArgs),
    Stats(queries::StatsArgs),
    Abandon(lifecycle::AbandonArgs),
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
    pub(super) fn arguments(&self) -> Result<CliArguments, Error> {
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
pub(super) fn warn(ui: &TerminalUi, warnings: &[RequestWarning]) {
    if ui.json {
        return;
    }
    for warning in warnings {
        ui.print_note(&format!("warning: {}", safe_text::safe_line(&warning.to_sentence())));
    }
}
