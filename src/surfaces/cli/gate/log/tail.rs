//! `log tail`: prints the last verdicts.

use clap::Args;

use super::super::super::session::{CliSession, ExitStatus};
use super::super::super::show;
use super::super::super::terminal_text::DataFormat;
use crate::domain::limits::PAGE_ITEMS_MAX;
use crate::error::{Error, to_json_text};
use crate::operations;
use crate::surfaces::cli::runs::output::repair_log;
use crate::surfaces::cli::runs::value_parsers;

/// Fits one screen.
const TAIL_DEFAULT: usize = 10;

/// Show the last verdicts, the newest at the end
///
/// With `--json` each is a line: the row as it is logged, the dialogue it came from, what
/// stands, and what a person said over it.
///
///   plenary log tail -n 5
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LogTailArgs {
    /// How many.
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = TAIL_DEFAULT, value_parser = value_parsers::from_one_to(PAGE_ITEMS_MAX))]
    lines: usize,
    /// Only artifacts of this type.
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
}

impl LogTailArgs {
    pub(super) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let of_type = self.artifact_type.is_some();
        let project = session.open_existing()?;
        repair_log(session, &project);
        let rows = operations::tail_log(&project, self.artifact_type, self.lines)?;
        if session.ui.json {
            for row in &rows {
                session.ui.print_data(&to_json_text(row)?, DataFormat::Json)?;
            }
            return Ok(ExitStatus::Ok);
        }
        if rows.is_empty() {
            session.ui.print_note(match of_type {
                true => "no verdict of this type is in the log",
                false => "the verdict log is empty; `plenary review FILE` logs a verdict",
            });
            return Ok(ExitStatus::Ok);
        }
        session
            .ui
            .print_page(&show::verdict_log::draw_verdict_log(&rows, session.ui.page_canvas()))?;
        Ok(ExitStatus::Ok)
    }
}
