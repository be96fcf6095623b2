//! What a store can be asked, in the words of the domain.
//!
//! A second backend implements these two traits and runs the contract suite in
//! `tests/it/contract.rs`.

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

/// A place where dialogues are kept.
pub trait Store: Debug + Send + Sync {
    /// Runs `work` as one transaction: all of it happens, or nothing.
    ///
    /// Writers of other processes wait. Prefer [`transact`].
    fn write(&self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError>;

    fn dialogue(&self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError>;

    /// Everything known of a dialogue, from one moment in time.
    fn record(&self, id: &DialogueId) -> Result<Option<Record>, StoreError>;

    /// What its experts may read: rounds before this one, without raw replies and histories.
    ///
    /// Of the entities the record holds only tensions; the others are shown in
    /// the order of their rounds.
    fn show_before(
        &self,
        id: &DialogueId,
        round: u8,
        viewer: &mut Viewer<'_>,
    ) -> Result<Option<Record>, StoreError>;

    /// What happened to a dialogue after its `after`-th entry, in order.
    fn entries(&self, id: &DialogueId, after: u64) -> Result<Vec<Entry>, StoreError>;

    /// The place of the newest intervention among the entries of all dialogues, from 1; 0 when
    /// there is none. It grows with every intervention, so who asks again sees whether there
    /// was one.
    fn last_intervention(&self) -> Result<u64, StoreError>;

    /// The entries of all dialogues that say what calls may cost and did cost: those after the
    /// place `after` among all entries, and not older than `since`, in order.
    fn cost_entries(&self, after: u64, since: Moment) -> Result<Vec<PlacedEntry>, StoreError>;

    fn pulse(&self, id: &DialogueId) -> Result<Option<Pulse>, StoreError>;

    /// A page of dialogues, newest first.
    fn list(&self, query: &ListQuery) -> Result<Vec<Summary>, StoreError>;

    /// Texts that hold all of the words, then texts that hold some; at most `limit`.
    fn search(&self, words: &[String], limit: usize) -> Result<Vec<Hit>, StoreError>;

    fn stats(&self, top_experts: usize) -> Result<Stats, StoreError>;

    /// The newest endings with a terminal state, newest first, rehearsals left out.
    fn endings(&self, query: &EndingQuery) -> Result<Vec<AuditedEnding>, StoreError>;

    /// The conclusions to be revisited on this day or before it, soonest first, at most `limit`.
    ///
    /// Left out are rehearsals, what ended unconverged (nothing was delivered), and those of
    /// which an outcome was recorded.
    fn due(&self, by: Day, limit: usize) -> Result<Vec<Due>, StoreError>;

    fn cite(&self, dialogue: &DialogueId, id: EntityId) -> Result<Option<Citation>, StoreError>;

    /// The lines of the verdict log after the row `after`, in order, at most `limit`.
    fn log_lines(&self, after: u64, limit: usize) -> Result<Vec<LogLine>, StoreError>;

    /// Rows of the verdict log, in order.
    fn log_page(&self, query: &LogQuery) -> Result<Vec<LoggedVerdict>, StoreError>;

    /// The last verdicts on artifacts of a type, newest first by their `ts`, imported ones too.
    /// What is INCOMPLETE or rehearsed says nothing about the next artifact.
    fn priors(&self, artifact_type: &str, limit: usize) -> Result<Vec<LogRow>, StoreError>;

    /// A row of the verdict log by its id.
    fn logged(&self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError>;

    /// The line of a row, and its place.
    fn log_line(&self, verdict_id: &str) -> Result<Option<LogLine>, StoreError>;

    /// The place of a row that says the same, whatever its id.
    fn logged_alike(&self, fingerprint: &str) -> Result<Option<u64>, StoreError>;

    /// What was decided last of exactly this content; INCOMPLETE decides nothing.
    fn decided(&self, content: &ContentQuery) -> Result<Option<DecidedContent>, StoreError>;

    /// Every decision of a person over a verdict, oldest first.
    fn overrides(&self, verdict_id: &str) -> Result<Vec<RecordedOverride>, StoreError>;

    /// Recomputes everything that can be recomputed, for one dialogue or for all.
    ///
    /// A `head` that was noted earlier must still be part of the chain.
    fn verify(
        &self,
        dialogue: Option<&DialogueId>,
        head: Option<&str>,
    ) -> Result<Verification, StoreError>;
}

/// One transaction: facts can be looked up, then changes are applied.
pub trait Unit {
    /// Runs `work` as a part of the transaction that can be undone alone.
    fn part(&mut self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError>;

    fn dialogue(&mut self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError>;

    fn is_taken(&mut self, id: &DialogueId) -> Result<bool, StoreError>;

    /// Whether it has a conclusion, audited or not.
    fn is_concluded(&mut self, id: &DialogueId) -> Result<bool, StoreError>;

    /// Whether its conclusion was begun: from then on nothing is added to what was said.
    fn is_ending(&mut self, id: &DialogueId) -> Result<bool, StoreError>;

    /// How many entries its journal has.
    fn entry_count(&mut self, id: &DialogueId) -> Result<u64, StoreError>;

    /// Whose folder this is, if it is some dialogue's.
    fn owner_of_folder(&mut self, output_dir: &str) -> Result<Option<DialogueId>, StoreError>;

    fn facts(&mut self, dialogue: &Dialogue, mentions: &Mentions) -> Result<Facts, StoreError>;

    /// The batch a round was registered with, and what was answered.
    fn registration(
        &mut self,
        id: &DialogueId,
        round: u8,
    ) -> Result<Option<Registration>, StoreError>;

    /// A row of the verdict log by its id.
    fn logged(&mut self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError>;

    /// The place of a row that says the same, whatever its id.
    fn logged_alike(&mut self, fingerprint: &str) -> Result<Option<u64>, StoreError>;

    /// The ids of a dialogue's verdicts, in the order of the log, at most `limit`.
    fn verdicts_logged(&mut self, id: &DialogueId, limit: usize)
    -> Result<Vec<String>, StoreError>;

    /// Applies the changes and appends them to the journal as one entry, whose number among the
    /// dialogue's entries is returned.
    fn apply(
        &mut self,
        id: &DialogueId,
        kind: EntryKind,
        at: Moment,
        changes: &[Change],
    ) -> Result<u64, StoreError>;
}

/// What happened to a dialogue, and its place among the entries of all dialogues.
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

/// Runs `work` as one transaction that is kept when it succeeds.
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
    // A store that reports success without having run the work broke its contract.
    result.unwrap_or_else(|| Err(StoreError::NotRun.into()))
}
