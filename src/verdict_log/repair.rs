//! Compares the whole file with the table, and writes it anew where they differ.
//!
//! Lines that the table does not know stay, before ours; a line that bears the id of a verdict
//! and reads otherwise gives way to the verdict as it was logged.

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

/// How the file differs from the table, or differed before it was mended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// Rows of the table.
    pub rows: usize,
    /// Rows of which there was no line.
    pub missing: usize,
    /// Lines that said a row in other words.
    pub altered: usize,
    /// Lines that were there before.
    pub repeated: usize,
    #[serde(rename = "out_of_order")]
    pub is_out_of_order: bool,
    /// The last line had no end.
    #[serde(rename = "torn")]
    pub is_torn: bool,
    /// Lines without anything on them.
    pub blank: usize,
    /// Lines that the table does not know; they stay.
    pub strangers: usize,
    /// Where the torn end of somebody else's line was put when the file was mended.
    pub kept_aside: Option<PathBuf>,
}

impl Differences {
    /// Whether there is anything to mend.
    pub fn has_any(&self) -> bool {
        let lines = self.missing + self.altered + self.repeated + self.blank;
        lines > 0 || self.is_out_of_order || self.is_torn
    }
}

/// Says how they differ, and changes nothing.
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

/// Mends what differs; what is said is how it was before.
pub fn repair(
    store: &dyn Store,
    path: &Path,
    redaction: &Redaction,
) -> Result<Differences, LogFileError> {
    // Looking and mending need the lock each; they must not wait for one another.
    let is_there = LogFile::look(path)?.is_some();
    // A log without rows is no file.
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

/// What was found in the file.
#[derive(Debug, Default)]
struct Survey {
    differences: Differences,
    /// Where lines stand that are kept.
    strangers: Vec<Range<u64>>,
    /// The last of them lacks its line break.
    is_stranger_open: bool,
    /// Rows whose lines are there, in whatever words.
    seen: BTreeSet<u64>,
    /// The last of them that is there word for word.
    last: u64,
    /// What follows the last line break, where it is no line.
    piece: Vec<u8>,
    /// That is not the beginning of a row.
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

    /// Holds what was found against the rows there are.
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

/// Puts a new file in the place of the old one: whoever reads sees the one or the other.
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
