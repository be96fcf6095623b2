//! Updates the log file from the table: appends missing rows, completes a torn last line, creates
//! the file, and rewrites it if it differs from the table.
//!
//! Rows are read from the store after the file is locked, and the table has the order of the
//! commits. If two processes log at once, each writes what the other has not, and the file keeps
//! the order of the table.
//!
//! A rewrite keeps unknown lines and puts them first. A line that reuses one of our verdict ids with
//! another text is replaced by the stored version.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use plenary_core::protocols::review::redaction::LogRedaction;
use plenary_core::report::phrases::count_noun;
use serde::Serialize;

use crate::store::traits::{Store, log_line_pages};
use crate::verdict_log::lines::{
    LineMatch, LineMatcher, RawLine, RawLines, is_json_object, read_last_line,
};
use crate::verdict_log::log_file::{LogFile, LogFileError};

/// Suffix of the file beside the log that receives a torn line of another program.
const TORN_SUFFIX: &str = ".torn";

/// Longer than nine replies of maximum length, so each of our rows fits. An import has a lower
/// limit, because it keeps all rows in memory.
pub(crate) const LINE_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Result of `sync_log`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncResult {
    /// Number of rows written, including a completed one.
    pub appended: usize,
    /// The last line was torn and is complete again.
    pub repaired: bool,
    /// Unknown lines before ours. They are counted only if the file does not end with one of our
    /// rows, so they are reported once.
    pub unknown: usize,
    /// Those unknown lines that are not a JSON object, so that no import can read them.
    pub unreadable: usize,
    /// Lines whose text differs from their row; reported once, like unknown lines.
    pub altered: usize,
    /// Where the torn end of an unknown line was moved.
    pub kept_aside: Option<PathBuf>,
}

impl SyncResult {
    /// Messages for the user.
    pub fn to_sentences(&self, path: &Path) -> Vec<String> {
        let log = path.display();
        let mut sentences = Vec::new();
        if let Some(aside) = &self.kept_aside {
            let aside = aside.display();
            sentences.push(format!(
                "`{log}` ended in an incomplete line that is not in the store; it is now in `{aside}`"
            ));
        }
        let importable = self.unknown.saturating_sub(self.unreadable);
        if self.unreadable > 0 {
            let lines = count_noun(self.unreadable, "line");
            let verb = if self.unreadable == 1 { "is" } else { "are" };
            sentences.push(format!(
                "`{log}` has {lines} that {verb} not JSON; Plenary keeps them until you remove them"
            ));
        }
        if importable > 0 {
            let lines = count_noun(importable, "line");
            sentences.push(format!(
                "`{log}` has {lines} that the store does not know; `plenary log import {log}` imports them"
            ));
        }
        if self.altered > 0 {
            let lines = count_noun(self.altered, "line");
            sentences.push(format!(
                "`{log}` has {lines} with another text than in the store; `plenary log repair` rewrites the file"
            ));
        }
        sentences
    }
}

/// Updates the file from the table: appends the rows after the last one that the file has. It reads
/// the whole file only if the file does not end with one of our rows.
pub fn sync_log(store: &dyn Store, path: &Path) -> Result<SyncResult, LogFileError> {
    if store.load_log_lines(0, 1)?.is_empty() {
        // For an empty log, no file is created and an existing one is not touched.
        return Ok(SyncResult::default());
    }
    let mut log = LogFile::open_or_create(path)?;
    let bytes = log.file_size()?;
    let last = read_last_line(&mut log.file, bytes).map_err(|error| log.unreadable_error(error))?;
    let redaction = LogRedaction::default();
    let last =
        last.map(|line| LineMatcher::new(store, &redaction).match_line(&line)).transpose()?;
    let mut survey = match last {
        Some(LineMatch::Stored { seq }) => FileSurvey { last: seq, ..FileSurvey::default() },
        Some(LineMatch::Altered { .. } | LineMatch::Unknown | LineMatch::Blank) | None => {
            FileSurvey::read_log(store, &mut log, &redaction)?
        }
    };
    let mut synced = SyncResult {
        unknown: survey.differences.strangers,
        unreadable: survey.unreadable,
        altered: survey.differences.altered,
        ..SyncResult::default()
    };
    survey.close_last_line(&mut log, &mut synced)?;
    append_rows(store, &mut log, &survey, &mut synced)?;
    if bytes == 0 {
        log.sync_folder()?;
    }
    Ok(synced)
}

/// Appends the missing rows and syncs the file to disk.
fn append_rows(
    store: &dyn Store,
    log: &mut LogFile,
    survey: &FileSurvey,
    synced: &mut SyncResult,
) -> Result<(), LogFileError> {
    for lines in log_line_pages(store, survey.last) {
        let mut text = String::new();
        for line in lines?.iter().filter(|line| !survey.seen.contains(&line.seq)) {
            synced.appended += 1;
            text.push_str(&line.line);
            text.push('\n');
        }
        log.file.write_all(text.as_bytes()).map_err(|error| log.unwritable_error(error))?;
    }
    // Sync even without new rows: the process that wrote the last line may have crashed before its
    // sync.
    log.file.sync_all().map_err(|error| log.unwritable_error(error))
}

/// How the file differs from the table, or differed before the repair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LogDifferences {
    /// Rows of the table.
    pub rows: usize,
    /// Rows without a line in the file.
    pub missing: usize,
    /// Lines whose text differs from their row.
    pub altered: usize,
    /// Duplicate lines.
    pub repeated: usize,
    #[serde(rename = "out_of_order")]
    pub is_out_of_order: bool,
    /// The last line has no line break.
    #[serde(rename = "torn")]
    pub is_torn: bool,
    /// Blank lines.
    pub blank: usize,
    /// Unknown lines; they are kept.
    pub strangers: usize,
    /// Where the repair moved the torn end of an unknown line.
    pub kept_aside: Option<PathBuf>,
}

impl LogDifferences {
    /// Whether the file needs a repair.
    pub fn has_any(&self) -> bool {
        let lines = self.missing + self.altered + self.repeated + self.blank;
        lines > 0 || self.is_out_of_order || self.is_torn
    }
}

/// Compares file and table and changes nothing.
pub fn compare_log(
    store: &dyn Store,
    path: &Path,
    redaction: &LogRedaction,
) -> Result<LogDifferences, LogFileError> {
    let mut survey = match LogFile::open_existing(path)? {
        Some(mut log) => FileSurvey::read_log(store, &mut log, redaction)?,
        None => FileSurvey::default(),
    };
    survey.count_missing(store)?;
    Ok(survey.differences)
}

/// Repairs the file. Returns the differences from before the repair.
pub fn repair_log(
    store: &dyn Store,
    path: &Path,
    redaction: &LogRedaction,
) -> Result<LogDifferences, LogFileError> {
    // No file is created for an empty log.
    if !path.exists() && store.load_log_lines(0, 1)?.is_empty() {
        return compare_log(store, path, redaction);
    }
    let mut log = LogFile::open_or_create(path)?;
    let mut survey = FileSurvey::read_log(store, &mut log, redaction)?;
    survey.count_missing(store)?;
    let mut differences = survey.differences.clone();
    if !differences.has_any() {
        return Ok(differences);
    }
    if let OpenEnd::Stray { start } = survey.open_end {
        differences.kept_aside = Some(move_torn_end(&mut log, start)?);
    }
    rewrite_log(store, &log, &survey).map_err(|error| log.unwritable_error(error))?;
    log.sync_folder()?;
    Ok(differences)
}

/// The last line, if it has no line break.
#[derive(Debug, Default)]
enum OpenEnd {
    /// The file is empty or ends with a line break.
    #[default]
    Closed,
    /// The beginning of a row's line.
    Piece { start: u64 },
    /// The whole line of a row.
    Row { start: u64, seq: u64 },
    /// A JSON object that is the line of a row in another text.
    Altered,
    /// A JSON object of another program.
    Unknown,
    /// Any other text.
    Stray { start: u64 },
}

/// Result of reading the file.
#[derive(Debug, Default)]
struct FileSurvey {
    differences: LogDifferences,
    /// Unknown lines that are not a JSON object.
    unreadable: usize,
    /// Byte ranges of unknown lines, which are kept.
    unknown_lines: Vec<Range<u64>>,
    /// Rows that have a line in the file, with equal or different text.
    seen: BTreeSet<u64>,
    /// The last row with an equal line.
    last: u64,
    open_end: OpenEnd,
}

impl FileSurvey {
    fn read_log(
        store: &dyn Store,
        log: &mut LogFile,
        redaction: &LogRedaction,
    ) -> Result<Self, LogFileError> {
        let mut survey = Self::default();
        let mut matcher = LineMatcher::new(store, redaction);
        log.file.seek(SeekFrom::Start(0)).map_err(|error| log.unreadable_error(error))?;
        for line in RawLines::new(BufReader::new(&log.file), LINE_BYTES_MAX) {
            let line = line.map_err(|error| log.unreadable_error(error))?;
            survey.add_line(store, &mut matcher, line)?;
        }
        Ok(survey)
    }

    fn add_line(
        &mut self,
        store: &dyn Store,
        matcher: &mut LineMatcher<'_>,
        line: RawLine,
    ) -> Result<(), LogFileError> {
        let start = line.place.start;
        if !line.is_ended {
            self.differences.is_torn = true;
            if !is_json_object(&line.bytes) {
                self.open_end = match begins_row(store, &line.bytes)? {
                    true => OpenEnd::Piece { start },
                    false => OpenEnd::Stray { start },
                };
                return Ok(());
            }
        }
        let open_end = match matcher.match_line(&line.bytes)? {
            LineMatch::Blank => {
                self.differences.blank += 1;
                OpenEnd::Closed
            }
            LineMatch::Unknown => {
                self.differences.strangers += 1;
                self.unreadable += usize::from(!is_json_object(&line.bytes));
                self.unknown_lines.push(line.place);
                OpenEnd::Unknown
            }
            LineMatch::Stored { seq } => {
                self.differences.repeated += usize::from(!self.seen.insert(seq));
                self.differences.is_out_of_order |= seq < self.last;
                self.last = if line.is_ended { seq } else { self.last };
                OpenEnd::Row { start, seq }
            }
            LineMatch::Altered { seq } => {
                self.differences.altered += 1;
                self.seen.insert(seq);
                OpenEnd::Altered
            }
        };
        if !line.is_ended {
            self.open_end = open_end;
        }
        Ok(())
    }

    /// Counts the rows that are missing in the file.
    fn count_missing(&mut self, store: &dyn Store) -> Result<(), LogFileError> {
        for lines in log_line_pages(store, 0) {
            for line in &lines? {
                self.differences.rows += 1;
                self.differences.missing += usize::from(!self.seen.contains(&line.seq));
            }
        }
        Ok(())
    }

    /// Prepares a file without a line break at its end for appending. The line of a row is removed,
    /// to be appended again.
    fn close_last_line(
        &mut self,
        log: &mut LogFile,
        synced: &mut SyncResult,
    ) -> Result<(), LogFileError> {
        let closed = match self.open_end {
            OpenEnd::Closed => return Ok(()),
            OpenEnd::Stray { start } => {
                synced.kept_aside = Some(move_torn_end(log, start)?);
                return Ok(());
            }
            OpenEnd::Altered | OpenEnd::Unknown => log.file.write_all(b"\n"),
            OpenEnd::Piece { start } => log.file.set_len(start),
            OpenEnd::Row { start, seq } => {
                self.seen.remove(&seq);
                log.file.set_len(start)
            }
        };
        synced.repaired = matches!(self.open_end, OpenEnd::Piece { .. } | OpenEnd::Row { .. });
        closed.map_err(|error| log.unwritable_error(error))
    }
}

/// Whether the line of a row begins with these bytes.
fn begins_row(store: &dyn Store, piece: &[u8]) -> Result<bool, LogFileError> {
    for lines in log_line_pages(store, 0) {
        if lines?.iter().any(|line| line.line.as_bytes().starts_with(piece)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves the torn end of an unknown line out of the log into a file beside it.
fn move_torn_end(log: &mut LogFile, start: u64) -> Result<PathBuf, LogFileError> {
    let (path, aside) = log.open_beside(TORN_SUFFIX);
    let moved = aside.and_then(|mut aside| {
        log.file.seek(SeekFrom::Start(start))?;
        io::copy(&mut log.file, &mut aside)?;
        aside.write_all(b"\n")?;
        aside.sync_all()?;
        log.file.set_len(start)
    });
    moved.map_err(|source| LogFileError::Unwritable { path: path.clone(), source })?;
    Ok(path)
}

/// Replaces the file atomically: a reader sees the old file or the new one.
fn rewrite_log(store: &dyn Store, log: &LogFile, survey: &FileSurvey) -> io::Result<()> {
    let mut fresh = log.new_replacement()?;
    for place in &survey.unknown_lines {
        (&log.file).seek(SeekFrom::Start(place.start))?;
        let mut line = (&log.file).take(place.end - place.start);
        io::copy(&mut line, &mut fresh.file)?;
    }
    if matches!(survey.open_end, OpenEnd::Unknown) {
        fresh.file.write_all(b"\n")?;
    }
    for lines in log_line_pages(store, 0) {
        for line in &lines.map_err(io::Error::other)? {
            fresh.file.write_all(line.line.as_bytes())?;
            fresh.file.write_all(b"\n")?;
        }
    }
    fresh.file.sync_all()?;
    fresh.persist(log.file_name())
}
