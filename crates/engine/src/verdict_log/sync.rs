//! Updates the log file from the table: appends missing rows, completes a torn last line, creates
//! the file, and rewrites it if it differs from the table.
//!
//! Rows are read from the store after the file is locked, and the table has the order of the
//! commits. If two processes log at once, each writes what the other has not, and the file keeps
//! the order of the table.
//!
//! A rewrite keeps unknown lines and puts them first. A line that reuses one of our verdict ids with
//! another text is replaced by the stored version.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use plenary_core::protocols::review::log_row::LogLine;
use plenary_core::protocols::review::redaction::LogRedaction;
use serde::Serialize;

use crate::store::traits::{Store, log_line_pages};
use crate::verdict_log::lines::{
    LineMatch, LogTail, RawLine, RawLines, is_json_object, match_line,
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
    /// Lines whose text differs from their row; reported once, like unknown lines.
    pub altered: usize,
    /// Where the torn end of an unknown line was moved.
    pub kept_aside: Option<PathBuf>,
}

impl SyncResult {
    /// Messages for the user.
    pub fn to_sentences(&self, path: &Path) -> Vec<String> {
        let log = path.display();
        let mut said = Vec::new();
        if let Some(aside) = &self.kept_aside {
            let aside = aside.display();
            said.push(format!(
                "`{log}` ended in a torn line that is no verdict of this store; it was put into `{aside}`"
            ));
        }
        if self.unknown > 0 {
            let lines = if self.unknown == 1 { "line" } else { "lines" };
            said.push(format!(
                "`{log}` holds {} {lines} that the store does not know; `plenary log import {log}` takes them in",
                self.unknown
            ));
        }
        if self.altered > 0 {
            let lines = if self.altered == 1 { "line reads" } else { "lines read" };
            said.push(format!(
                "of `{log}` {} {lines} otherwise than in the store; `plenary log repair` writes it anew",
                self.altered
            ));
        }
        said
    }
}

/// Updates the file from the table.
pub fn sync_log(store: &dyn Store, path: &Path) -> Result<SyncResult, LogFileError> {
    if store.load_log_lines(0, 1)?.is_empty() {
        // For an empty log, no file is created and an existing one is not touched.
        return Ok(SyncResult::default());
    }
    let mut log = LogFile::open_or_create(path)?;
    let was_empty = log.file_size()? == 0;
    let (synced, start) = prepare_end(store, &mut log)?;
    let synced = append_rows(store, &mut log, synced, &start)?;
    if was_empty {
        log.sync_folder()?;
    }
    Ok(synced)
}

/// Where appending starts.
#[derive(Debug, Default)]
struct AppendStart {
    /// The last row with an equal line in the file.
    after: u64,
    /// Rows whose line in the file has another text.
    altered: HashSet<u64>,
    /// Number of bytes of the next row that are already in the file.
    present_bytes: usize,
}

impl AppendStart {
    /// The first row that is missing in the file.
    fn next_missing(&self, store: &dyn Store) -> Result<Option<LogLine>, LogFileError> {
        for lines in log_line_pages(store, self.after) {
            let missing = lines?.into_iter().find(|line| !self.altered.contains(&line.seq));
            if missing.is_some() {
                return Ok(missing);
            }
        }
        Ok(None)
    }
}

/// Reads the end of the file and prepares it for appending.
fn prepare_end(
    store: &dyn Store,
    log: &mut LogFile,
) -> Result<(SyncResult, AppendStart), LogFileError> {
    let bytes = log.file_size()?;
    let tail =
        LogTail::read_tail(&mut log.file, bytes).map_err(|error| log.unreadable_error(error))?;
    let line = tail.read_last_line(&mut log.file).map_err(|error| log.unreadable_error(error))?;
    let (mut start, mut strangers) = match match_line(store, &LogRedaction::default(), &line)? {
        LineMatch::Stored { seq } => (AppendStart { after: seq, ..AppendStart::default() }, 0),
        LineMatch::Blank if tail.whole == 0 => (AppendStart::default(), 0),
        LineMatch::Blank | LineMatch::Altered { .. } | LineMatch::Unknown => {
            search_log(store, log, &tail)?
        }
    };
    let mut synced = SyncResult { altered: start.altered.len(), ..SyncResult::default() };
    if tail.is_torn() {
        let most = LINE_BYTES_MAX as u64;
        let piece = tail
            .read_torn_piece(&mut log.file, most)
            .map_err(|error| log.unreadable_error(error))?;
        let next = start.next_missing(store)?;
        if next.is_some_and(|next| next.line.as_bytes().starts_with(&piece)) {
            (synced.repaired, start.present_bytes) = (true, piece.len());
        } else if is_json_object(&piece) {
            // A complete line without the line break.
            log.file.write_all(b"\n").map_err(|error| log.unwritable_error(error))?;
            strangers += usize::from(
                match_line(store, &LogRedaction::default(), &piece)? == LineMatch::Unknown,
            );
        } else {
            synced.kept_aside = Some(move_torn_end(log, &tail)?);
        }
    }
    synced.unknown = strangers;
    Ok((synced, start))
}

/// Reads a file that does not end with one of our rows. Returns where to append and the number of
/// unknown lines.
fn search_log(
    store: &dyn Store,
    log: &mut LogFile,
    tail: &LogTail,
) -> Result<(AppendStart, usize), LogFileError> {
    log.file.seek(SeekFrom::Start(0)).map_err(|error| log.unreadable_error(error))?;
    let whole = BufReader::new((&log.file).take(tail.whole));
    let (mut start, mut strangers) = (AppendStart::default(), 0);
    for line in RawLines::new(whole, LINE_BYTES_MAX) {
        let line = line.map_err(|error| log.unreadable_error(error))?;
        match match_line(store, &LogRedaction::default(), &line.bytes)? {
            LineMatch::Stored { seq } => start.after = seq,
            LineMatch::Altered { seq } => {
                start.altered.insert(seq);
            }
            LineMatch::Unknown => strangers += 1,
            LineMatch::Blank => {}
        }
    }
    Ok((start, strangers))
}

/// Moves the torn end of an unknown line out of the log into a file beside it.
pub(crate) fn move_torn_end(log: &mut LogFile, tail: &LogTail) -> Result<PathBuf, LogFileError> {
    let (path, aside) = log.open_beside(TORN_SUFFIX);
    let moved = aside
        .and_then(|aside| copy_torn_end(log, tail, aside))
        .and_then(|()| log.file.set_len(tail.whole));
    moved.map_err(|source| LogFileError::Unwritable { path: path.clone(), source })?;
    Ok(path)
}

fn copy_torn_end(log: &mut LogFile, tail: &LogTail, mut aside: File) -> io::Result<()> {
    log.file.seek(SeekFrom::Start(tail.whole))?;
    io::copy(&mut (&log.file).take(tail.bytes - tail.whole), &mut aside)?;
    aside.write_all(b"\n")?;
    aside.sync_all()
}

/// Appends the missing rows and syncs the file to disk.
fn append_rows(
    store: &dyn Store,
    log: &mut LogFile,
    mut synced: SyncResult,
    start: &AppendStart,
) -> Result<SyncResult, LogFileError> {
    let mut there = start.present_bytes;
    for lines in log_line_pages(store, start.after) {
        let mut lines = lines?;
        lines.retain(|line| !start.altered.contains(&line.seq));
        synced.appended += lines.len();
        log.file
            .write_all(join_lines(&lines).as_bytes().get(there..).unwrap_or_default())
            .map_err(|error| log.unwritable_error(error))?;
        there = 0;
    }
    // Sync even without new rows: the process that wrote the last line may have crashed before its
    // sync.
    log.file.sync_all().map_err(|error| log.unwritable_error(error))?;
    Ok(synced)
}

fn join_lines(lines: &[LogLine]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.line.len() + 1).sum());
    for line in lines {
        text.push_str(&line.line);
        text.push('\n');
    }
    text
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
    let survey = match LogFile::open_existing(path)? {
        Some(mut log) => FileSurvey::read_log(store, &mut log, redaction)?,
        None => FileSurvey::default().compare_with_rows(store)?,
    };
    Ok(survey.differences)
}

/// Repairs the file. Returns the differences from before the repair.
pub fn repair_log(
    store: &dyn Store,
    path: &Path,
    redaction: &LogRedaction,
) -> Result<LogDifferences, LogFileError> {
    // Comparing and repairing both need the lock, so release it in between.
    let is_there = LogFile::open_existing(path)?.is_some();
    // No file is created for an empty log.
    if !is_there && store.load_log_lines(0, 1)?.is_empty() {
        return Ok(LogDifferences::default());
    }
    let mut log = LogFile::open_or_create(path)?;
    let survey = FileSurvey::read_log(store, &mut log, redaction)?;
    let mut differences = survey.differences.clone();
    if !differences.has_any() {
        return Ok(differences);
    }
    if survey.is_stray {
        let bytes = log.file_size()?;
        let tail = LogTail::read_tail(&mut log.file, bytes)
            .map_err(|error| log.unreadable_error(error))?;
        differences.kept_aside = Some(move_torn_end(&mut log, &tail)?);
    }
    rewrite_log(store, &log, &survey).map_err(|error| log.unwritable_error(error))?;
    log.sync_folder()?;
    Ok(differences)
}

/// Result of reading the whole file.
#[derive(Debug, Default)]
struct FileSurvey {
    differences: LogDifferences,
    /// Byte ranges of unknown lines, which are kept.
    unknown_lines: Vec<Range<u64>>,
    /// The last unknown line has no line break.
    is_unknown_open: bool,
    /// Rows that have a line in the file, with equal or different text.
    seen: BTreeSet<u64>,
    /// The last row with an equal line.
    last: u64,
    /// Text after the last line break, if it is no complete line.
    piece: Vec<u8>,
    /// That text is not the beginning of a row.
    is_stray: bool,
}

impl FileSurvey {
    fn read_log(
        store: &dyn Store,
        log: &mut LogFile,
        redaction: &LogRedaction,
    ) -> Result<Self, LogFileError> {
        let mut survey = Self::default();
        log.file.seek(SeekFrom::Start(0)).map_err(|error| log.unreadable_error(error))?;
        for line in RawLines::new(BufReader::new(&log.file), LINE_BYTES_MAX) {
            let line = line.map_err(|error| log.unreadable_error(error))?;
            survey.add_line(store, redaction, line)?;
        }
        survey.compare_with_rows(store)
    }

    fn add_line(
        &mut self,
        store: &dyn Store,
        redaction: &LogRedaction,
        line: RawLine,
    ) -> Result<(), LogFileError> {
        let differences = &mut self.differences;
        differences.is_torn |= !line.is_ended;
        if !line.is_ended && !is_json_object(&line.bytes) {
            self.piece = line.bytes;
            return Ok(());
        }
        match match_line(store, redaction, &line.bytes)? {
            LineMatch::Blank => differences.blank += 1,
            LineMatch::Unknown => {
                differences.strangers += 1;
                self.is_unknown_open = !line.is_ended;
                self.unknown_lines.push(line.place);
            }
            LineMatch::Stored { seq } => {
                differences.repeated += usize::from(!self.seen.insert(seq));
                differences.is_out_of_order |= seq < self.last;
                self.last = seq;
            }
            LineMatch::Altered { seq } => {
                differences.altered += 1;
                self.seen.insert(seq);
            }
        }
        Ok(())
    }

    /// Counts the rows that are missing in the file.
    fn compare_with_rows(mut self, store: &dyn Store) -> Result<Self, LogFileError> {
        let mut is_ours = self.piece.is_empty();
        for lines in log_line_pages(store, 0) {
            for line in &lines? {
                self.differences.rows += 1;
                self.differences.missing += usize::from(!self.seen.contains(&line.seq));
                is_ours |= line.line.as_bytes().starts_with(&self.piece);
            }
        }
        self.is_stray = !is_ours;
        Ok(self)
    }
}

/// Replaces the file atomically: a reader sees the old file or the new one.
fn rewrite_log(store: &dyn Store, log: &LogFile, survey: &FileSurvey) -> io::Result<()> {
    let mut fresh = log.new_replacement()?;
    for place in &survey.unknown_lines {
        (&log.file).seek(SeekFrom::Start(place.start))?;
        let mut line = (&log.file).take(place.end - place.start);
        io::copy(&mut line, &mut fresh.file)?;
    }
    if survey.is_unknown_open {
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
