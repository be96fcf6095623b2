//! `log import`: imports the verdicts of another log.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;

use super::super::super::report;
use super::super::super::session::{Done, Session};
use crate::config::{Overrides, Review};
use crate::error::Error;
use crate::export::{safe_text, wording};
use crate::files;
use crate::operations::{self, Imported, Importing};
use crate::store::Store;
use crate::surfaces::cli::runs::output::sync_log;
use crate::verdict_log::repair;

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
pub(crate) struct Import {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

impl Import {
    pub(super) fn run(self, session: &Session<'_>) -> Result<Done, Error> {
        let settings = session.loader.load_offline_settings(&Overrides::default())?;
        let source = BufReader::new(files::source(&self.file)?);
        let project = session.open(&settings.located)?;
        let redaction = &settings.review.redact;
        let importing = Importing { path: &self.file, source, redaction };
        let imported = operations::import_log(&project, importing)?;
        session.ui.answer(&imported, import_text)?;
        if !session.ui.json {
            say_lines(session, &imported);
        }
        bring_up(session, project.store.as_ref(), &self.file, &settings.review);
        Ok(if imported.malformed > 0 { Done::WithFindings } else { Done::Well })
    }
}

/// Updates the log file after an import. If the source is the log itself, its lines are rewritten
/// in our form; otherwise the new rows are appended.
fn bring_up(session: &Session<'_>, store: &dyn Store, source: &Path, review: &Review) {
    let log = &review.log_path;
    if !is_same_file(source, log) {
        return sync_log(session.ui, store, log);
    }
    if let Err(error) = repair(store, log, &review.redact) {
        report::warn(session.ui, &error.into());
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn import_text(imported: &Imported) -> String {
    let count = |number: usize| wording::count(number, "verdict");
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

fn say_lines(session: &Session<'_>, imported: &Imported) {
    for line in &imported.malformed_lines {
        session.ui.say(&format!("line {}: {}", line.line, safe_text::line(&line.reason)));
    }
    let untold = imported.malformed - imported.malformed_lines.len();
    if untold > 0 {
        session.ui.say(&format!("and {untold} more"));
    }
    for line in &imported.otherwise {
        let id = safe_text::line(&line.verdict_id);
        session.ui.say(&format!("line {}: {id} is known, and reads otherwise here", line.line));
    }
}
