//! `SqliteStore`: one connection for writing, a small pool for reading.

use std::fmt;
use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plenary_core::dialogue::progress::ProgressSnapshot;
use plenary_core::ethos::library::{EthosLibrary, LibraryChange};
use plenary_core::ethos::rule_set::CalibrationRecord;
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::ids::{DialogueAlias, DialogueId, EntityId};
use plenary_core::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use plenary_core::model::queries::{
    AuditedConclusion, ConclusionQuery, DialogueName, DialogueQuery, DialogueSummary,
    DueConclusion, EntityCitation, EthosSummary, RunTotals, StoreStatistics, TextHit,
};
use plenary_core::model::record::{DialogueRecord, EntityVisitor, LookupRequest, RecordLookup};
use plenary_core::model::time::{Day, Moment};
use plenary_core::protocols::review::log_row::{
    ContentDecision, ContentQuery, LogLine, LogQuery, LogRow, LoggedVerdict, RecordedOverride,
};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::store::error::{StoreError, StoreResult};
use crate::store::sqlite::apply::{EventApplier, find_free_moment};
use crate::store::sqlite::connect::{open_file, open_in_memory};
use crate::store::sqlite::journal::{LIBRARY_SCOPE, load_head, next_entry_seq};
use crate::store::sqlite::load::{DialogueReader, RecordDepth, visit_entities};
use crate::store::sqlite::statements::{parse_column, query_rows, read_json};
use crate::store::sqlite::{compare, conclusions, ethos, journal, queries, verdict_log, verify};
use crate::store::traits::{
    EntryPlace, GlobalEntry, JournalHead, RoundRegistration, Store, StoreTransaction,
    TransactionEnd, VerifyFinding, VerifyReport,
};

/// Folder of the default store.
const OWN_FOLDER: &str = ".plenary";

/// Maximum number of idle read connections. More may be open while in use.
const READERS_KEPT: usize = 4;

/// Dialogues in a SQLite file.
pub struct SqliteStore {
    location: StoreLocation,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

enum StoreLocation {
    File(PathBuf),
    /// A single connection for everything, because a second one would open another database.
    Memory,
}

impl SqliteStore {
    /// Opens the file, creates it if missing, and runs pending migrations.
    pub fn open(path: &Path) -> StoreResult<Self> {
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        make_private_file(path);
        let writer = Mutex::new(open_file(path)?);
        Ok(Self {
            location: StoreLocation::File(path.to_owned()),
            writer,
            readers: Mutex::default(),
        })
    }

    /// A store in memory, lost when dropped.
    pub fn in_memory() -> StoreResult<Self> {
        let writer = Mutex::new(open_in_memory()?);
        Ok(Self { location: StoreLocation::Memory, writer, readers: Mutex::default() })
    }

    /// Limits the file to this many pages, or to its current size if that is larger.
    #[cfg(test)]
    pub(crate) fn limit_pages(&self, pages: u32) {
        let sql = format!("PRAGMA max_page_count = {pages}");
        lock_mutex(&self.writer).query_row(&sql, [], |_| Ok(())).unwrap();
    }

    /// Traces the connection of an in-memory store.
    #[cfg(test)]
    pub(crate) fn trace(
        &mut self,
        events: rusqlite::trace::TraceEventCodes,
        note: impl FnMut(rusqlite::trace::TraceEvent<'_>) + Send + 'static,
    ) {
        lock_mutex(&self.writer).trace_v2(events, Some(note)).unwrap();
    }

    /// Runs a query on one snapshot of the store.
    fn read_snapshot<T>(&self, ask: impl FnOnce(&Connection) -> StoreResult<T>) -> StoreResult<T> {
        let StoreLocation::File(path) = &self.location else {
            return run_snapshot(&lock_mutex(&self.writer), ask);
        };
        let idle = lock_mutex(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_file(path)?,
        };
        let answer = run_snapshot(&connection, ask);
        let mut readers = lock_mutex(&self.readers);
        if readers.len() < READERS_KEPT {
            readers.push(connection);
        }
        answer
    }
}

/// Creates the folder of a store. The default folder is private and ignored by version control,
/// because it contains records and a token.
#[expect(clippy::disallowed_methods, reason = "the store makes its own folder")]
fn make_folder(folder: &Path) -> StoreResult<()> {
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
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_snapshot<T>(
    connection: &Connection,
    ask: impl FnOnce(&Connection) -> StoreResult<T>,
) -> StoreResult<T> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let answer = ask(&transaction)?;
    transaction.commit()?;
    Ok(answer)
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            StoreLocation::File(path) => write!(f, "SqliteStore({})", path.display()),
            StoreLocation::Memory => f.write_str("SqliteStore(memory)"),
        }
    }
}

/// Methods of `Store` that run one function on a snapshot: name, arguments, result, function.
macro_rules! snapshot_reads {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $function:path;)+) => {$(
        fn $name(&self $(, $argument: $type)*) -> StoreResult<$result> {
            self.read_snapshot(|connection| $function(connection $(, $argument)*))
        }
    )+};
}

impl Store for SqliteStore {
    fn write_transaction(
        &self,
        work: &mut dyn FnMut(&mut dyn StoreTransaction) -> TransactionEnd,
    ) -> StoreResult<()> {
        let connection = lock_mutex(&self.writer);
        let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
        match work(&mut SqliteTransaction { connection: &transaction }) {
            TransactionEnd::Commit => transaction.commit()?,
            // SQLite already rolled back after some errors, such as a full disk.
            TransactionEnd::RollBack if transaction.is_autocommit() => {}
            TransactionEnd::RollBack => transaction.rollback()?,
        }
        Ok(())
    }

    fn load_dialogue(&self, id: &DialogueId) -> StoreResult<Option<Dialogue>> {
        self.read_snapshot(|connection| DialogueReader::new(connection, id).load_dialogue())
    }

    fn load_record(&self, id: &DialogueId) -> StoreResult<Option<DialogueRecord>> {
        self.read_snapshot(|connection| {
            DialogueReader::new(connection, id).load_record(RecordDepth::Whole)
        })
    }

    fn visit_before(
        &self,
        id: &DialogueId,
        round: u8,
        viewer: &mut EntityVisitor<'_>,
    ) -> StoreResult<Option<DialogueRecord>> {
        self.read_snapshot(|connection| {
            let record =
                DialogueReader::new(connection, id).load_record(RecordDepth::Before(round))?;
            if let Some(record) = &record {
                visit_entities(connection, record, viewer)?;
            }
            Ok(record)
        })
    }

    fn load_head(&self, dialogue: Option<&DialogueId>) -> StoreResult<JournalHead> {
        let scope = dialogue.map_or(journal::GLOBAL_SCOPE, DialogueId::as_str);
        let head = self.read_snapshot(|connection| load_head(connection, scope))?;
        Ok(JournalHead { seq: head.seq, hash: head.hash })
    }

    fn load_progress(&self, id: &DialogueId) -> StoreResult<Option<ProgressSnapshot>> {
        self.read_snapshot(|connection| DialogueReader::new(connection, id).load_progress())
    }

    fn load_calibration(&self, id: &DialogueId) -> StoreResult<CalibrationRecord> {
        self.read_snapshot(|connection| DialogueReader::new(connection, id).load_calibration())
    }

    snapshot_reads! {
        load_entries(id: &DialogueId, after: u64) -> Vec<JournalEntry>, journal::load_entries;
        load_entry_places(id: &DialogueId, after: u64) -> Vec<EntryPlace>,
            journal::load_entry_places;
        last_intervention_seq() -> u64, journal::last_intervention_seq;
        load_cost_entries(after: u64, since: Moment) -> Vec<GlobalEntry>,
            journal::load_cost_entries;
        list_paid_dialogues(since: Moment) -> Vec<DialogueId>, journal::list_paid_dialogues;
        list_followers(id: &DialogueId, limit: usize) -> Vec<DialogueName>, queries::list_followers;
        load_run_facts(id: &DialogueId) -> RunTotals, queries::load_run_facts;
        has_run_or_lines(id: &DialogueId) -> bool, queries::has_run_or_lines;
        find_named(alias: &DialogueAlias, limit: usize) -> Vec<DialogueName>, queries::find_named;
        is_unique(alias: &DialogueAlias) -> bool, queries::is_unique;
        list_dialogues(query: &DialogueQuery) -> Vec<DialogueSummary>, queries::list_dialogues;
        search_texts(words: &[String], limit: usize) -> Vec<TextHit>, queries::search_texts;
        load_stats(top_experts: usize) -> StoreStatistics, queries::load_stats;
        load_citation(dialogue: &DialogueId, id: EntityId) -> Option<EntityCitation>,
            queries::load_citation;
        list_endings(query: &ConclusionQuery) -> Vec<AuditedConclusion>, conclusions::list_endings;
        list_due(by: Day, limit: usize) -> Vec<DueConclusion>, conclusions::list_due;
        load_log_lines(after: u64, limit: usize) -> Vec<LogLine>, verdict_log::load_lines;
        load_log_page(query: &LogQuery) -> Vec<LoggedVerdict>, verdict_log::load_page;
        prior_verdicts(artifact_type: &str, limit: usize) -> Vec<LogRow>, verdict_log::load_priors;
        find_logged(verdict_id: &str) -> Option<LoggedVerdict>, verdict_log::find_logged;
        find_log_line(verdict_id: &str) -> Option<LogLine>, verdict_log::find_line;
        load_override_lines(after: u64, limit: usize) -> Vec<LogLine>,
            verdict_log::load_override_lines;
        find_same_row(fingerprint: &str) -> Option<u64>, verdict_log::find_same_row;
        find_decided(content: &ContentQuery) -> Option<ContentDecision>, verdict_log::find_decided;
        list_content_verdicts(content: &ContentQuery, limit: usize) -> Vec<LoggedVerdict>,
            verdict_log::list_content_verdicts;
        list_overrides(verdict_id: &str) -> Vec<RecordedOverride>, verdict_log::load_overrides;
        load_library() -> EthosLibrary, ethos::load_library;
        list_ethos(limit: usize) -> Vec<EthosSummary>, ethos::list_ethos;
        find_changed_rows(id: &DialogueId) -> Vec<VerifyFinding>, compare::find_changed_rows;
        verify_record(dialogue: Option<&DialogueId>, head: Option<&str>) -> VerifyReport,
            verify::verify_record;
    }
}

struct SqliteTransaction<'a> {
    connection: &'a Connection,
}

impl StoreTransaction for SqliteTransaction<'_> {
    fn run_savepoint(
        &mut self,
        work: &mut dyn FnMut(&mut dyn StoreTransaction) -> TransactionEnd,
    ) -> StoreResult<()> {
        let run = |sql: &str| self.connection.prepare_cached(sql)?.execute([]);
        run("SAVEPOINT part")?;
        if work(&mut SqliteTransaction { connection: self.connection }) == TransactionEnd::RollBack
        {
            run("ROLLBACK TO part")?;
        }
        run("RELEASE part")?;
        Ok(())
    }

    fn load_dialogue(&mut self, id: &DialogueId) -> StoreResult<Option<Dialogue>> {
        DialogueReader::new(self.connection, id).load_dialogue()
    }

    fn is_id_taken(&mut self, id: &DialogueId) -> StoreResult<bool> {
        let mut statement =
            self.connection.prepare_cached("SELECT 1 FROM dialogues WHERE dialogue_id = ?1")?;
        Ok(statement.exists([id.as_str()])?)
    }

    fn is_concluded(&mut self, id: &DialogueId) -> StoreResult<bool> {
        conclusions::is_concluded(self.connection, id)
    }

    fn is_ending(&mut self, id: &DialogueId) -> StoreResult<bool> {
        conclusions::is_ending(self.connection, id)
    }

    fn count_entries(&mut self, id: &DialogueId) -> StoreResult<u64> {
        Ok(load_head(self.connection, id.as_str())?.seq)
    }

    fn find_folder_owner(&mut self, output_dir: &str) -> StoreResult<Option<DialogueId>> {
        let sql = "SELECT dialogue_id FROM dialogues WHERE output_dir = ?1";
        let owners = query_rows(self.connection, sql, [output_dir], |row| {
            parse_column(row, 0, "dialogue id")
        })?;
        Ok(owners.into_iter().next())
    }

    fn look_up_record(
        &mut self,
        dialogue: &Dialogue,
        mentions: &LookupRequest,
    ) -> StoreResult<RecordLookup> {
        DialogueReader::new(self.connection, dialogue.id()).look_up_record(dialogue, mentions)
    }

    fn find_registration(
        &mut self,
        id: &DialogueId,
        round: u8,
    ) -> StoreResult<Option<RoundRegistration>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT batch_sha256, answer FROM registrations WHERE dialogue_id = ?1 AND round = ?2",
        )?;
        let mut rows = statement.query(params![id.as_str(), round])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some(RoundRegistration {
            batch_sha256: row.get(0)?,
            answer: read_json(row, 1, "answer")?,
        }))
    }

    fn find_logged(&mut self, verdict_id: &str) -> StoreResult<Option<LoggedVerdict>> {
        verdict_log::find_logged(self.connection, verdict_id)
    }

    fn find_same_row(&mut self, fingerprint: &str) -> StoreResult<Option<u64>> {
        verdict_log::find_same_row(self.connection, fingerprint)
    }

    fn logged_verdict_ids(&mut self, id: &DialogueId, limit: usize) -> StoreResult<Vec<String>> {
        verdict_log::list_verdict_ids(self.connection, id, limit)
    }

    fn append_entry(
        &mut self,
        id: &DialogueId,
        kind: JournalEntryKind,
        at: Moment,
        changes: &[JournalEvent],
    ) -> StoreResult<u64> {
        let at = match changes.first() {
            Some(JournalEvent::DialogueOpened(opening)) => {
                find_free_moment(self.connection, &opening.title, at)?
            }
            Some(_) | None => at,
        };
        let applier =
            EventApplier::new(self.connection, id.as_str(), next_entry_seq(self.connection)?, at);
        for change in changes {
            applier.apply_event(change)?;
        }
        journal::append_entry(self.connection, id.as_str(), kind, at, changes)
    }

    fn load_library(&mut self) -> StoreResult<EthosLibrary> {
        ethos::load_library(self.connection)
    }

    fn load_calibration(&mut self, id: &DialogueId) -> StoreResult<CalibrationRecord> {
        DialogueReader::new(self.connection, id).load_calibration()
    }

    fn append_library_entry(&mut self, at: Moment, changes: &[LibraryChange]) -> StoreResult<()> {
        let changes: Vec<JournalEvent> =
            changes.iter().cloned().map(JournalEvent::LibraryChanged).collect();
        let entry = next_entry_seq(self.connection)?;
        let applier = EventApplier::new(self.connection, LIBRARY_SCOPE, entry, at);
        for change in &changes {
            applier.apply_event(change)?;
        }
        let kind = JournalEntryKind::LibraryChanged;
        journal::append_entry(self.connection, LIBRARY_SCOPE, kind, at, &changes)?;
        Ok(())
    }
}
