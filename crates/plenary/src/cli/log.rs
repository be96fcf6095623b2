//! Subcommands of `log`, with `log import`, which imports the verdicts of another log.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plenary_core::model::limits::PAGE_ITEMS_MAX;
use plenary_core::model::time::SinceTime;
use plenary_core::protocols::review::earlier_decision::UNNAMED_PERSON;
use plenary_core::report::marks::review_mark;
use plenary_core::report::phrases::count_noun;
use plenary_core::report::safe_text::safe_line;
use plenary_core::report::terminal::layout::{
    CAUTION, FAINT, ID, PLAIN, PageCanvas, STRONG, StyledLine, join_sections,
};
use plenary_engine::app::export_record::is_log_export;
use plenary_engine::app::log_import::{ImportResult, ImportSource, import_log};
use plenary_engine::app::verdict_log::{LogFilter, TailRow, export_log, tail_log};
use plenary_engine::config::settings::ReviewSettings;
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::error::{Error, to_json_text};
use plenary_engine::files::read_write::open_source;
use plenary_engine::store::traits::Store;
use plenary_engine::verdict_log::sync::{LogDifferences, compare_log, repair_log};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::cli::dialogue::show::write_permission;
use crate::cli::log_replay::LogReplayArgs;
use crate::cli::runs::output::{repair_project_log, sync_log};
use crate::cli::runs::value_parsers::{from_one_to, parse_since};
use crate::cli::session::{CliSession, ExitStatus};
use crate::cli::terminal_text::DataFormat;
use crate::cli::ui::print_warning;

/// Show, export, import, repair or replay the verdict log
///
/// Every review is a row of the store and a line of `council_log.jsonl`, which Plenary writes from
/// the store. If the file is damaged, lost or edited, `plenary log repair` writes it again.
///
/// $ plenary log tail -n 20 --type linkedin_post
///
/// $ plenary log export --since 4w > verdicts.jsonl
///
/// $ plenary log import older.jsonl
#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    Tail(LogTailArgs),
    Export(LogExportArgs),
    Import(LogImportArgs),
    Repair(LogRepairArgs),
    Replay(LogReplayArgs),
}

impl LogCommand {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        match self {
            Self::Tail(command) => command.run(session),
            Self::Export(command) => command.run(session),
            Self::Import(command) => command.run(session),
            Self::Repair(command) => command.run(session),
            Self::Replay(command) => command.run(session),
        }
    }
}

/// Print or write the lines of the verdict log
///
/// Prints the lines without any change, or writes them to a file.
///
/// $ plenary log export > verdicts.jsonl
///
/// $ plenary log export --type linkedin_post --since 2026-01-01 --output new.jsonl
#[derive(Debug, Args)]
pub(crate) struct LogExportArgs {
    /// Export only documents of this type
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
    /// Export only verdicts within a time (24h, 30d, 4w) or since a day (2026-01-01)
    #[arg(long, value_name = "TIME|DAY", value_parser = parse_since)]
    since: Option<SinceTime>,
    /// Write to this file in the working folder, the folder of the store or one of `--allow`
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Replace the file even if it contains other lines
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Debug, Serialize)]
struct LogExportReport {
    status: &'static str,
    path: String,
    /// Verdicts; the overrides are beside them.
    rows: usize,
    overrides: usize,
}

impl LogExportArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let project = session.open_existing()?;
        repair_project_log(session, &project);
        let now = project.ambient.now();
        let since = self.since.map(|since| since.start_moment(now));
        let filter = LogFilter { artifact_type: self.artifact_type, since };
        let Some(output) = self.output else {
            export_log(&project, filter, |lines| session.ui.stream_data(lines, DataFormat::Json))?;
            return Ok(ExitStatus::Ok);
        };
        let file = project.folders.check_file("output", &output, write_permission(self.force))?;
        let recognise = |file: &File| is_log_export(&project, file);
        file.check_writable(&recognise)?;
        let mut text = String::new();
        let counts = export_log(&project, filter, |lines| {
            text.push_str(lines);
            Ok(())
        })?;
        file.write_file(text.as_bytes(), &recognise)?;
        let exported = LogExportReport {
            status: "success",
            path: file.path().display().to_string(),
            rows: counts.verdicts,
            overrides: counts.overrides,
        };
        session.ui.print_result(&exported, |exported| {
            let mut wrote = count_noun(exported.rows, "verdict");
            if exported.overrides > 0 {
                wrote.push_str(&format!(" and {}", count_noun(exported.overrides, "override")));
            }
            format!("Wrote {wrote} to {}", safe_line(&exported.path))
        })?;
        Ok(ExitStatus::Ok)
    }
}

/// Fits one screen.
const TAIL_DEFAULT: usize = 10;

/// Show the last verdicts, the newest last
///
/// With `--json` each verdict is a line: the row of the log, its dialogue, the current decision and
/// the overrides.
///
/// $ plenary log tail -n 5
///
/// $ plenary log tail --type linkedin_post --json
#[derive(Debug, Args)]
pub(crate) struct LogTailArgs {
    /// How many verdicts
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = TAIL_DEFAULT, value_parser = from_one_to(PAGE_ITEMS_MAX))]
    lines: usize,
    /// Show only documents of this type
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
}

impl LogTailArgs {
    pub(crate) fn run(self, session: &CliSession<'_>) -> Result<ExitStatus, Error> {
        let of_type = self.artifact_type.is_some();
        let project = session.open_existing()?;
        repair_project_log(session, &project);
        let rows = tail_log(&project, self.artifact_type, self.lines)?;
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
        session.ui.print_page(&draw_verdict_log(&rows, session.ui.page_canvas()))?;
        Ok(ExitStatus::Ok)
    }
}

/// `2026-05-18 10:00`.
const WHEN_COLUMNS: usize = 16;
const LOG_GUTTER: usize = 2;
/// `● INCOMPLETE`.
const VERDICT_COLUMNS: usize = 12;
/// A longer type is cut, to leave more space for the path.
const TYPE_COLUMNS_MAX: usize = 18;

const VERDICT_AT: usize = WHEN_COLUMNS + LOG_GUTTER;
const TYPE_AT: usize = VERDICT_AT + VERDICT_COLUMNS + LOG_GUTTER;

pub(crate) fn draw_verdict_log(rows: &[TailRow], canvas: PageCanvas) -> String {
    let widest = rows.iter().map(|row| safe_line(&row.row.artifact_type).width()).max();
    let room = widest.unwrap_or(0).clamp("TYPE".len(), TYPE_COLUMNS_MAX);
    let artifact_at = TYPE_AT + room + LOG_GUTTER;
    let heading = StyledLine::blank()
        .push_styled("WHEN (UTC)", STRONG)
        .pad_to_column(VERDICT_AT)
        .push_styled("VERDICT", STRONG);
    let heading = heading.pad_to_column(TYPE_AT).push_styled("TYPE", STRONG);
    let mut lines = vec![heading.pad_to_column(artifact_at).push_styled("ARTIFACT", STRONG)];
    for row in rows {
        lines.extend(draw_log_row(row, artifact_at, canvas));
    }
    join_sections(&[lines])
}

fn draw_log_row(tail: &TailRow, artifact_at: usize, canvas: PageCanvas) -> Vec<StyledLine> {
    let row = &tail.row;
    let (mark, tone) = review_mark(row.adjudicator.final_verdict);
    let style = tone.to_style();
    let first = StyledLine::blank()
        .push_plain(&row.ts.format_minute())
        .pad_to_column(VERDICT_AT)
        .push_styled(&format!("{mark} {}", row.adjudicator.final_verdict), style)
        .pad_to_column(TYPE_AT)
        .push_fitted(&row.artifact_type, PLAIN, artifact_at - LOG_GUTTER)
        .pad_to_column(artifact_at)
        .push_fitted(&row.artifact, PLAIN, canvas.column_count());
    // The reader copies the id, so it is never wrapped.
    let id = row.verdict_id.as_deref().unwrap_or_default();
    let indent = VERDICT_AT.min(canvas.width.saturating_sub(id.width()));
    let mut second = StyledLine::with_indent(indent).push_styled(id, ID);
    for (is_so, word) in [(row.rehearsal, "rehearsal"), (row.imported, "imported")] {
        if is_so {
            second = second.push_styled(&format!("  {word}"), CAUTION);
        }
    }
    let mut lines = vec![first, second];
    if let Some(word) = &tail.overridden {
        let (mark, tone) = review_mark(word.decision.into());
        let style = tone.to_style();
        let lead = StyledLine::with_indent(VERDICT_AT)
            .push_styled(&format!("{mark} {}", word.decision), style);
        let by = safe_line(word.by.as_deref().unwrap_or(UNNAMED_PERSON));
        let lead = lead.push_styled(&format!(" by {by}: "), FAINT);
        lines.push(lead.push_fitted(&word.why, FAINT, canvas.column_count()));
    }
    lines
}

/// Import the verdicts of another log
///
/// Reads lines in the format of `council_log.jsonl` (version 2); the fields that Plenary adds are
/// optional. It ignores unknown fields and skips verdicts that the store already has, so you can
/// import a file twice. It reports a line that is not a verdict with its number and imports the
/// others; the exit code is then 1, as for a file without a line.
///
/// The adjudicator sees imported verdicts like our own; the log marks them.
///
/// $ plenary log import older.jsonl
///
/// $ plenary log import council_log.jsonl
#[derive(Debug, Args)]
pub(crate) struct LogImportArgs {
    /// The file; `-` reads standard input
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
        if imported.lines == 0 {
            session.ui.print_note("the file has no line to import");
        }
        let has_findings = imported.malformed > 0 || imported.lines == 0;
        Ok(if has_findings { ExitStatus::WithFindings } else { ExitStatus::Ok })
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
    let mut text = format!("Imported {}", count_noun(imported.imported, "verdict"));
    for (number, what, message) in [
        (imported.overrides, "override", ""),
        (imported.known, "line", " already known"),
        (imported.malformed, "line", " malformed"),
        (imported.otherwise.len(), "line", " known with another text"),
    ] {
        if number > 0 {
            text.push_str(&format!(", {}{message}", count_noun(number, what)));
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
        let note = format!("line {}: the store has {id} with another text", line.line);
        session.ui.print_note(&note);
    }
}

/// Rewrite the log file where it differs from the store
///
/// Restores lines that are missing, changed, doubled or out of order. Unknown lines stay, before
/// the others. `--dry-run` only reports differences; the exit code is then 1 if there are any.
///
/// $ plenary log repair --dry-run
///
/// $ plenary log repair
#[derive(Debug, Args)]
pub(crate) struct LogRepairArgs {
    /// Report the differences and change nothing
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
        let project = session.open_existing()?;
        let (store, review) = (project.store.as_ref(), &settings.review);
        let differences = match self.dry_run {
            true => compare_log(store, &review.log_path, &review.redact)?,
            false => repair_log(store, &review.log_path, &review.redact)?,
        };
        let differed = differences.has_any();
        let path = settings.review.log_path.display().to_string();
        let result = LogRepairReport {
            status: "success",
            path,
            dry_run: self.dry_run,
            differed,
            differences: &differences,
        };
        session.ui.print_result(&result, repair_text)?;
        Ok(if self.dry_run && differed { ExitStatus::WithFindings } else { ExitStatus::Ok })
    }
}

fn repair_text(result: &LogRepairReport<'_>) -> String {
    let LogRepairReport { differences, .. } = result;
    let path = safe_line(&result.path);
    // An override is a line as well.
    let rows = count_noun(differences.rows, "line");
    let mut text = match (result.differed, result.dry_run) {
        (false, _) => format!("{path} has the {rows} of the store"),
        (true, true) => format!("{path} differs from the {rows} of the store"),
        (true, false) => format!("Rewrote {path}: {rows}"),
    };
    for message in list_differences(differences, result.differed) {
        text.push_str(&format!("\n  {message}"));
    }
    text
}

fn list_differences(differences: &LogDifferences, differed: bool) -> Vec<String> {
    let strangers = match differed {
        true => "unknown to the store; kept before the others",
        // Nothing is rewritten.
        false => "unknown to the store; kept",
    };
    let counted = [
        (differences.missing, "line", "missing"),
        (differences.altered, "line", "with another text than the store"),
        (differences.repeated, "line", "repeated"),
        (differences.blank, "line", "empty"),
        (differences.strangers, "line", strangers),
    ];
    let counted = counted.into_iter().filter(|(number, ..)| *number > 0);
    let mut message: Vec<String> =
        counted.map(|(number, what, how)| format!("{}: {how}", count_noun(number, what))).collect();
    if differences.is_out_of_order {
        message.push("out of order".to_owned());
    }
    if differences.is_torn {
        message.push("the last line has no line break".to_owned());
    }
    if let Some(aside) = &differences.kept_aside {
        message.push(format!(
            "its incomplete last line, which is not in the store, is now in {}",
            safe_line(&aside.display().to_string())
        ));
    }
    message
}
