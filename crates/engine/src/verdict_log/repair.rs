//! Compares the log file with the verdict log table and rewrites the file if they differ.
//!
//! Unknown lines are kept and come first. A line that reuses one of our verdict ids with another
//! text is replaced by the stored version.

use std::collections::BTreeSet;
use std::io;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use plenary_core::protocols::review::redaction::LogRedaction;
use serde::Serialize;

use crate::store::traits::{Store, log_line_pages};
use crate::verdict_log::lines::{
    LineMatch, LogTail, RawLine, RawLines, is_json_object, match_line,
};
use crate::verdict_log::log_file::{LogFile, LogFileError};
use crate::verdict_log::sync::{LINE_BYTES_MAX, move_torn_end};

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
