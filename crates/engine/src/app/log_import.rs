//! `log import`: verdicts and overrides of another log.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use plenary_core::model::dialogue::{DialogueOpening, DialogueStatus, ProtocolKind};
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::time::Moment;
use plenary_core::protocols::review::imported_row::ImportedRow;
use plenary_core::protocols::review::log_row::{LogRow, OverrideRow, ROW_VERSION};
use plenary_core::protocols::review::redaction::LogRedaction;
use serde::Serialize;

use crate::app::project::Project;
use crate::app::verdict_log::append_override;
use crate::engine::record_changes::hexed_id;
use crate::error::Error;
use crate::files::allowed_folders::AllowedFolders;
use crate::files::read_write::FileError;
use crate::store::error::StoreError;
use crate::store::traits::{StoreTransaction, in_transaction};
use crate::verdict_log::lines::{RawLine, RawLines};

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
    /// Overrides that were new.
    pub overrides: usize,
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
    let (mut imported, candidates, overrides) = read_rows(importing, at)?;
    let mut dice = SeededRandom::new(project.ambient.random_u64());
    in_transaction(project.store.as_ref(), |unit| {
        let fresh = keep_new_rows(unit, candidates, &mut imported)?;
        if fresh.is_empty() {
            import_overrides(unit, &overrides, at, &mut imported)?;
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
        import_overrides(unit, &overrides, at, &mut imported)?;
        Ok(imported)
    })
}

/// Records the overrides that are newer than those of the store. Their verdicts must be there.
fn import_overrides(
    unit: &mut dyn StoreTransaction,
    overrides: &[(usize, OverrideRow)],
    at: Moment,
    imported: &mut ImportResult,
) -> Result<(), Error> {
    for (line, row) in overrides {
        let Some(found) = unit.find_logged(&row.overrides)? else {
            let reason = "it overrides a verdict that is neither in the file nor in the store";
            imported.malformed(*line, reason.to_owned());
            continue;
        };
        if found.overridden.is_some_and(|newest| newest.at >= row.ts) {
            imported.known(*line, None);
            continue;
        }
        append_override(unit, &found.dialogue_id, at, row.to_decision())?;
        imported.overrides += 1;
    }
    Ok(())
}

/// The result so far, the verdicts, and the overrides with their line numbers.
type ReadRows = (ImportResult, Vec<ImportCandidate>, Vec<(usize, OverrideRow)>);

fn read_rows<R: BufRead>(importing: ImportSource<'_, R>, now: Moment) -> Result<ReadRows, Error> {
    let mut imported = ImportResult { status: "success", ..ImportResult::default() };
    let path = || PathBuf::from(importing.path);
    let latest = now.utc_day().plus_days(DAYS_AHEAD_MAX + 1).start_moment();
    let (mut candidates, mut overrides) = (Vec::new(), Vec::new());
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
        if let Some(row) = OverrideRow::parse_line(&line.bytes) {
            match row.map_err(|fault| fault.to_string()).and_then(|row| check_override(row, latest))
            {
                Ok(row) => {
                    let why = importing.redaction.redact_text(&row.why);
                    overrides.push((line.number, OverrideRow { why, ..row }));
                }
                Err(reason) => imported.malformed(line.number, reason),
            }
            continue;
        }
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
    Ok((imported, candidates, overrides))
}

fn check_override(row: OverrideRow, latest: Moment) -> Result<OverrideRow, String> {
    if row.v != ROW_VERSION {
        return Err(format!("`v` must be {ROW_VERSION}"));
    }
    if row.why.trim().is_empty() {
        return Err("`why` is empty".to_owned());
    }
    if row.ts > latest { Err(AHEAD.to_owned()) } else { Ok(row) }
}

/// The reason for a row of the future.
const AHEAD: &str = "`ts` lies in the future";

fn read_row(line: &RawLine, latest: Moment) -> Result<LogRow, String> {
    if line.is_too_long {
        return Err(format!("it is over the limit of {LINE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(&line.bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let row = ImportedRow::parse_line(text).map_err(|fault| fault.to_string())?.row;
    if row.ts > latest { Err(AHEAD.to_owned()) } else { Ok(row) }
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
