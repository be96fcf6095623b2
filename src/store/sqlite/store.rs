//! `SqliteStore`: one connection for writing, a small pool for reading.

use std::fmt;
use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::apply::{self, Applier};
use super::columns::{json, parsed, query};
use super::load::Depth;
use super::{catalogue, connect, endings, facts, journal, load, show, verdict_log, verify};
use crate::domain::catalogue::{
    AuditedEnding, Citation, Due, EndingQuery, Hit, ListQuery, Stats, Summary,
};
use crate::domain::change::{Change, Entry, EntryKind};
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::{Facts, Mentions};
use crate::domain::gate::{
    ContentQuery, DecidedContent, LogLine, LogQuery, LogRow, LoggedVerdict, RecordedOverride,
};
use crate::domain::ids::{DialogueId, EntityId};
use crate::domain::record::Record;
use crate::domain::shown::Viewer;
use crate::domain::time::{Day, Moment};
use crate::record::convergence::Pulse;
use crate::store::error::StoreError;
use crate::store::verbs::{End, PlacedEntry, Registration, Store, Unit};
use crate::store::verification::Verification;

/// Folder of the default store.
const OWN_FOLDER: &str = ".plenary";

/// Maximum number of idle read connections. More may be open while in use.
const READERS_KEPT: usize = 4;

/// Dialogues in a SQLite file.
pub struct SqliteStore {
    place: Place,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

enum Place {
    File(PathBuf),
    /// A single connection for everything, because a second one would open another database.
    Memory,
}

impl SqliteStore {
    /// Opens the file, creates it if missing, and runs pending migrations.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        make_private_file(path);
        let writer = Mutex::new(connect::file(path)?);
        Ok(Self { place: Place::File(path.to_owned()), writer, readers: Mutex::default() })
    }

    /// A store in memory, lost when dropped.
    pub fn in_memory() -> Result<Self, StoreError> {
        let writer = Mutex::new(connect::memory()?);
        Ok(Self { place: Place::Memory, writer, readers: Mutex::default() })
    }

    /// Limits the file to this many pages, or to its current size if that is larger.
    #[cfg(test)]
    pub(crate) fn limit_pages(&self, pages: u32) {
        let sql = format!("PRAGMA max_page_count = {pages}");
        lock(&self.writer).query_row(&sql, [], |_| Ok(())).unwrap();
    }

    /// Traces the connection of an in-memory store.
    #[cfg(test)]
    pub(super) fn trace(
        &mut self,
        events: rusqlite::trace::TraceEventCodes,
        note: impl FnMut(rusqlite::trace::TraceEvent<'_>) + Send + 'static,
    ) {
        lock(&self.writer).trace_v2(events, Some(note)).unwrap();
    }

    /// Runs a query on one snapshot of the store.
    fn read<T>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Place::File(path) = &self.place else { return snapshot(&lock(&self.writer), ask) };
        let idle = lock(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect::file(path)?,
        };
        let answer = snapshot(&connection, ask);
        let mut readers = lock(&self.readers);
        if readers.len() < READERS_KEPT {
            readers.push(connection);
        }
        answer
    }
}

/// Creates the folder of a store. The default folder is private and ignored by version control,
/// because it contains records and a token.
#[expect(clippy::disallowed_methods, reason = "the store makes its own folder")]
fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::NoFolder { path: folder.to_owned(), source };
    if folder.exists() || !folder.ends_with(OWN_FOLDER) {
        return std::fs::create_dir_all(folder).map_err(failed);
    }
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {}
        // Another process created it at the same time.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(failed(error)),
    }
    // A missing `.gitignore` is no reason to fail.
    let _ = std::fs::write(folder.join(".gitignore"), "*\n");
    Ok(())
}

/// Creates the file of a new store for its owner only. SQLite gives the files beside it the same
/// mode. An existing store keeps its mode, because a team may share it.
fn make_private_file(path: &Path) {
    // Only if the file is missing: closing another handle on a file that SQLite has open would
    // release SQLite's locks.
    if !path.try_exists().unwrap_or(true) {
        // If this fails, SQLite creates the file or reports why it cannot. Links are followed, as
        // SQLite does.
        let _ = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    }
}

/// A poisoned lock is safe: SQLite rolled back the unfinished transaction.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn snapshot<T>(
    connection: &Connection,
    ask: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let answer = ask(&transaction)?;
    transaction.commit()?;
    Ok(answer)
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(path) => write!(f, "SqliteStore({})", path.display()),
            Place::Memory => f.write_str("SqliteStore(memory)"),
        }
    }
}

impl Store for SqliteStore {
    fn write(&self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError> {
        let connection = lock(&self.writer);
        let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
        match work(&mut SqliteUnit { connection: &transaction }) {
            End::Commit => transaction.commit()?,
            // SQLite already rolled back after some errors, such as a full disk.
            End::RollBack if transaction.is_autocommit() => {}
            End::RollBack => transaction.rollback()?,
        }
        Ok(())
    }

    fn dialogue(&self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError> {
        self.read(|connection| load::dialogue(connection, id))
    }

    fn record(&self, id: &DialogueId) -> Result<Option<Record>, StoreError> {
        self.read(|connection| load::record(connection, id, Depth::Whole))
    }

    fn show_before(
        &self,
        id: &DialogueId,
        round: u8,
        viewer: &mut Viewer<'_>,
    ) -> Result<Option<Record>, StoreError> {
        self.read(|connection| {
            let record = load::record(connection, id, Depth::Before(round))?;
            if let Some(record) = &record {
                show::entities(connection, record, viewer)?;
            }
            Ok(record)
        })
    }

    fn entries(&self, id: &DialogueId, after: u64) -> Result<Vec<Entry>, StoreError> {
        self.read(|connection| journal::entries(connection, id, after))
    }

    fn last_intervention(&self) -> Result<u64, StoreError> {
        self.read(journal::last_intervention)
    }

    fn cost_entries(&self, after: u64, since: Moment) -> Result<Vec<PlacedEntry>, StoreError> {
        self.read(|connection| journal::cost_entries(connection, after, since))
    }

    fn pulse(&self, id: &DialogueId) -> Result<Option<Pulse>, StoreError> {
        self.read(|connection| facts::pulse(connection, id))
    }

    fn list(&self, query: &ListQuery) -> Result<Vec<Summary>, StoreError> {
        self.read(|connection| catalogue::list(connection, query))
    }

    fn search(&self, words: &[String], limit: usize) -> Result<Vec<Hit>, StoreError> {
        self.read(|connection| catalogue::search(connection, words, limit))
    }

    fn stats(&self, top_experts: usize) -> Result<Stats, StoreError> {
        self.read(|connection| catalogue::stats(connection, top_experts))
    }

    fn endings(&self, query: &EndingQuery) -> Result<Vec<AuditedEnding>, StoreError> {
        self.read(|connection| endings::endings(connection, query))
    }

    fn due(&self, by: Day, limit: usize) -> Result<Vec<Due>, StoreError> {
        self.read(|connection| endings::due(connection, by, limit))
    }

    fn cite(&self, dialogue: &DialogueId, id: EntityId) -> Result<Option<Citation>, StoreError> {
        self.read(|connection| catalogue::cite(connection, dialogue, id))
    }

    fn log_lines(&self, after: u64, limit: usize) -> Result<Vec<LogLine>, StoreError> {
        self.read(|connection| verdict_log::lines(connection, after, limit))
    }

    fn log_page(&self, query: &LogQuery) -> Result<Vec<LoggedVerdict>, StoreError> {
        self.read(|connection| verdict_log::page(connection, query))
    }

    fn priors(&self, artifact_type: &str, limit: usize) -> Result<Vec<LogRow>, StoreError> {
        self.read(|connection| verdict_log::priors(connection, artifact_type, limit))
    }

    fn logged(&self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError> {
        self.read(|connection| verdict_log::logged(connection, verdict_id))
    }

    fn log_line(&self, verdict_id: &str) -> Result<Option<LogLine>, StoreError> {
        self.read(|connection| verdict_log::line(connection, verdict_id))
    }

    fn logged_alike(&self, fingerprint: &str) -> Result<Option<u64>, StoreError> {
        self.read(|connection| verdict_log::logged_alike(connection, fingerprint))
    }

    fn decided(&self, content: &ContentQuery) -> Result<Option<DecidedContent>, StoreError> {
        self.read(|connection| verdict_log::decided(connection, content))
    }

    fn overrides(&self, verdict_id: &str) -> Result<Vec<RecordedOverride>, StoreError> {
        self.read(|connection| verdict_log::overrides(connection, verdict_id))
    }

    fn verify(
        &self,
        dialogue: Option<&DialogueId>,
        head: Option<&str>,
    ) -> Result<Verification, StoreError> {
        self.read(|connection| verify::verify(connection, dialogue, head))
    }
}

struct SqliteUnit<'a> {
    connection: &'a Connection,
}

impl Unit for SqliteUnit<'_> {
    fn part(&mut self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError> {
        let run = |sql: &str| self.connection.prepare_cached(sql)?.execute([]);
        run("SAVEPOINT part")?;
        if work(&mut SqliteUnit { connection: self.connection }) == End::RollBack {
            run("ROLLBACK TO part")?;
        }
        run("RELEASE part")?;
        Ok(())
    }

    fn dialogue(&mut self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError> {
        load::dialogue(self.connection, id)
    }

    fn is_taken(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        let mut statement =
            self.connection.prepare_cached("SELECT 1 FROM dialogues WHERE dialogue_id = ?1")?;
        Ok(statement.exists([id.as_str()])?)
    }

    fn is_concluded(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        endings::is_concluded(self.connection, id)
    }

    fn is_ending(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        endings::is_ending(self.connection, id)
    }

    fn entry_count(&mut self, id: &DialogueId) -> Result<u64, StoreError> {
        Ok(journal::head(self.connection, id.as_str())?.seq)
    }

    fn owner_of_folder(&mut self, output_dir: &str) -> Result<Option<DialogueId>, StoreError> {
        let sql = "SELECT dialogue_id FROM dialogues WHERE output_dir = ?1";
        let owners =
            query(self.connection, sql, [output_dir], |row| parsed(row, 0, "dialogue id"))?;
        Ok(owners.into_iter().next())
    }

    fn facts(&mut self, dialogue: &Dialogue, mentions: &Mentions) -> Result<Facts, StoreError> {
        facts::facts(self.connection, dialogue, mentions)
    }

    fn registration(
        &mut self,
        id: &DialogueId,
        round: u8,
    ) -> Result<Option<Registration>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT batch_sha256, answer FROM registrations WHERE dialogue_id = ?1 AND round = ?2",
        )?;
        let mut rows = statement.query(params![id.as_str(), round])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some(Registration { batch_sha256: row.get(0)?, answer: json(row, 1, "answer")? }))
    }

    fn logged(&mut self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError> {
        verdict_log::logged(self.connection, verdict_id)
    }

    fn logged_alike(&mut self, fingerprint: &str) -> Result<Option<u64>, StoreError> {
        verdict_log::logged_alike(self.connection, fingerprint)
    }

    fn verdicts_logged(
        &mut self,
        id: &DialogueId,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        verdict_log::of_dialogue(self.connection, id, limit)
    }

    fn apply(
        &mut self,
        id: &DialogueId,
        kind: EntryKind,
        at: Moment,
        changes: &[Change],
    ) -> Result<u64, StoreError> {
        let at = match changes.first() {
            Some(Change::DialogueOpened(opening)) => {
                apply::free_moment(self.connection, &opening.title, at)?
            }
            Some(_) | None => at,
        };
        let applier = Applier::new(self.connection, id, journal::next_entry(self.connection)?, at);
        for change in changes {
            applier.apply(change)?;
        }
        journal::append(self.connection, id, kind, at, changes)
    }
}
