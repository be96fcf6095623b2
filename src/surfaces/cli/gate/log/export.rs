//! `log export`: prints the lines of the verdict log unchanged, or writes them to a file.

use std::fs::File;

use clap::Args;
use serde::Serialize;

use super::super::super::session::{Done, Session};
use super::super::super::terminal_text::DataForm;
use crate::domain::stretch::Since;
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::operations::{self, LogFilter};
use crate::surfaces::cli::dialogue::queries::write_permission;
use crate::surfaces::cli::runs::output::repair_log;
use crate::surfaces::cli::runs::value_parsers;

/// Print the lines of the log word for word, or write them to a file
///
///   plenary log export --type linkedin_post --since 2026-01-01 --output posts.jsonl
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Export {
    /// Only artifacts of this type.
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
    /// Only those since a day (2026-01-01) or for so long (30d, 4w).
    #[arg(long, value_name = "DAY|TIME", value_parser = value_parsers::since)]
    since: Option<Since>,
    /// Write to this file, inside the working folder, the store's folder or one given with `--allow`.
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Replace a file that holds other lines than those of the log.
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Debug, Serialize)]
struct Exported {
    status: &'static str,
    path: String,
    rows: usize,
}

impl Export {
    pub(super) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let project = session.for_existing()?;
        repair_log(session, &project);
        let today = project.ambient.now().day();
        let since = self.since.map(|since| since.start(today));
        let filter = LogFilter { artifact_type: self.artifact_type, since };
        let Some(output) = self.output else {
            operations::export_log(&project, filter, |lines| {
                session.ui.stream_data(lines, DataForm::Json)
            })?;
            return Ok(Done::Well);
        };
        let file = project.folders.file("output", &output, write_permission(self.force))?;
        let recognise = |file: &File| operations::is_log_export(&project, file);
        file.check(&recognise)?;
        let mut text = String::new();
        let rows = operations::export_log(&project, filter, |lines| {
            text.push_str(lines);
            Ok(())
        })?;
        file.write(text.as_bytes(), &recognise)?;
        let exported =
            Exported { status: "success", path: file.path().display().to_string(), rows };
        session.ui.answer(&exported, |exported| {
            format!(
                "Wrote {} to {}",
                wording::count(exported.rows, "verdict"),
                safe_text::line(&exported.path)
            )
        })?;
        Ok(Done::Well)
    }
}
