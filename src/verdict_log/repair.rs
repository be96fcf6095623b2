//! Compares the log file with the verdict log table and rewrites the file if they differ.
//!
//! Unknown lines are kept and come first. A line that reuses one of our verdict ids with another
//! text is replaced by the stored version.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::LogFileError;
use super::file::LogFile;
use super::line::{Lines, RawLine};
use super::origin::{LineOrigin, is_object, origin};
use super::sync::{LINE_BYTES_MAX, put_aside};
use super::tail::Tail;
use crate::domain::gate::Redaction;
use crate::store::{Store, log_line_pages};

/// How the file differs from the table, or differed before the repair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
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

impl Differences {
    /// Whether the file needs a repair.
    pub fn has_any(&self) -> bool {
        let lines = self.missing + self.altered + self.repeated + self.blank;
        lines > 0 || self.is_out_of_order || self.is_torn
    }
}

/// Compares file and table and changes nothing.
pub fn compare(
    store: &dyn Store,
    path: &Path,
    redaction: &Redaction,
) -> Result<Differences, LogFileError> {
    let survey = match LogFile::look(path)? {
        Some(mut log) => Survey::of(store, &mut log, redaction)?,
        None => Survey::default().against(store)?,
    };
    Ok(survey.differences)
}

/// Repairs the file. Returns the differences from before the repair.
pub fn repair(
    store: &dyn Store,
    path: &Path,
    redaction: &Redaction,
) -> Result<Differences, LogFileError> {
    // Comparing and repairing both need the lock, so release it in between.
    let is_there = LogFile::look(path)?.is_some();
    // No file is created for an empty log.
    if !is_there && store.log_lines(0, 1)?.is_empty() {
        return Ok(Differences::default());
    }
    let mut log = LogFile::open(path)?;
    let survey = Survey::of(store, &mut log, redaction)?;
    let mut differences = survey.differences.clone();
    if !differences.has_any() {
        return Ok(differences);
    }
    if survey.is_stray {
        let bytes = log.bytes()?;
        let tail = Tail::of(&mut log.file, bytes).map_err(|error| log.unreadable(error))?;
        differences.kept_aside = Some(put_aside(&mut log, &tail)?);
    }
    rewritten(store, &log, &survey).map_err(|error| log.unwritable(error))?;
    log.sync_folder()?;
    Ok(differences)
}

/// Result of reading the whole file.
#[derive(Debug, Default)]
struct Survey {
    differences: Differences,
    /// Byte ranges of unknown lines, which are kept.
    strangers: Vec<Range<u64>>,
    /// The last unknown line has no line break.
    is_stranger_open: bool,
    /// Rows that have a line in the file, with equal or different text.
    seen: BTreeSet<u64>,
    /// The last row with an equal line.
    last: u64,
    /// Text after the last line break, if it is no complete line.
    piece: Vec<u8>,
    /// That text is not the beginning of a row.
    is_stray: bool,
}

impl Survey {
    fn of(
        store: &dyn Store,
        log: &mut LogFile,
        redaction: &Redaction,
    ) -> Result<Self, LogFileError> {
        let mut survey = Self::default();
        log.file.seek(SeekFrom::Start(0)).map_err(|error| log.unreadable(error))?;
        for line in Lines::new(BufReader::new(&log.file), LINE_BYTES_MAX) {
            let line = line.map_err(|error| log.unreadable(error))?;
            survey.add(store, redaction, line)?;
        }
        survey.against(store)
    }

    fn add(
        &mut self,
        store: &dyn Store,
        redaction: &Redaction,
        line: RawLine,
    ) -> Result<(), LogFileError> {
        let differences = &mut self.differences;
        differences.is_torn |= !line.is_ended;
        if !line.is_ended && !is_object(&line.bytes) {
            self.piece = line.bytes;
            return Ok(());
        }
        match origin(store, redaction, &line.bytes)? {
            LineOrigin::Blank => differences.blank += 1,
            LineOrigin::Stranger => {
                differences.strangers += 1;
                self.is_stranger_open = !line.is_ended;
                self.strangers.push(line.place);
            }
            LineOrigin::Ours { seq } => {
                differences.repeated += usize::from(!self.seen.insert(seq));
                differences.is_out_of_order |= seq < self.last;
                self.last = seq;
            }
            LineOrigin::Known { seq } => {
                differences.altered += 1;
                self.seen.insert(seq);
            }
        }
        Ok(())
    }

    /// Counts the rows that are missing in the file.
    fn against(mut self, store: &dyn Store) -> Result<Self, LogFileError> {
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
fn rewritten(store: &dyn Store, log: &LogFile, survey: &Survey) -> io::Result<()> {
    let mut fresh = log.fresh()?;
    for place in &survey.strangers {
        (&log.file).seek(SeekFrom::Start(place.start))?;
        let mut line = (&log.file).take(place.end - place.start);
        io::copy(&mut line, &mut fresh.file)?;
    }
    if survey.is_stranger_open {
        fresh.file.write_all(b"\n")?;
    }
    for lines in log_line_pages(store, 0) {
        for line in &lines.map_err(io::Error::other)? {
            fresh.file.write_all(line.line.as_bytes())?;
            fresh.file.write_all(b"\n")?;
        }
    }
    fresh.file.sync_all()?;
    fresh.persist(log.name())
}
