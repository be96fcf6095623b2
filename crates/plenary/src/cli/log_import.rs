//! `log import`: imports the verdicts of another log.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_engine::app::verdict_log::{ImportResult, ImportSource, import_log};
use plenary_engine::config::settings::{ReviewSettings, Settings};
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::open_source;
use plenary_engine::store::traits::Store;
use plenary_engine::verdict_log::repair::{LogDifferences, compare_log, repair_log};
use serde::Serialize;

use crate::cli::runs::output::sync_log;
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::ui::print_warning;

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
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let settings = session.loader.load_offline_settings(&BudgetOverrides::default())?;
        let source = BufReader::new(open_source(&self.file)?);
        let project = session.open_or_create(&settings.paths)?;
        let redaction = &settings.review.redact;
        let importing = ImportSource { path: &self.file, source, redaction };
        let imported = import_log(&project, importing)?;
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
        print_warning(session.ui, &error.into());
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn import_text(imported: &ImportResult) -> String {
    let count = |number: usize| count_noun(number, "verdict");
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
        session.ui.print_note(&format!("line {}: {}", line.line, safe_line(&line.reason)));
    }
    let untold = imported.malformed - imported.malformed_lines.len();
    if untold > 0 {
        session.ui.print_note(&format!("and {untold} more"));
    }
    for line in &imported.otherwise {
        let id = safe_line(&line.verdict_id);
        session
            .ui
            .print_note(&format!("line {}: {id} is known, and reads otherwise here", line.line));
    }
}

/// Compare the whole file with the store, and write it anew where they differ
///
/// Rows that are missing, changed, doubled or out of order come back as they were logged. Lines
/// that the store does not know stay, before the others. `--dry-run` only says what differs,
/// and exits with 1 if anything does.
///
///   plenary log repair --dry-run
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LogRepairArgs {
    /// Say what differs, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct LogRepairReport<'a> {
    status: &'static str,
    path: String,
    dry_run: bool,
    differed: bool,
    #[serde(flatten)]
    differences: &'a LogDifferences,
}

impl LogRepairArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let settings = session.loader.load_offline_settings(&BudgetOverrides::default())?;
        let differences = self.find_differences(session, &settings)?;
        let differed = differences.has_any();
        let path = settings.review.log_path.display().to_string();
        let told = LogRepairReport {
            status: "success",
            path,
            dry_run: self.dry_run,
            differed,
            differences: &differences,
        };
        session.ui.print_result(&told, repair_text)?;
        Ok(if self.dry_run && differed { ExitStatus::WithFindings } else { ExitStatus::Ok })
    }

    fn find_differences(
        &self,
        session: &CliSession<'_>,
        settings: &Settings,
    ) -> Result<LogDifferences, Error> {
        let project = session.open_existing()?;
        let (store, review) = (project.store.as_ref(), &settings.review);
        Ok(match self.dry_run {
            true => compare_log(store, &review.log_path, &review.redact)?,
            false => repair_log(store, &review.log_path, &review.redact)?,
        })
    }
}

fn repair_text(told: &LogRepairReport<'_>) -> String {
    let LogRepairReport { differences, .. } = told;
    let path = safe_line(&told.path);
    let rows = count_noun(differences.rows, "verdict");
    let mut text = match (told.differed, told.dry_run) {
        (false, _) => format!("{path} holds the {rows} of the store"),
        (true, true) => format!("{path} differs from the {rows} of the store"),
        (true, false) => format!("Wrote {path} anew: {rows}"),
    };
    for said in list_differences(differences) {
        text.push_str(&format!("\n  {said}"));
    }
    text
}

fn list_differences(differences: &LogDifferences) -> Vec<String> {
    let counted = [
        (differences.missing, "verdict", "missing"),
        (differences.altered, "line", "read otherwise than what was logged"),
        (differences.repeated, "line", "doubled"),
        (differences.blank, "line", "empty"),
        (differences.strangers, "line", "not known to the store: kept, before the others"),
    ];
    let counted = counted.into_iter().filter(|(number, ..)| *number > 0);
    let mut said: Vec<String> =
        counted.map(|(number, what, how)| format!("{}: {how}", count_noun(number, what))).collect();
    if differences.is_out_of_order {
        said.push("out of order".to_owned());
    }
    if differences.is_torn {
        said.push("the last line had no end".to_owned());
    }
    if let Some(aside) = &differences.kept_aside {
        said.push(format!(
            "its torn end, which is no verdict, is in {}",
            safe_line(&aside.display().to_string())
        ));
    }
    said
}
