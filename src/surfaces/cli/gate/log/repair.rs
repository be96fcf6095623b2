//! `log repair`: compares the log file with the store and rewrites it if they differ.

use clap::Args;
use serde::Serialize;

use crate::config::{BudgetOverrides, Settings};
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::surfaces::cli::session::{CliSession, ExitStatus};
use crate::verdict_log::{LogDifferences, compare_log, repair_log};

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
    pub(super) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
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
    let path = safe_text::safe_line(&told.path);
    let rows = wording::count_noun(differences.rows, "verdict");
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
    let mut said: Vec<String> = counted
        .map(|(number, what, how)| format!("{}: {how}", wording::count_noun(number, what)))
        .collect();
    if differences.is_out_of_order {
        said.push("out of order".to_owned());
    }
    if differences.is_torn {
        said.push("the last line had no end".to_owned());
    }
    if let Some(aside) = &differences.kept_aside {
        said.push(format!(
            "its torn end, which is no verdict, is in {}",
            safe_text::safe_line(&aside.display().to_string())
        ));
    }
    said
}
