//! Operations on the verdict log: override a verdict, export, import and show log lines.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use plenary_core::dialogue::request::{OperationRequest, read_strict_request};
use plenary_core::dialogue::request_fields::truncate_echo;
use plenary_core::model::dialogue::{DialogueOpening, DialogueStatus, ProtocolKind};
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::time::Moment;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::review::imported_row::ImportedRow;
use plenary_core::protocols::review::log_row::{
    LogQuery, LogRange, LogRow, LoggedVerdict, RecordedOverride,
};
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict, VerdictOverride};
use plenary_core::protocols::review::redaction::LogRedaction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::dialogue_ids::resolve_id;
use crate::app::project::Project;
use crate::engine::record_changes::hexed_id;
use crate::error::Error;
use crate::files::allowed_folders::AllowedFolders;
use crate::files::read_write::FileError;
use crate::store::error::StoreError;
use crate::store::traits::{LOG_PAGE_ROWS, Store, StoreTransaction, in_transaction, log_pages};
use crate::verdict_log::lines::{RawLine, RawLines};

/// Verdict ids listed in an error.
const OPTIONS_MAX: usize = 20;

/// Arguments of `override`.
#[derive(Debug, Deserialize, JsonSchema)]
struct OverrideRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    verdict_id: String,
    #[schemars(schema_with = "word_schema::<ReviewDecision>")]
    decision: ReviewDecision,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    why: String,
    /// The person who decides.
    #[schemars(length(max = LINE_CHARS_MAX))]
    by: Option<String>,
}

impl OperationRequest for OverrideRequest {}

#[derive(Debug, Serialize)]
pub struct OverrideResult {
    pub status: &'static str,
    pub verdict_id: String,
    pub dialogue_id: DialogueId,
    pub artifact: String,
    pub artifact_type: String,
    /// Verdict of the review.
    pub gate: ReviewVerdict,
    /// Decision in force before.
    pub stood: ReviewVerdict,
    /// Decision in force from now on.
    pub stands: ReviewDecision,
    pub why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Records a person's decision over a verdict; both are kept. The verdict is named by its id, or by
/// its dialogue's if that has only one. A later decision replaces an earlier one.
pub fn override_verdict(project: &Project, arguments: &Value) -> Result<OverrideResult, Error> {
    let OverrideRequest { verdict_id: named, decision, why, by } = read_strict_request(arguments)?;
    require_reason(&why)?;
    let at = project.ambient.now();
    let named = resolve_verdict_id(project.store.as_ref(), named)?;
    in_transaction(project.store.as_ref(), |unit| {
        let found = find_verdict(unit, &named)?;
        let word = VerdictOverride {
            verdict_id: found.verdict_id.clone(),
            decision,
            why: why.clone(),
            by: by.clone(),
        };
        unit.append_entry(
            &found.dialogue_id,
            JournalEntryKind::VerdictOverridden,
            at,
            &[JournalEvent::VerdictOverridden(word)],
        )?;
        Ok(OverrideResult {
            status: "success",
            stood: found.effective_verdict(),
            stands: decision,
            why,
            by,
            gate: found.row.adjudicator.final_verdict,
            artifact: found.row.artifact,
            artifact_type: found.row.artifact_type,
            verdict_id: found.verdict_id,
            dialogue_id: found.dialogue_id,
        })
    })
}

/// A later reader needs the reason.
fn require_reason(why: &str) -> Result<(), ValidationError> {
    match why.trim().is_empty() {
        true => Err(ValidationError::new(ErrorCode::MissingField, "the reason is empty")
            .with_field("why")
            .with_suggestion(
                "write why the decision differs, for example --why \"Source added.\"",
            )),
        false => Ok(()),
    }
}

/// Replaces a short dialogue id in `1a2b3c4d` or `latest/1`.
fn resolve_verdict_id(store: &dyn Store, named: String) -> Result<String, Error> {
    if store.find_logged(&named)?.is_some() {
        return Ok(named);
    }
    let (dialogue, number) = match named.rsplit_once('/') {
        Some((dialogue, number)) => (dialogue, Some(number)),
        None => (named.as_str(), None),
    };
    match (resolve_id(store, dialogue), number) {
        (Ok(id), Some(number)) => Ok(format!("{id}/{number}")),
        (Ok(id), None) => Ok(id.to_string()),
        (Err(Error::Refused(fault)), _) if fault.has_code(ErrorCode::DialogueNotFound) => Ok(named),
        (Err(error), _) => Err(error),
    }
}

fn find_verdict(unit: &mut dyn StoreTransaction, named: &str) -> Result<LoggedVerdict, Error> {
    if let Some(found) = unit.find_logged(named)? {
        return Ok(found);
    }
    let Ok(dialogue) = named.parse::<DialogueId>() else {
        return Err(verdict_not_found(named).into());
    };
    let verdicts = unit.logged_verdict_ids(&dialogue, OPTIONS_MAX)?;
    match verdicts.as_slice() {
        [] => Err(verdict_not_found(named).into()),
        [only] => Ok(unit.find_logged(only)?.ok_or_else(|| verdict_not_found(named))?),
        several => {
            let message = format!("dialogue '{dialogue}' has more than one verdict");
            let fault = ValidationError::new(ErrorCode::InvalidEnum, message)
                .with_field("verdict_id")
                .with_value(named);
            let hint = format!("name one of them: {}", several.join(", "));
            Err(fault.with_options(several).with_suggestion(hint).into())
        }
    }
}

fn verdict_not_found(named: &str) -> ValidationError {
    let message = format!("the verdict log has no verdict '{}'", truncate_echo(named));
    ValidationError::new(ErrorCode::VerdictNotFound, message)
        .with_field("verdict_id")
        .with_value(named)
        .with_suggestion("`plenary log tail` shows the last verdicts with their ids")
}

/// Filter of log lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub artifact_type: Option<String>,
    /// By their `ts`.
    pub since: Option<Moment>,
}

/// Passes the lines to `hand_on` in order, some at a time, each with its line break; returns their
/// number.
pub fn export_log(
    project: &Project,
    filter: LogFilter,
    mut hand_on: impl FnMut(&str) -> Result<(), Error>,
) -> Result<usize, Error> {
    let LogFilter { artifact_type, since } = filter;
    let query = LogQuery { artifact_type, since, ..LogQuery::from_start(LOG_PAGE_ROWS) };
    let mut count = 0;
    for page in log_pages(project.store.as_ref(), &query) {
        let found = page?;
        count += found.len();
        let lines: String = found.iter().map(|found| format!("{}\n", found.line)).collect();
        hand_on(&lines)?;
    }
    Ok(count)
}

/// Some ten thousand verdicts. They are imported in one transaction, so they are in memory
/// together.
pub const LOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Size of a verdict with nine long replies. The limit of the log's own file is higher: foreign
/// lines may be refused, but stored ones must not be skipped.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Malformed lines listed one by one; a file with more of them is not a log.
const TOLD_MAX: usize = 100;

/// Rows in one journal entry.
const ENTRY_ROWS: usize = 500;

/// Tolerance for clocks; a row further in the future would stay the newest verdict for long.
const DAYS_AHEAD_MAX: u32 = 1;

/// Source of imported rows.
#[derive(Debug)]
pub struct ImportSource<'a, R> {
    /// The path, or `-`.
    pub path: &'a Path,
    pub source: R,
    pub redaction: &'a LogRedaction,
}

/// Result of an import.
#[derive(Debug, Default, Serialize)]
pub struct ImportResult {
    pub status: &'static str,
    /// Dialogue of the import; `None` if no row was new.
    pub dialogue_id: Option<DialogueId>,
    pub lines: usize,
    pub imported: usize,
    /// Rows that the store already has.
    pub known: usize,
    pub malformed: usize,
    /// The first malformed lines, with reasons.
    pub malformed_lines: Vec<MalformedLine>,
    /// Lines with the id of a stored verdict but other content: the stored one is kept.
    pub otherwise: Vec<ConflictingLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MalformedLine {
    pub line: usize,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConflictingLine {
    pub line: usize,
    pub verdict_id: String,
}

impl ImportResult {
    fn malformed(&mut self, line: usize, reason: String) {
        self.malformed += 1;
        if self.malformed_lines.len() < TOLD_MAX {
            self.malformed_lines.push(MalformedLine { line, reason });
        }
    }

    fn known(&mut self, line: usize, otherwise: Option<String>) {
        self.known += 1;
        if let Some(verdict_id) = otherwise.filter(|_| self.otherwise.len() < TOLD_MAX) {
            self.otherwise.push(ConflictingLine { line, verdict_id });
        }
    }
}

/// A row that was parsed.
struct ImportCandidate {
    line: usize,
    row: LogRow,
    fingerprint: String,
    /// Fingerprint before redaction: the patterns may be newer than the stored row.
    as_written: String,
}

pub fn import_log<R: BufRead>(
    project: &Project,
    importing: ImportSource<'_, R>,
) -> Result<ImportResult, Error> {
    let (at, path) = (project.ambient.now(), importing.path.to_owned());
    let (mut imported, candidates) = read_rows(importing, at)?;
    let mut dice = SeededRandom::new(project.ambient.random_u64());
    in_transaction(project.store.as_ref(), |unit| {
        let fresh = keep_new_rows(unit, candidates, &mut imported)?;
        if fresh.is_empty() {
            return Ok(imported);
        }
        let title = format!("Imported verdicts: {}", display_name(&path));
        let id = hexed_id(unit, &title, &mut dice)?;
        imported.imported = fresh.len();
        unit.append_entry(
            &id,
            JournalEntryKind::DialogueCreated,
            at,
            &import_changes(&id, title, &project.folders),
        )?;
        let changes = verdict_changes(&id, fresh);
        for entry in changes.chunks(ENTRY_ROWS) {
            unit.append_entry(&id, JournalEntryKind::VerdictLogged, at, entry)?;
        }
        imported.dialogue_id = Some(id);
        Ok(imported)
    })
}

fn read_rows<R: BufRead>(
    importing: ImportSource<'_, R>,
    now: Moment,
) -> Result<(ImportResult, Vec<ImportCandidate>), Error> {
    let mut imported = ImportResult { status: "success", ..ImportResult::default() };
    let path = || PathBuf::from(importing.path);
    let latest = now.utc_day().plus_days(DAYS_AHEAD_MAX + 1).start_moment();
    let mut candidates = Vec::new();
    // One byte over the limit shows that the source is too large.
    let source = importing.source.take(LOG_BYTES_MAX as u64 + 1);
    for line in RawLines::new(source, LINE_BYTES_MAX) {
        let line = line.map_err(|source| FileError::Unreadable { path: path(), source })?;
        if line.place.end > LOG_BYTES_MAX as u64 {
            return Err(FileError::TooLarge { path: path(), bytes_max: LOG_BYTES_MAX }.into());
        }
        if line.bytes.iter().all(u8::is_ascii_whitespace) && !line.is_too_long {
            continue;
        }
        imported.lines += 1;
        match read_row(&line, latest) {
            Ok(row) => {
                let row = LogRow { imported: true, ..row };
                let as_written = row.content_hash().map_err(Error::Document)?;
                let row = importing.redaction.redact_row(&row);
                let fingerprint = row.content_hash().map_err(Error::Document)?;
                candidates.push(ImportCandidate {
                    line: line.number,
                    row,
                    fingerprint,
                    as_written,
                });
            }
            Err(reason) => imported.malformed(line.number, reason),
        }
    }
    Ok((imported, candidates))
}

fn read_row(line: &RawLine, latest: Moment) -> Result<LogRow, String> {
    if line.is_too_long {
        return Err(format!("it is over the limit of {LINE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(&line.bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let row = ImportedRow::parse_line(text).map_err(|fault| fault.to_string())?.row;
    if row.ts > latest { Err("`ts` lies in the future".to_owned()) } else { Ok(row) }
}

/// Returns the rows that the store does not have, and counts the others.
fn keep_new_rows(
    unit: &mut dyn StoreTransaction,
    candidates: Vec<ImportCandidate>,
    imported: &mut ImportResult,
) -> Result<Vec<ImportCandidate>, Error> {
    let (mut ids, mut alike) = (BTreeSet::new(), BTreeSet::new());
    let mut fresh = Vec::new();
    for candidate in candidates {
        let ImportCandidate { line, row, fingerprint, as_written } = &candidate;
        let stored = match &row.verdict_id {
            Some(id) => unit.find_logged(id)?,
            None => None,
        };
        if let Some(stored) = stored {
            let own = stored.row.content_hash().map_err(Error::Document)?;
            let is_same = own == *fingerprint || own == *as_written;
            let otherwise = (!is_same).then_some(stored.verdict_id);
            imported.known(*line, otherwise);
        } else if unit.find_same_row(fingerprint)?.is_some() || !alike.insert(fingerprint.clone()) {
            imported.known(*line, None);
        } else if row.verdict_id.clone().is_some_and(|id| !ids.insert(id)) {
            imported.malformed(*line, "an earlier line has the same `verdict_id`".to_owned());
        } else if is_disowned(unit, row)? {
            let reason = "`verdict_id` names a dialogue of this store that has no such verdict";
            imported.malformed(*line, reason.to_owned());
        } else {
            fresh.push(candidate);
        }
    }
    Ok(fresh)
}

/// Whether a row uses a verdict id of a stored dialogue that has no such verdict: it would block
/// that dialogue's next verdict.
fn is_disowned(unit: &mut dyn StoreTransaction, row: &LogRow) -> Result<bool, StoreError> {
    let id = row.verdict_id.as_deref().and_then(|id| id.rsplit_once('/'));
    match id.and_then(|(dialogue, _)| dialogue.parse::<DialogueId>().ok()) {
        Some(dialogue) => unit.is_id_taken(&dialogue),
        None => Ok(false),
    }
}

fn import_changes(id: &DialogueId, title: String, folders: &AllowedFolders) -> [JournalEvent; 2] {
    let opening = DialogueOpening {
        dialogue_id: id.clone(),
        title,
        question: None,
        background: None,
        protocol: ProtocolKind::Review,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: folders.default_output_dir(id.as_str()),
        calibrated: false,
        domain_id: None,
    };
    let status = DialogueStatus::Converged;
    [JournalEvent::DialogueOpened(opening), JournalEvent::StatusSet { status, reason: None }]
}

/// Rows without an id get one of the import's.
fn verdict_changes(id: &DialogueId, fresh: Vec<ImportCandidate>) -> Vec<JournalEvent> {
    let rows = fresh.into_iter().map(|candidate| candidate.row).enumerate();
    let named = rows.map(|(place, row)| {
        let own = || format!("{id}/{}", place + 1);
        LogRow { verdict_id: Some(row.verdict_id.clone().unwrap_or_else(own)), ..row }
    });
    named.map(|row| JournalEvent::VerdictLogged(Box::new(row))).collect()
}

/// Name of the source for lists.
fn display_name(path: &Path) -> String {
    const CHARS_MAX: usize = 80;
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.chars().take(CHARS_MAX).collect()
}

/// A row with the person's decision over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TailRow {
    #[serde(flatten)]
    pub row: LogRow,
    pub dialogue_id: DialogueId,
    /// Decision in force: the person's if there is one, else the review's.
    pub standing: ReviewVerdict,
    pub overridden: Option<RecordedOverride>,
}

/// The last `limit` verdicts, of one type where it is given; in the order of the log.
pub fn tail_log(
    project: &Project,
    artifact_type: Option<String>,
    limit: usize,
) -> Result<Vec<TailRow>, Error> {
    let query = LogQuery { artifact_type, range: LogRange::Last, ..LogQuery::from_start(limit) };
    Ok(project.store.load_log_page(&query)?.into_iter().map(tail_row).collect())
}

fn tail_row(found: LoggedVerdict) -> TailRow {
    let standing = found.effective_verdict();
    let LoggedVerdict { row, dialogue_id, overridden, .. } = found;
    TailRow { row, dialogue_id, standing, overridden }
}
