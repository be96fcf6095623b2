//! Brings the file up to the table: appends what it lacks, makes a torn last line whole, writes
//! it for the first time.
//!
//! Rows are read from the store after the file is locked, and the order of the table is that of
//! the commits; so of two processes that log at once, each writes what the other has not, and
//! the file ends in the order of the table.

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

/// What is kept of a torn line that is not ours goes beside the log.
const TORN: &str = ".torn";

/// Longer than nine replies of the longest: a row of ours is always known again, and what is
/// longer is none. An import, which takes rows of others and holds them all, takes less.
pub(super) const LINE_BYTES_MAX: usize = 128 * 1024 * 1024;

/// What was done to the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    /// Rows that were written, the mended one among them.
    pub appended: usize,
    /// Its last line was torn, and is whole again.
    pub mended: bool,
    /// Lines before ours that the store does not know. They are counted when the file does not
    /// end with a row of ours, so they are told once.
    pub strangers: usize,
    /// Lines that say what the store says in other words; told once like strangers.
    pub otherwise: usize,
    /// Where the torn end of somebody else's line was put.
    pub kept_aside: Option<PathBuf>,
}

impl Synced {
    /// What a person should know of it, in sentences.
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

/// Makes the file say what the table says.
pub fn sync(store: &dyn Store, path: &Path) -> Result<Synced, LogFileError> {
    if store.log_lines(0, 1)?.is_empty() {
        // No file is made for a log without rows, nor is somebody else's touched.
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

/// From where on rows are written.
#[derive(Debug, Default)]
struct Start {
    /// The last row that the file has word for word.
    after: u64,
    /// Rows that it has in other words.
    otherwise: HashSet<u64>,
    /// How much of the next one is there.
    there: usize,
}

impl Start {
    /// The first row that the file lacks.
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

/// Looks at the end of the file, and makes it one that can be appended to.
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
            // Whole, but for the line break that its author does not write.
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

/// What of the store is in a file that does not end with a row of ours, and how many lines are
/// strangers.
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

/// Keeps the torn end of a line that is not ours, and takes it out of the log.
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

/// Appends what is missing, and returns when it is on disk.
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
    // Always: the process that wrote the last line may have died before it came to this.
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
