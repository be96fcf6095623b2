//! Updates the log file from the table: appends missing rows, completes a torn last line, creates
//! the file.
//!
//! Rows are read from the store after the file is locked, and the table has the order of the
//! commits. If two processes log at once, each writes what the other has not, and the file keeps
//! the order of the table.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::LogFileError;
use super::file::LogFile;
use super::line::Lines;
use super::origin::{LineOrigin, is_object, origin};
use super::tail::Tail;
use crate::domain::gate::{LogLine, Redaction};
use crate::store::{Store, log_line_pages};

/// Suffix of the file beside the log that receives a torn line of another program.
const TORN: &str = ".torn";

/// Longer than nine replies of maximum length, so each of our rows fits. An import has a lower
/// limit, because it keeps all rows in memory.
pub(super) const LINE_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Result of `sync_log`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    /// Number of rows written, including a completed one.
    pub appended: usize,
    /// The last line was torn and is complete again.
    pub mended: bool,
    /// Unknown lines before ours. They are counted only if the file does not end with one of our
    /// rows, so they are reported once.
    pub strangers: usize,
    /// Lines whose text differs from their row; reported once, like unknown lines.
    pub otherwise: usize,
    /// Where the torn end of an unknown line was moved.
    pub kept_aside: Option<PathBuf>,
}

impl Synced {
    /// Messages for the user.
    pub fn sentences(&self, path: &Path) -> Vec<String> {
        let log = path.display();
        let mut said = Vec::new();
        if let Some(aside) = &self.kept_aside {
            let aside = aside.display();
            said.push(format!(
                "`{log}` ended in a torn line that is no verdict of this store; it was put into `{aside}`"
            ));
        }
        if self.strangers > 0 {
            let lines = if self.strangers == 1 { "line" } else { "lines" };
            said.push(format!(
                "`{log}` holds {} {lines} that the store does not know; `plenary log import {log}` takes them in",
                self.strangers
            ));
        }
        if self.otherwise > 0 {
            let lines = if self.otherwise == 1 { "line reads" } else { "lines read" };
            said.push(format!(
                "of `{log}` {} {lines} otherwise than in the store; `plenary log repair` writes it anew",
                self.otherwise
            ));
        }
        said
    }
}

/// Updates the file from the table.
pub fn sync(store: &dyn Store, path: &Path) -> Result<Synced, LogFileError> {
    if store.log_lines(0, 1)?.is_empty() {
        // For an empty log, no file is created and an existing one is not touched.
        return Ok(Synced::default());
    }
    let mut log = LogFile::open(path)?;
    let was_empty = log.bytes()? == 0;
    let (synced, start) = prepared(store, &mut log)?;
    let synced = written(store, &mut log, synced, &start)?;
    if was_empty {
        log.sync_folder()?;
    }
    Ok(synced)
}

/// Where appending starts.
#[derive(Debug, Default)]
struct Start {
    /// The last row with an equal line in the file.
    after: u64,
    /// Rows whose line in the file has another text.
    otherwise: HashSet<u64>,
    /// Number of bytes of the next row that are already in the file.
    there: usize,
}

impl Start {
    /// The first row that is missing in the file.
    fn next(&self, store: &dyn Store) -> Result<Option<LogLine>, LogFileError> {
        for lines in log_line_pages(store, self.after) {
            let missing = lines?.into_iter().find(|line| !self.otherwise.contains(&line.seq));
            if missing.is_some() {
                return Ok(missing);
            }
        }
        Ok(None)
    }
}

/// Reads the end of the file and prepares it for appending.
fn prepared(store: &dyn Store, log: &mut LogFile) -> Result<(Synced, Start), LogFileError> {
    let bytes = log.bytes()?;
    let tail = Tail::of(&mut log.file, bytes).map_err(|error| log.unreadable(error))?;
    let line = tail.line(&mut log.file).map_err(|error| log.unreadable(error))?;
    let (mut start, mut strangers) = match origin(store, &Redaction::default(), &line)? {
        LineOrigin::Ours { seq } => (Start { after: seq, ..Start::default() }, 0),
        LineOrigin::Blank if tail.whole == 0 => (Start::default(), 0),
        LineOrigin::Blank | LineOrigin::Known { .. } | LineOrigin::Stranger => {
            searched(store, log, &tail)?
        }
    };
    let mut synced = Synced { otherwise: start.otherwise.len(), ..Synced::default() };
    if tail.is_torn() {
        let most = LINE_BYTES_MAX as u64;
        let piece = tail.piece(&mut log.file, most).map_err(|error| log.unreadable(error))?;
        let next = start.next(store)?;
        if next.is_some_and(|next| next.line.as_bytes().starts_with(&piece)) {
            (synced.mended, start.there) = (true, piece.len());
        } else if is_object(&piece) {
            // A complete line without the line break.
            log.file.write_all(b"\n").map_err(|error| log.unwritable(error))?;
            strangers +=
                usize::from(origin(store, &Redaction::default(), &piece)? == LineOrigin::Stranger);
        } else {
            synced.kept_aside = Some(put_aside(log, &tail)?);
        }
    }
    synced.strangers = strangers;
    Ok((synced, start))
}

/// Reads a file that does not end with one of our rows. Returns where to append and the number of
/// unknown lines.
fn searched(
    store: &dyn Store,
    log: &mut LogFile,
    tail: &Tail,
) -> Result<(Start, usize), LogFileError> {
    log.file.seek(SeekFrom::Start(0)).map_err(|error| log.unreadable(error))?;
    let whole = BufReader::new((&log.file).take(tail.whole));
    let (mut start, mut strangers) = (Start::default(), 0);
    for line in Lines::new(whole, LINE_BYTES_MAX) {
        let line = line.map_err(|error| log.unreadable(error))?;
        match origin(store, &Redaction::default(), &line.bytes)? {
            LineOrigin::Ours { seq } => start.after = seq,
            LineOrigin::Known { seq } => {
                start.otherwise.insert(seq);
            }
            LineOrigin::Stranger => strangers += 1,
            LineOrigin::Blank => {}
        }
    }
    Ok((start, strangers))
}

/// Moves the torn end of an unknown line out of the log into a file beside it.
pub(super) fn put_aside(log: &mut LogFile, tail: &Tail) -> Result<PathBuf, LogFileError> {
    let (path, aside) = log.open_beside(TORN);
    let moved = aside
        .and_then(|aside| copied(log, tail, aside))
        .and_then(|()| log.file.set_len(tail.whole));
    moved.map_err(|source| LogFileError::Unwritable { path: path.clone(), source })?;
    Ok(path)
}

fn copied(log: &mut LogFile, tail: &Tail, mut aside: File) -> io::Result<()> {
    log.file.seek(SeekFrom::Start(tail.whole))?;
    io::copy(&mut (&log.file).take(tail.bytes - tail.whole), &mut aside)?;
    aside.write_all(b"\n")?;
    aside.sync_all()
}

/// Appends the missing rows and syncs the file to disk.
fn written(
    store: &dyn Store,
    log: &mut LogFile,
    mut synced: Synced,
    start: &Start,
) -> Result<Synced, LogFileError> {
    let mut there = start.there;
    for lines in log_line_pages(store, start.after) {
        let mut lines = lines?;
        lines.retain(|line| !start.otherwise.contains(&line.seq));
        synced.appended += lines.len();
        log.file
            .write_all(text(&lines).as_bytes().get(there..).unwrap_or_default())
            .map_err(|error| log.unwritable(error))?;
        there = 0;
    }
    // Sync even without new rows: the process that wrote the last line may have crashed before its
    // sync.
    log.file.sync_all().map_err(|error| log.unwritable(error))?;
    Ok(synced)
}

fn text(lines: &[LogLine]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.line.len() + 1).sum());
    for line in lines {
        text.push_str(&line.line);
        text.push('\n');
    }
    text
}
