//! `log export`: prints the lines of the verdict log unchanged, or writes them to a file.

use std::fs::File;

use clap::Args;
use serde::Serialize;

use super::super::super::session::{CliSession, ExitStatus};
use super::super::super::terminal_text::DataFormat;
use crate::domain::stretch::SinceDay;
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
pub(crate) struct LogExportArgs {
    /// Only artifacts of this type.
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
    /// Only those since a day (2026-01-01) or for so long (30d, 4w).
    #[arg(long, value_name = "DAY|TIME", value_parser = value_parsers::parse_since)]
    since: Option<SinceDay>,
    /// Write to this file, inside the working folder, the store's folder or one given with `--allow`.
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Replace a file that holds other lines than those of the log.
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Debug, Serialize)]
struct LogExportReport {
    status: &'static str,
    path: String,
    rows: usize,
}

impl LogExportArgs {
    pub(super) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        repair_log(session, &project);
        let today = project.ambient.now().utc_day();
        let since = self.since.map(|since| since.start_moment(today));
        let filter = LogFilter { artifact_type: self.artifact_type, since };
        let Some(output) = self.output else {
            operations::export_log(&project, filter, |lines| {
                session.ui.stream_data(lines, DataFormat::Json)
            })?;
            return Ok(ExitStatus::Ok);
        };
        let file = project.folders.check_file("output", &output, write_permission(self.force))?;
        let recognise = |file: &File| operations::is_log_export(&project, file);
        file.check_writable(&recognise)?;
        let mut text = String::new();
        let rows = operations::export_log(&project, filter, |lines| {
            text.push_str(lines);
            Ok(())
        })?;
        file.write_file(text.as_bytes(), &recognise)?;
        let exported =
            LogExportReport { status: "success", path: file.path().display().to_string(), rows };
        session.ui.print_result(&exported, |exported| {
            format!(
                "Wrote {} to {}",
                wording::count_noun(exported.rows, "verdict"),
                safe_text::safe_line(&exported.path)
            )
        })?;
        Ok(ExitStatus::Ok)
    }
}
