//! `log tail`: prints the last verdicts.

use clap::Args;

use super::super::super::session::{Done, Session};
use super::super::super::show;
use super::super::super::terminal_text::DataForm;
use crate::domain::limits::PAGE_MAX;
use crate::error::{Error, document_text};
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
pub(crate) struct Tail {
    /// How many.
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = TAIL_DEFAULT, value_parser = value_parsers::from_one_to(PAGE_MAX))]
    lines: usize,
    /// Only artifacts of this type.
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
}

impl Tail {
    pub(super) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let of_type = self.artifact_type.is_some();
        let project = session.for_existing()?;
        repair_log(session, &project);
        let rows = operations::tail_log(&project, self.artifact_type, self.lines)?;
        if session.ui.json {
            for row in &rows {
                session.ui.print_data(&document_text(row)?, DataForm::Json)?;
            }
            return Ok(Done::Well);
        }
        if rows.is_empty() {
            session.ui.say(match of_type {
                true => "no verdict of this type is in the log",
                false => "the verdict log is empty; `plenary review FILE` logs a verdict",
            });
            return Ok(Done::Well);
        }
        session.ui.print(&show::verdict_log::draw(&rows, session.ui.canvas()))?;
        Ok(Done::Well)
    }
}
