//! `log import`: rows that others wrote, or that a lost store had.
//!
//! An import is a dialogue of its own, closed as it is opened, so that its rows are chained like
//! all others. What is no row is told with its reason and passed over; the rest comes in at
//! once, or not at all.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::naming::hexed_id;
use super::super::workspace::Workspace;
use crate::domain::change::{Change, EntryKind};
use crate::domain::dialogue::{DialogueStatus, Opening, Protocol};
use crate::domain::dice::SplitMix;
use crate::domain::gate::{ForeignRow, LogRow, Redaction};
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;
use crate::error::Error;
use crate::files::{FileError, Folders};
use crate::store::{StoreError, Unit, transact};
use crate::verdict_log::{Lines, RawLine};

/// Some ten thousand verdicts. They come in together, so they are held together.
pub const LOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A verdict of nine long replies. Not the limit of the log's own file, which is that of the
/// longest replies there can be: what others send may be refused, what the store has may not
/// be overlooked.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Lines that are told one by one; a file with more of them is no log.
const TOLD_MAX: usize = 100;

/// Rows of one entry of the journal.
const ENTRY_ROWS: usize = 500;

/// Clocks differ; what lies further ahead would be the newest verdict for long.
const DAYS_AHEAD_MAX: u32 = 1;

/// Where rows come from.
#[derive(Debug)]
pub struct Importing<'a, R> {
    /// What it is called; the path, or `-`.
    pub path: &'a Path,
    pub source: R,
    pub redaction: &'a Redaction,
}

/// What became of the lines.
#[derive(Debug, Serialize)]
pub struct Imported {
    pub status: &'static str,
    /// The import itself, unless nothing new came.
    pub dialogue_id: Option<DialogueId>,
    pub lines: usize,
    pub imported: usize,
    /// The store had them already.
    pub known: usize,
    pub malformed: usize,
    /// The first of those, with the reasons.
    pub malformed_lines: Vec<Malformed>,
    /// Those that bear the id of a verdict and read otherwise than it: the store's stays.
    pub otherwise: Vec<Otherwise>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Malformed {
    pub line: usize,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Otherwise {
    pub line: usize,
    pub verdict_id: String,
}

impl Imported {
    fn malformed(&mut self, line: usize, reason: String) {
        self.malformed += 1;
        if self.malformed_lines.len() < TOLD_MAX {
            self.malformed_lines.push(Malformed { line, reason });
        }
    }

    fn known(&mut self, line: usize, otherwise: Option<String>) {
        self.known += 1;
        if let Some(verdict_id) = otherwise.filter(|_| self.otherwise.len() < TOLD_MAX) {
            self.otherwise.push(Otherwise { line, verdict_id });
        }
    }
}

/// A row that could be read.
struct Candidate {
    line: usize,
    row: LogRow,
    fingerprint: String,
    /// The fingerprint before anything was redacted: patterns may be younger than the store's row.
    as_written: String,
}

pub fn import_log<R: BufRead>(
    workspace: &Workspace,
    importing: Importing<'_, R>,
) -> Result<Imported, Error> {
    let (at, path) = (workspace.ambient.now(), importing.path.to_owned());
    let (mut imported, candidates) = read(importing, at)?;
    let mut dice = SplitMix::new(workspace.ambient.chance());
    transact(workspace.store.as_ref(), |unit| {
        let fresh = sift(unit, candidates, &mut imported)?;
        if fresh.is_empty() {
            return Ok(imported);
        }
        let title = format!("Imported verdicts: {}", shown(&path));
        let id = hexed_id(unit, &title, &mut dice)?;
        imported.imported = fresh.len();
        unit.apply(&id, EntryKind::DialogueCreated, at, &opened(&id, title, &workspace.folders))?;
        let changes = logged(&id, fresh);
        for entry in changes.chunks(ENTRY_ROWS) {
            unit.apply(&id, EntryKind::VerdictLogged, at, entry)?;
        }
        imported.dialogue_id = Some(id);
        Ok(imported)
    })
}

fn read<R: BufRead>(
    importing: Importing<'_, R>,
    now: Moment,
) -> Result<(Imported, Vec<Candidate>), Error> {
    let mut imported = Imported {
        status: "success",
        dialogue_id: None,
        lines: 0,
        imported: 0,
        known: 0,
        malformed: 0,
        malformed_lines: Vec::new(),
        otherwise: Vec::new(),
    };
    let path = || PathBuf::from(importing.path);
    let latest = now.day().later(DAYS_AHEAD_MAX + 1).start();
    let mut candidates = Vec::new();
    // One byte over the limit is enough to know that it is over.
    let source = importing.source.take(LOG_BYTES_MAX as u64 + 1);
    for line in Lines::new(source, LINE_BYTES_MAX) {
        let line = line.map_err(|source| FileError::Unreadable { path: path(), source })?;
        if line.place.end > LOG_BYTES_MAX as u64 {
            return Err(FileError::TooLarge { path: path(), bytes_max: LOG_BYTES_MAX }.into());
        }
        if line.bytes.iter().all(u8::is_ascii_whitespace) && !line.is_too_long {
            continue;
        }
        imported.lines += 1;
        match row(&line, latest) {
            Ok(row) => {
                let row = LogRow { imported: true, ..row };
                let as_written = row.fingerprint().map_err(Error::Document)?;
                let row = importing.redaction.apply(&row);
                let fingerprint = row.fingerprint().map_err(Error::Document)?;
                candidates.push(Candidate { line: line.number, row, fingerprint, as_written });
            }
            Err(reason) => imported.malformed(line.number, reason),
        }
    }
    Ok((imported, candidates))
}

fn row(line: &RawLine, latest: Moment) -> Result<LogRow, String> {
    if line.is_too_long {
        return Err(format!("it is over the limit of {LINE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(&line.bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let row = ForeignRow::read(text).map_err(|fault| fault.to_string())?.row;
    if row.ts > latest { Err("`ts` lies in the future".to_owned()) } else { Ok(row) }
}

/// Those that the store does not have; of the others it is noted what they are.
fn sift(
    unit: &mut dyn Unit,
    candidates: Vec<Candidate>,
    imported: &mut Imported,
) -> Result<Vec<Candidate>, Error> {
    let (mut ids, mut alike) = (BTreeSet::new(), BTreeSet::new());
    let mut fresh = Vec::new();
    for candidate in candidates {
        let Candidate { line, row, fingerprint, as_written } = &candidate;
        let stored = match &row.verdict_id {
            Some(id) => unit.logged(id)?,
            None => None,
        };
        if let Some(stored) = stored {
            let own = stored.row.fingerprint().map_err(Error::Document)?;
            let is_same = own == *fingerprint || own == *as_written;
            let otherwise = (!is_same).then_some(stored.verdict_id);
            imported.known(*line, otherwise);
        } else if unit.logged_alike(fingerprint)?.is_some() || !alike.insert(fingerprint.clone()) {
            imported.known(*line, None);
        } else if row.verdict_id.clone().is_some_and(|id| !ids.insert(id)) {
            imported.malformed(*line, "`verdict_id` stands in a line before it".to_owned());
        } else if is_disowned(unit, row)? {
            let reason =
                "`verdict_id` is one of a dialogue of this store, which has no such verdict";
            imported.malformed(*line, reason.to_owned());
        } else {
            fresh.push(candidate);
        }
    }
    Ok(fresh)
}

/// Whether it bears an id that a dialogue of ours would give, and did not: it would stand in the
/// way of the dialogue's own next verdict.
fn is_disowned(unit: &mut dyn Unit, row: &LogRow) -> Result<bool, StoreError> {
    let id = row.verdict_id.as_deref().and_then(|id| id.rsplit_once('/'));
    match id.and_then(|(dialogue, _)| dialogue.parse::<DialogueId>().ok()) {
        Some(dialogue) => unit.is_taken(&dialogue),
        None => Ok(false),
    }
}

fn opened(id: &DialogueId, title: String, folders: &Folders) -> [Change; 2] {
    let opening = Opening {
        dialogue_id: id.clone(),
        title,
        question: None,
        background: None,
        protocol: Protocol::Review,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: folders.default_output_dir(id.as_str()),
    };
    let status = DialogueStatus::Converged;
    [Change::DialogueOpened(opening), Change::StatusSet { status, reason: None }]
}

/// Rows that came without an id get one of the import's.
fn logged(id: &DialogueId, fresh: Vec<Candidate>) -> Vec<Change> {
    let rows = fresh.into_iter().map(|candidate| candidate.row).enumerate();
    let named = rows.map(|(place, row)| {
        let own = || format!("{id}/{}", place + 1);
        LogRow { verdict_id: Some(row.verdict_id.clone().unwrap_or_else(own)), ..row }
    });
    named.map(|row| Change::VerdictLogged(Box::new(row))).collect()
}

/// What a list shows of the path.
fn shown(path: &Path) -> String {
    const CHARS_MAX: usize = 80;
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.chars().take(CHARS_MAX).collect()
}
