//! The store traits: `Store` for reading and `StoreTransaction` for writing.
//!
//! A new backend implements both traits and runs the contract suite in `tests/it/contract.rs`.

use std::fmt::Debug;
use std::iter;

use plenary_core::dialogue::progress::ProgressSnapshot;
use plenary_core::dialogue::register::batch::RegisterAnswer;
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
    ContentDecision, ContentQuery, LogLine, LogQuery, LogRange, LogRow, LoggedVerdict,
    RecordedOverride,
};
use serde::Serialize;

use crate::store::error::{StoreError, StoreResult};

/// Storage of dialogues.
pub trait Store: Debug + Send + Sync {
    /// Runs `work` as one transaction, committed completely or not at all.
    ///
    /// Writers of other processes wait. Prefer `in_transaction`.
    fn write_transaction(
        &self,
        work: &mut dyn FnMut(&mut dyn StoreTransaction) -> TransactionEnd,
    ) -> StoreResult<()>;

    fn load_dialogue(&self, id: &DialogueId) -> StoreResult<Option<Dialogue>>;

    /// The whole record of a dialogue, as one snapshot.
    fn load_record(&self, id: &DialogueId) -> StoreResult<Option<DialogueRecord>>;

    /// The part of a record that experts may read: earlier rounds, without raw replies and
    /// histories.
    ///
    /// The returned record contains only tensions as entities. The visitor gets all other entities,
    /// in the order of their rounds.
    fn visit_before(
        &self,
        id: &DialogueId,
        round: u8,
        viewer: &mut EntityVisitor<'_>,
    ) -> StoreResult<Option<DialogueRecord>>;

    /// The journal entries of a dialogue after its `after`-th entry, in order.
    fn load_entries(&self, id: &DialogueId, after: u64) -> StoreResult<Vec<JournalEntry>>;

    /// Numbers and hashes of the journal entries of a dialogue after its `after`-th entry, in order.
    fn load_entry_places(&self, id: &DialogueId, after: u64) -> StoreResult<Vec<EntryPlace>>;

    /// The newest entry of a dialogue's journal, or of the journal of all dialogues.
    fn load_head(&self, dialogue: Option<&DialogueId>) -> StoreResult<JournalHead>;

    /// Global number of the newest intervention of any dialogue, from 1; 0 if there is none. It
    /// grows with each intervention, so a poller can compare it with the last value.
    fn last_intervention_seq(&self) -> StoreResult<u64>;

    /// Journal entries of all dialogues that concern costs: those after global number `after` and
    /// not older than `since`, in order.
    fn load_cost_entries(&self, after: u64, since: Moment) -> StoreResult<Vec<GlobalEntry>>;

    /// Dialogues with a call that ended not earlier than `since`, in no particular order.
    fn list_paid_dialogues(&self, since: Moment) -> StoreResult<Vec<DialogueId>>;

    fn load_progress(&self, id: &DialogueId) -> StoreResult<Option<ProgressSnapshot>>;

    /// One page of dialogues, newest first.
    fn list_dialogues(&self, query: &DialogueQuery) -> StoreResult<Vec<DialogueSummary>>;

    /// The dialogues whose question follows up this one, oldest first.
    fn list_followers(&self, id: &DialogueId, limit: usize) -> StoreResult<Vec<DialogueName>>;

    /// How far the runs of a dialogue came, and what their calls cost.
    fn load_run_facts(&self, id: &DialogueId) -> StoreResult<RunTotals>;

    /// Whether the journal has more than the record: a run, or the lines of an imported log.
    fn has_run_or_lines(&self, id: &DialogueId) -> StoreResult<bool>;

    /// The dialogues that an alias may name, at most `limit`, newest first.
    fn find_named(&self, alias: &DialogueAlias, limit: usize) -> StoreResult<Vec<DialogueName>>;

    /// Whether an alias names exactly one dialogue, however many begin like it.
    fn is_unique(&self, alias: &DialogueAlias) -> StoreResult<bool>;

    /// Texts that contain all words, then texts that contain some; at most `limit`.
    fn search_texts(&self, words: &[String], limit: usize) -> StoreResult<Vec<TextHit>>;

    fn load_stats(&self, top_experts: usize) -> StoreResult<StoreStatistics>;

    /// The newest conclusions with a terminal state, newest first, without rehearsals.
    fn list_endings(&self, query: &ConclusionQuery) -> StoreResult<Vec<AuditedConclusion>>;

    /// Conclusions with a review date on or before this day, soonest first, at most `limit`.
    ///
    /// Rehearsals, unconverged conclusions and those with a recorded outcome are left out.
    fn list_due(&self, by: Day, limit: usize) -> StoreResult<Vec<DueConclusion>>;

    fn load_citation(
        &self,
        dialogue: &DialogueId,
        id: EntityId,
    ) -> StoreResult<Option<EntityCitation>>;

    /// Lines of the verdict log after row `after`, in order, at most `limit`: verdicts and overrides.
    fn load_log_lines(&self, after: u64, limit: usize) -> StoreResult<Vec<LogLine>>;

    /// Rows of the verdict log, in order.
    fn load_log_page(&self, query: &LogQuery) -> StoreResult<Vec<LoggedVerdict>>;

    /// Earlier verdicts on artifacts of a type, newest first by `ts`, imported ones included.
    /// INCOMPLETE and rehearsed verdicts are left out.
    fn prior_verdicts(&self, artifact_type: &str, limit: usize) -> StoreResult<Vec<LogRow>>;

    /// The row of the verdict log with this id.
    fn find_logged(&self, verdict_id: &str) -> StoreResult<Option<LoggedVerdict>>;

    /// The stored line with this verdict id.
    fn find_log_line(&self, verdict_id: &str) -> StoreResult<Option<LogLine>>;

    /// Lines of overrides after row `after`, in order, at most `limit`.
    fn load_override_lines(&self, after: u64, limit: usize) -> StoreResult<Vec<LogLine>>;

    /// The number of a row with the same content, independent of its id.
    fn find_same_row(&self, fingerprint: &str) -> StoreResult<Option<u64>>;

    /// The newest decision on exactly this content. INCOMPLETE is not a decision.
    fn find_decided(&self, content: &ContentQuery) -> StoreResult<Option<ContentDecision>>;

    /// All verdicts on exactly this content, newest first, also INCOMPLETE ones.
    fn list_content_verdicts(
        &self,
        content: &ContentQuery,
        limit: usize,
    ) -> StoreResult<Vec<LoggedVerdict>>;

    /// All human overrides of a verdict, oldest first.
    fn list_overrides(&self, verdict_id: &str) -> StoreResult<Vec<RecordedOverride>>;

    /// Principles, domains, tenets and lenses, in the order of their ids.
    fn load_library(&self) -> StoreResult<EthosLibrary>;

    /// Constraints, ethos versions and challenges of a dialogue; empty if it is not calibrated.
    fn load_calibration(&self, id: &DialogueId) -> StoreResult<CalibrationRecord>;

    /// Versions of the ethos of all dialogues, newest first.
    fn list_ethos(&self, limit: usize) -> StoreResult<Vec<EthosSummary>>;

    /// The rows of a dialogue that differ from its journal; cheaper than verifying it.
    fn find_changed_rows(&self, id: &DialogueId) -> StoreResult<Vec<VerifyFinding>>;

    /// Verifies one dialogue, or all: recomputes hashes, tables and statuses.
    ///
    /// A `head` that was noted earlier must still be part of the chain.
    fn verify_record(
        &self,
        dialogue: Option<&DialogueId>,
        head: Option<&str>,
    ) -> StoreResult<VerifyReport>;
}

/// One write transaction: look up facts, then append events.
pub trait StoreTransaction {
    /// Runs `work` in a savepoint that can be rolled back alone.
    fn run_savepoint(
        &mut self,
        work: &mut dyn FnMut(&mut dyn StoreTransaction) -> TransactionEnd,
    ) -> StoreResult<()>;

    fn load_dialogue(&mut self, id: &DialogueId) -> StoreResult<Option<Dialogue>>;

    fn is_id_taken(&mut self, id: &DialogueId) -> StoreResult<bool>;

    /// Whether the dialogue has a conclusion, audited or not.
    fn is_concluded(&mut self, id: &DialogueId) -> StoreResult<bool>;

    /// Whether the conclusion has started. After that, the record accepts no more contributions.
    fn is_ending(&mut self, id: &DialogueId) -> StoreResult<bool>;

    /// Number of journal entries of the dialogue.
    fn count_entries(&mut self, id: &DialogueId) -> StoreResult<u64>;

    /// The dialogue that uses this output folder, if any.
    fn find_folder_owner(&mut self, output_dir: &str) -> StoreResult<Option<DialogueId>>;

    fn look_up_record(
        &mut self,
        dialogue: &Dialogue,
        mentions: &LookupRequest,
    ) -> StoreResult<RecordLookup>;

    /// The batch of a registered round, and the answer to it.
    fn find_registration(
        &mut self,
        id: &DialogueId,
        round: u8,
    ) -> StoreResult<Option<RoundRegistration>>;

    /// The row of the verdict log with this id.
    fn find_logged(&mut self, verdict_id: &str) -> StoreResult<Option<LoggedVerdict>>;

    /// The number of a row with the same content, independent of its id.
    fn find_same_row(&mut self, fingerprint: &str) -> StoreResult<Option<u64>>;

    /// Ids of a dialogue's logged verdicts, in log order, at most `limit`.
    fn logged_verdict_ids(&mut self, id: &DialogueId, limit: usize) -> StoreResult<Vec<String>>;

    /// Applies the events and appends them to the journal as one entry. Returns the entry's number
    /// within the dialogue.
    fn append_entry(
        &mut self,
        id: &DialogueId,
        kind: JournalEntryKind,
        at: Moment,
        changes: &[JournalEvent],
    ) -> StoreResult<u64>;

    /// Principles, domains, tenets and lenses, in the order of their ids.
    fn load_library(&mut self) -> StoreResult<EthosLibrary>;

    /// Constraints, ethos versions and challenges of a dialogue; empty if it is not calibrated.
    fn load_calibration(&mut self, id: &DialogueId) -> StoreResult<CalibrationRecord>;

    /// Changes the library, which belongs to no dialogue and has a chain of its own in the journal.
    fn append_library_entry(&mut self, at: Moment, changes: &[LibraryChange]) -> StoreResult<()>;
}

/// Where a journal entry is in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPlace {
    /// Number within the dialogue.
    pub seq: u64,
    pub global_seq: u64,
    pub hash: String,
}

/// The newest entry of a journal; number 0 if it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalHead {
    pub seq: u64,
    pub hash: String,
}

/// A journal entry with its global number.
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalEntry {
    pub global_seq: u64,
    pub dialogue_id: DialogueId,
    pub changes: Vec<JournalEvent>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RoundRegistration {
    pub batch_sha256: String,
    pub answer: RegisterAnswer,
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    Commit,
    RollBack,
}

/// Runs `work` in a transaction and commits it if `work` returns `Ok`.
pub fn in_transaction<T, E: From<StoreError>>(
    store: &dyn Store,
    work: impl FnOnce(&mut dyn StoreTransaction) -> Result<T, E>,
) -> Result<T, E> {
    let mut work = Some(work);
    let mut result = None;
    store.write_transaction(&mut |unit| {
        let outcome = work.take().map(|work| work(unit));
        let end = if matches!(outcome, Some(Ok(_))) {
            TransactionEnd::Commit
        } else {
            TransactionEnd::RollBack
        };
        result = outcome;
        end
    })?;
    // The store broke its contract if it reports success without running the work.
    result.unwrap_or_else(|| Err(StoreError::NotRun.into()))
}

/// Rows per page, usually about half a megabyte.
pub const LOG_PAGE_ROWS: usize = 64;

/// All rows that match a query, in order. The query's limit is the page size.
pub fn log_pages(
    store: &dyn Store,
    query: &LogQuery,
) -> impl Iterator<Item = StoreResult<Vec<LoggedVerdict>>> {
    let read =
        |after| store.load_log_page(&LogQuery { range: LogRange::After(after), ..query.clone() });
    read_pages(0, query.limit, read, |row| row.seq)
}

/// All stored lines after a row.
pub fn log_line_pages(
    store: &dyn Store,
    after: u64,
) -> impl Iterator<Item = StoreResult<Vec<LogLine>>> {
    read_pages(
        after,
        LOG_PAGE_ROWS,
        |after| store.load_log_lines(after, LOG_PAGE_ROWS),
        |line| line.seq,
    )
}

/// Yields pages that are never empty and stops after an error.
fn read_pages<T>(
    start: u64,
    limit: usize,
    read: impl Fn(u64) -> StoreResult<Vec<T>>,
    place: fn(&T) -> u64,
) -> impl Iterator<Item = StoreResult<Vec<T>>> {
    let mut after = Some(start);
    iter::from_fn(move || {
        let page = match read(after.take()?) {
            Ok(page) => page,
            Err(error) => return Some(Err(error)),
        };
        // A page that is not full is the last.
        after = page.last().filter(|_| page.len() >= limit).map(place);
        (!page.is_empty()).then_some(Ok(page))
    })
}

/// A deviation from the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyFinding {
    /// Stable name of the failed check.
    pub check: &'static str,
    pub dialogue_id: Option<String>,
    /// Table, id or journal entry.
    pub place: String,
    pub message: String,
}

impl VerifyFinding {
    pub(crate) fn new(
        check: &'static str,
        dialogue_id: Option<&str>,
        place: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let dialogue_id = dialogue_id.map(str::to_owned);
        Self { check, dialogue_id, place: place.into(), message: message.into() }
    }
}

/// The result of checking a store or one dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    pub dialogues: usize,
    pub entries: usize,
    /// Head of the dialogue's chain, or of the global chain.
    pub head: String,
    pub findings: Vec<VerifyFinding>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the pages of a log with this many rows.
    fn check(rows: u64, limit: usize, expected: &[&[u64]]) {
        let read = |after: u64| Ok((after + 1..=rows).take(limit).collect::<Vec<u64>>());
        let found: Result<Vec<Vec<u64>>, StoreError> =
            read_pages(0, limit, read, |row| *row).collect();
        assert_eq!(found.unwrap(), expected, "{rows} by {limit}");
    }

    #[test]
    fn every_row_stands_on_one_page() {
        check(0, 2, &[]);
        check(1, 2, &[&[1]]);
        check(2, 2, &[&[1, 2]]);
        check(5, 2, &[&[1, 2], &[3, 4], &[5]]);
    }

    #[test]
    fn a_page_that_cannot_be_read_is_the_last() {
        let read = |_| -> Result<Vec<u64>, StoreError> {
            Err(StoreError::Missing { path: "nowhere".into() })
        };
        assert_eq!(read_pages(0, 2, read, |row| *row).count(), 1);
    }
}
