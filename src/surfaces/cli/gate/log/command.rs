//! Subcommands of `log`.

use clap::Subcommand;

use super::{export, import, repair, tail};
use crate::error::Error;
use crate::surfaces::cli::session::{CliSession, ExitStatus};

/// Look at the verdict log, take lines out of it or in, and mend its file
///
/// Every review of the gate is a row of the store and a line of `council_log.jsonl`, which is
/// written from it. The file can be torn, lost or edited: `plenary log repair` writes it anew.
///
///   plenary log tail -n 20 --type linkedin_post
///   plenary log export --since 4w > verdicts.jsonl
///   plenary log import older.jsonl
#[derive(Debug, Subcommand)]
#[command(verbatim_doc_comment)]
pub(crate) enum LogCommand {
    Tail(tail::LogTailArgs),
    Export(export::LogExportArgs),
    Import(import::LogImportArgs),
    Repair(repair::LogRepairArgs),
}

impl LogCommand {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        match self {
            Self::Tail(command) => command.run(session),
            Self::Export(command) => command.run(session),
            Self::Import(command) => command.run(session),
            Self::Repair(command) => command.run(session),
        }
    }
}
