//! `log import`: imports the verdicts of another log.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;

use super::super::super::report;
use super::super::super::session::{CliSession, ExitStatus};
use crate::config::{BudgetOverrides, ReviewSettings};
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::files;
use crate::operations::{self, ImportResult, ImportSource};
use crate::store::Store;
use crate::surfaces::cli::runs::output::sync_log;
use crate::verdict_log::repair_log;

/// Take in the verdicts of another log
///
/// The lines are those of seed 001's second version, with or without what we add to
/// them; fields that are not known are passed over. Verdicts that the store has already are
/// left out, so the same file can be taken in twice. What is no verdict is told with its line
/// number and the reason; the others come in all the same, and the exit code is 1.
///
/// Imported verdicts are shown to the adjudicator like our own, and marked in the log.
///
///   plenary log import older.jsonl
///   plenary log import council_log.jsonl     # after the store was lost
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LogImportArgs {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

impl LogImportArgs {
    pub(super) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let settings = session.loader.load_offline_settings(&BudgetOverrides::default())?;
        let source = BufReader::new(files::open_source(&self.file)?);
        let project = session.open_or_create(&settings.paths)?;
        let redaction = &settings.review.redact;
        let importing = ImportSource { path: &self.file, source, redaction };
        let imported = operations::import_log(&project, importing)?;
        session.ui.print_result(&imported, import_text)?;
        if !session.ui.json {
            print_line_notes(session, &imported);
        }
        sync_log_file(session, project.store.as_ref(), &self.file, &settings.review);
        Ok(if imported.malformed > 0 { ExitStatus::WithFindings } else { ExitStatus::Ok })
    }
}

/// Updates the log file after an import. If the source is the log itself, its lines are rewritten
/// in our form; otherwise the new rows are appended.
fn sync_log_file(
    session: &CliSession<'_>,
    store: &dyn Store,
    source: &Path,
    review: &ReviewSettings,
) {
    let log = &review.log_path;
    if !is_same_file(source, log) {
        return sync_log(session.ui, store, log);
    }
    if let Err(error) = repair_log(store, log, &review.redact) {
        report::print_warning(session.ui, &error.into());
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn import_text(imported: &ImportResult) -> String {
    let count = |number: usize| wording::count_noun(number, "verdict");
    let mut text = format!("Imported {}", count(imported.imported));
    for (number, said) in [
        (imported.known, "already known"),
        (imported.malformed, "malformed"),
        (imported.otherwise.len(), "known in other words"),
    ] {
        if number > 0 {
            text.push_str(&format!(", {number} {said}"));
        }
    }
    if let Some(id) = &imported.dialogue_id {
        text.push_str(&format!("\n  as {id}"));
    }
    text
}

fn print_line_notes(session: &CliSession<'_>, imported: &ImportResult) {
    for line in &imported.malformed_lines {
        session.ui.print_note(&format!(
            "line {}: {}",
            line.line,
            safe_text::safe_line(&line.reason)
        ));
    }
    let untold = imported.malformed - imported.malformed_lines.len();
    if untold > 0 {
        session.ui.print_note(&format!("and {untold} more"));
    }
    for line in &imported.otherwise {
        let id = safe_text::safe_line(&line.verdict_id);
        session
            .ui
            .print_note(&format!("line {}: {id} is known, and reads otherwise here", line.line));
    }
}
