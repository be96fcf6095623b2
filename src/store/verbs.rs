//! The store traits: `Store` for reading and `StoreTransaction` for writing.
//!
//! A new backend implements both traits and runs the contract suite in `tests/it/contract.rs`.

use std::fmt::Debug;

use super::error::StoreError;
use super::verification::Verification;
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
use crate::record::register::Answer;

/// Storage of dialogues.
pub trait Store: Debug + Send + Sync {
    /// Runs `work` as one transaction, committed completely or not at all.
    ///
    /// Writers of other processes wait. Prefer `in_transaction`.
    fn write(&self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError>;

    fn dialogue(&self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError>;

    /// The whole record of a dialogue, as one snapshot.
    fn record(&self, id: &DialogueId) -> Result<Option<Record>, StoreError>;

    /// The part of a record that experts may read: earlier rounds, without raw replies and
    /// histories.
    ///
    /// The returned record contains only tensions as entities. The visitor gets all other entities,
    /// in the order of their rounds.
    fn show_before(
        &self,
        id: &DialogueId,
        round: u8,
        viewer: &mut Viewer<'_>,
    ) -> Result<Option<Record>, StoreError>;

    /// The journal entries of a dialogue after its `after`-th entry, in order.
    fn entries(&self, id: &DialogueId, after: u64) -> Result<Vec<Entry>, StoreError>;

    /// Global number of the newest intervention of any dialogue, from 1; 0 if there is none. It
    /// grows with each intervention, so a poller can compare it with the last value.
    fn last_intervention(&self) -> Result<u64, StoreError>;

    /// Journal entries of all dialogues that concern costs: those after global number `after` and
    /// not older than `since`, in order.
    fn cost_entries(&self, after: u64, since: Moment) -> Result<Vec<PlacedEntry>, StoreError>;

    fn pulse(&self, id: &DialogueId) -> Result<Option<Pulse>, StoreError>;

    /// One page of dialogues, newest first.
    fn list(&self, query: &ListQuery) -> Result<Vec<Summary>, StoreError>;

    /// Texts that contain all words, then texts that contain some; at most `limit`.
    fn search(&self, words: &[String], limit: usize) -> Result<Vec<Hit>, StoreError>;

    fn stats(&self, top_experts: usize) -> Result<Stats, StoreError>;

    /// The newest conclusions with a terminal state, newest first, without rehearsals.
    fn endings(&self, query: &EndingQuery) -> Result<Vec<AuditedEnding>, StoreError>;

    /// Conclusions with a review date on or before this day, soonest first, at most `limit`.
    ///
    /// Rehearsals, unconverged conclusions and those with a recorded outcome are left out.
    fn due(&self, by: Day, limit: usize) -> Result<Vec<Due>, StoreError>;

    fn cite(&self, dialogue: &DialogueId, id: EntityId) -> Result<Option<Citation>, StoreError>;

    /// Lines of the verdict log after row `after`, in order, at most `limit`.
    fn log_lines(&self, after: u64, limit: usize) -> Result<Vec<LogLine>, StoreError>;

    /// Rows of the verdict log, in order.
    fn log_page(&self, query: &LogQuery) -> Result<Vec<LoggedVerdict>, StoreError>;

    /// Earlier verdicts on artifacts of a type, newest first by `ts`, imported ones included.
    /// INCOMPLETE and rehearsed verdicts are left out.
    fn priors(&self, artifact_type: &str, limit: usize) -> Result<Vec<LogRow>, StoreError>;

    /// The row of the verdict log with this id.
    fn logged(&self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError>;

    /// The stored line with this verdict id.
    fn log_line(&self, verdict_id: &str) -> Result<Option<LogLine>, StoreError>;

    /// The number of a row with the same content, independent of its id.
    fn logged_alike(&self, fingerprint: &str) -> Result<Option<u64>, StoreError>;

    /// The newest decision on exactly this content. INCOMPLETE is not a decision.
    fn decided(&self, content: &ContentQuery) -> Result<Option<DecidedContent>, StoreError>;

    /// All human overrides of a verdict, oldest first.
    fn overrides(&self, verdict_id: &str) -> Result<Vec<RecordedOverride>, StoreError>;

    /// Verifies one dialogue, or all: recomputes hashes, tables and statuses.
    ///
    /// A `head` that was noted earlier must still be part of the chain.
    fn verify(
        &self,
        dialogue: Option<&DialogueId>,
        head: Option<&str>,
    ) -> Result<Verification, StoreError>;
}

/// One write transaction: look up facts, then append events.
pub trait Unit {
    /// Runs `work` in a savepoint that can be rolled back alone.
    fn part(&mut self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError>;

    fn dialogue(&mut self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError>;

    fn is_taken(&mut self, id: &DialogueId) -> Result<bool, StoreError>;

    /// Whether the dialogue has a conclusion, audited or not.
    fn is_concluded(&mut self, id: &DialogueId) -> Result<bool, StoreError>;

    /// Whether the conclusion has started. After that, the record accepts no more contributions.
    fn is_ending(&mut self, id: &DialogueId) -> Result<bool, StoreError>;

    /// Number of journal entries of the dialogue.
    fn entry_count(&mut self, id: &DialogueId) -> Result<u64, StoreError>;

    /// The dialogue that uses this output folder, if any.
    fn owner_of_folder(&mut self, output_dir: &str) -> Result<Option<DialogueId>, StoreError>;

    fn facts(&mut self, dialogue: &Dialogue, mentions: &Mentions) -> Result<Facts, StoreError>;

    /// The batch of a registered round, and the answer to it.
    fn registration(
        &mut self,
        id: &DialogueId,
        round: u8,
    ) -> Result<Option<Registration>, StoreError>;

    /// The row of the verdict log with this id.
    fn logged(&mut self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError>;

    /// The number of a row with the same content, independent of its id.
    fn logged_alike(&mut self, fingerprint: &str) -> Result<Option<u64>, StoreError>;

    /// Ids of a dialogue's logged verdicts, in log order, at most `limit`.
    fn verdicts_logged(&mut self, id: &DialogueId, limit: usize)
    -> Result<Vec<String>, StoreError>;

    /// Applies the events and appends them to the journal as one entry. Returns the entry's number
    /// within the dialogue.
    fn apply(
        &mut self,
        id: &DialogueId,
        kind: EntryKind,
        at: Moment,
        changes: &[Change],
    ) -> Result<u64, StoreError>;
}

/// A journal entry with its global number.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedEntry {
    pub place: u64,
    pub dialogue_id: DialogueId,
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Registration {
    pub batch_sha256: String,
    pub answer: Answer,
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Commit,
    RollBack,
}

/// Runs `work` in a transaction and commits it if `work` returns `Ok`.
pub fn transact<T, E: From<StoreError>>(
    store: &dyn Store,
    work: impl FnOnce(&mut dyn Unit) -> Result<T, E>,
) -> Result<T, E> {
    let mut work = Some(work);
    let mut result = None;
    store.write(&mut |unit| {
        let outcome = work.take().map(|work| work(unit));
        let end = if matches!(outcome, Some(Ok(_))) { End::Commit } else { End::RollBack };
        result = outcome;
        end
    })?;
    // The store broke its contract if it reports success without running the work.
    result.unwrap_or_else(|| Err(StoreError::NotRun.into()))
}
