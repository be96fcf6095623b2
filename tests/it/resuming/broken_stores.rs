//! Stores that report writes they did not make. The checks of `attempts.rs` must detect each flaw,
//! otherwise they would prove nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plenary_core::dialogue::progress::ProgressSnapshot;
use plenary_core::ethos::library::{EthosLibrary, LibraryChange};
use plenary_core::ethos::rule_set::CalibrationRecord;
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::ids::{DialogueAlias, DialogueId, EntityId};
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use plenary_core::model::queries::{
    AuditedConclusion, ConclusionQuery, DialogueName, DialogueQuery, DialogueSummary,
    DueConclusion, EntityCitation, EthosSummary, RunTotals, StoreStatistics, TextHit,
};
use plenary_core::model::record::{DialogueRecord, EntityVisitor, LookupRequest, RecordLookup};
use plenary_core::model::time::{Day, Moment};
use plenary_core::protocols::protocol::Protocols;
use plenary_core::protocols::review::log_row::{
    ContentDecision, ContentQuery, LogLine, LogQuery, LogRow, LoggedVerdict, RecordedOverride,
};
use plenary_engine::clock::RealSystem;
use plenary_engine::engine::interventions::record_intervention;
use plenary_engine::store::error::StoreError;
use plenary_engine::store::traits::{
    EntryPlace, GlobalEntry, JournalHead, RoundRegistration, Store, StoreTransaction,
    TransactionEnd, VerifyFinding, VerifyReport,
};

use super::attempts::find_complaints;
use super::library::LibraryHarness;
use super::scripted_seats::{CouncilFinale, reply_to, seat_of_request};
use crate::kit::ScriptedReply;

#[derive(Debug, Clone, Copy)]
enum StoreFlaw {
    /// Leaves an entry of this kind out of its transaction.
    OmitEntry(JournalEntryKind),
    /// Never writes that a call was sent.
    OmitSent,
    /// Reports success for a transaction with such an entry, but never commits it.
    DropTransaction(JournalEntryKind),
    /// Leaves out the entry with the reply to this call.
    OmitReply { call: u32 },
    /// Never commits the transaction with the reply to this call.
    DropReply { call: u32 },
    /// Reports a commit with a delay.
    DelayCommit,
}

/// Long enough for another reader to see an entry before its commit is reported.
const COMMIT_DELAY: Duration = Duration::from_millis(500);

/// The critic's first audit: seven calls in the rounds, one for the draft.
const AUDIT_CALL: u32 = 9;

/// Reports success always, and numbers entries as if all were written.
#[derive(Debug)]
struct BrokenStore {
    inner: Arc<dyn Store>,
    flaw: StoreFlaw,
    missing: AtomicU64,
}

struct BrokenTransaction<'a> {
    inner: &'a mut dyn StoreTransaction,
    flaw: StoreFlaw,
    missing: &'a AtomicU64,
    applied: u64,
    drops_commit: bool,
}

/// A council whose process dies after two of three answers; returns the complaints.
fn complaints_for(flaw: Option<StoreFlaw>) -> Vec<String> {
    complaints_at(flaw, CouncilFinale::Report, "opinion-cid", 3)
}

/// A council whose process dies after `asked` calls with one unanswered.
fn complaints_at(
    flaw: Option<StoreFlaw>,
    finale: CouncilFinale,
    held: &str,
    asked: usize,
) -> Vec<String> {
    let mut library = LibraryHarness::with_valid_replies();
    library.finale = finale;
    let store: Arc<dyn Store> = match flaw {
        Some(flaw) => {
            Arc::new(BrokenStore { inner: library.store.clone(), flaw, missing: AtomicU64::new(0) })
        }
        None => library.store.clone(),
    };
    let lives =
        [format!("first.{}.{held}", finale.name_part()), format!("second.{}", finale.name_part())];
    let [first, second] = lives.each_ref().map(String::as_str);
    let (id, dead) = library.crash_run(store, first, library.make_connections(first), |result| {
        let sent = library.server.requests().len();
        // A flaw may hide that a reply belongs to a call, but not that the call was sent.
        result.received_replies().len() == asked - 1 && sent == asked
    });
    let last = library.resume_run(&id, second, library.make_connections(second));
    find_complaints(&[dead, last])
}

#[test]
fn a_sound_journal_is_not_complained_about() {
    assert_eq!(complaints_for(None), [""; 0]);
    assert_eq!(complaints_at(None, CouncilFinale::Revised, "revision-ann", 10), [""; 0]);
}

#[test]
fn a_journal_without_the_critics_reply_is_found_out() {
    for flaw in
        [StoreFlaw::OmitReply { call: AUDIT_CALL }, StoreFlaw::DropReply { call: AUDIT_CALL }]
    {
        let complaints = complaints_at(Some(flaw), CouncilFinale::Revised, "revision-ann", 10);
        let missing = "R5 bob was answered, and the record does not hold it once".to_owned();
        assert!(complaints.contains(&missing), "{flaw:?}: {complaints:#?}");
    }
}

/// Both answers must be missing: the seats are asked again, or, where the parse result went into a
/// later entry, the reply itself is missing.
#[track_caller]
fn check_flaw(flaw: StoreFlaw) -> Vec<String> {
    let complaints = complaints_for(Some(flaw));
    for seat in ["ann", "bob"] {
        let again = format!("life 1 asks R1 {seat} again, which was answered");
        let missing = format!("R1 {seat} was answered, and the record does not hold it once");
        assert!(complaints.contains(&again) || complaints.contains(&missing), "{complaints:#?}");
    }
    complaints
}

#[test]
fn a_journal_that_leaves_replies_out_is_found_out() {
    check_flaw(StoreFlaw::OmitEntry(JournalEntryKind::ReplyKept));
}

#[test]
fn a_journal_that_answers_before_it_writes_is_found_out() {
    check_flaw(StoreFlaw::DropTransaction(JournalEntryKind::ReplyKept));
}

#[test]
fn a_journal_that_does_not_write_down_what_is_sent_is_found_out() {
    let complaints = check_flaw(StoreFlaw::OmitSent);
    let unrecorded = complaints.iter().filter(|complaint| complaint.ends_with("recorded less"));
    assert_eq!(unrecorded.count(), 3, "{complaints:#?}");
}

/// A reader finds a stop in the journal together with the run's newest entries.
#[test]
fn what_was_read_is_told_once_whoever_else_reads_the_journal() {
    let library = LibraryHarness::new(|seen| match seat_of_request(seen) {
        "bob" => ScriptedReply::Slow(2 * COMMIT_DELAY, Box::new(reply_to(seen))),
        _ => reply_to(seen),
    });
    let sound = library.store.clone();
    let store =
        BrokenStore { inner: sound.clone(), flaw: StoreFlaw::DelayCommit, missing: 0.into() };
    let life = "first.opinion-cid";
    let (id, _) =
        library.crash_run(Arc::new(store), life, library.make_connections(life), |result| {
            let kept = |entry: &JournalEntry| entry.kind == JournalEntryKind::ReplyKept;
            let entries = sound.load_entries(&result.dialogue_id(), 0).unwrap();
            let received = entries.iter().filter(|entry| kept(entry)).count();
            if received == 2
                && entries.iter().all(|entry| entry.kind != JournalEntryKind::Intervened)
            {
                record_intervention(
                    &Protocols::built_in(),
                    sound.as_ref(),
                    &RealSystem,
                    &result.dialogue_id(),
                    &Intervention::Stop,
                )
                .unwrap();
            }
            let mut read = result.parsed_asks();
            read.sort_unstable();
            assert!(read.is_sorted_by(|one, next| one < next), "told twice: {read:?}");
            result.is_stopped() && read.len() == 2
        });
    assert_eq!(sound.verify_record(Some(&id), None).unwrap().findings, []);
}

impl StoreTransaction for BrokenTransaction<'_> {
    fn run_savepoint(
        &mut self,
        work: &mut dyn FnMut(&mut dyn StoreTransaction) -> TransactionEnd,
    ) -> Result<(), StoreError> {
        let (flaw, missing) = (self.flaw, self.missing);
        let (mut forgets, mut applied) = (false, 0);
        self.inner.run_savepoint(&mut |sound| {
            let mut unit =
                BrokenTransaction { inner: sound, flaw, missing, applied: 0, drops_commit: false };
            let end = work(&mut unit);
            (forgets, applied) = (forgets | unit.drops_commit, applied + unit.applied);
            end
        })?;
        self.drops_commit |= forgets;
        self.applied += applied;
        Ok(())
    }

    fn append_entry(
        &mut self,
        id: &DialogueId,
        kind: JournalEntryKind,
        at: Moment,
        changes: &[JournalEvent],
    ) -> Result<u64, StoreError> {
        let holds_reply = |to: u32| {
            let is_it = |change: &JournalEvent| matches!(change, JournalEvent::ReplyKept { call, .. } if *call == to);
            changes.iter().any(is_it)
        };
        let is_left_out = match self.flaw {
            StoreFlaw::OmitEntry(what) => what == kind,
            StoreFlaw::OmitReply { call } => holds_reply(call),
            StoreFlaw::OmitSent
            | StoreFlaw::DropTransaction(_)
            | StoreFlaw::DropReply { .. }
            | StoreFlaw::DelayCommit => false,
        };
        if is_left_out {
            self.missing.fetch_add(1, Ordering::Relaxed);
            return self.count_entries(id);
        }
        match self.flaw {
            StoreFlaw::DropTransaction(what) => self.drops_commit |= what == kind,
            StoreFlaw::DropReply { call } => self.drops_commit |= holds_reply(call),
            StoreFlaw::OmitSent => {
                let is_sent = |change: &&JournalEvent| matches!(change, JournalEvent::CallSent(_));
                let kept: Vec<JournalEvent> =
                    changes.iter().filter(|c| !is_sent(c)).cloned().collect();
                return self.inner.append_entry(id, kind, at, &kept);
            }
            StoreFlaw::OmitEntry(_) | StoreFlaw::OmitReply { .. } | StoreFlaw::DelayCommit => {}
        }
        self.applied += 1;
        Ok(self.inner.append_entry(id, kind, at, changes)? + self.missing.load(Ordering::Relaxed))
    }

    fn load_dialogue(&mut self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError> {
        self.inner.load_dialogue(id)
    }

    fn is_id_taken(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        self.inner.is_id_taken(id)
    }

    fn is_ending(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        self.inner.is_ending(id)
    }

    fn is_concluded(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        self.inner.is_concluded(id)
    }

    fn count_entries(&mut self, id: &DialogueId) -> Result<u64, StoreError> {
        Ok(self.inner.count_entries(id)? + self.missing.load(Ordering::Relaxed))
    }

    fn find_folder_owner(&mut self, output_dir: &str) -> Result<Option<DialogueId>, StoreError> {
        self.inner.find_folder_owner(output_dir)
    }

    fn look_up_record(
        &mut self,
        dialogue: &Dialogue,
        mentions: &LookupRequest,
    ) -> Result<RecordLookup, StoreError> {
        self.inner.look_up_record(dialogue, mentions)
    }

    fn find_registration(
        &mut self,
        id: &DialogueId,
        round: u8,
    ) -> Result<Option<RoundRegistration>, StoreError> {
        self.inner.find_registration(id, round)
    }

    fn find_logged(&mut self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError> {
        self.inner.find_logged(verdict_id)
    }

    fn find_same_row(&mut self, fingerprint: &str) -> Result<Option<u64>, StoreError> {
        self.inner.find_same_row(fingerprint)
    }

    fn logged_verdict_ids(
        &mut self,
        id: &DialogueId,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        self.inner.logged_verdict_ids(id, limit)
    }

    fn load_library(&mut self) -> Result<EthosLibrary, StoreError> {
        self.inner.load_library()
    }

    fn load_calibration(&mut self, id: &DialogueId) -> Result<CalibrationRecord, StoreError> {
        self.inner.load_calibration(id)
    }

    fn append_library_entry(
        &mut self,
        at: Moment,
        changes: &[LibraryChange],
    ) -> Result<(), StoreError> {
        self.inner.append_library_entry(at, changes)
    }
}

impl Store for BrokenStore {
    fn write_transaction(
        &self,
        work: &mut dyn FnMut(&mut dyn StoreTransaction) -> TransactionEnd,
    ) -> Result<(), StoreError> {
        self.inner.write_transaction(&mut |sound| {
            let (flaw, missing) = (self.flaw, &self.missing);
            let mut unit =
                BrokenTransaction { inner: sound, flaw, missing, applied: 0, drops_commit: false };
            let end = work(&mut unit);
            if !unit.drops_commit {
                return end;
            }
            missing.fetch_add(unit.applied, Ordering::Relaxed);
            TransactionEnd::RollBack
        })?;
        if let StoreFlaw::DelayCommit = self.flaw {
            std::thread::sleep(COMMIT_DELAY);
        }
        Ok(())
    }

    fn load_dialogue(&self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError> {
        self.inner.load_dialogue(id)
    }

    fn list_followers(
        &self,
        id: &DialogueId,
        limit: usize,
    ) -> Result<Vec<DialogueName>, StoreError> {
        self.inner.list_followers(id, limit)
    }

    fn load_run_facts(&self, id: &DialogueId) -> Result<RunTotals, StoreError> {
        self.inner.load_run_facts(id)
    }

    fn has_run_or_lines(&self, id: &DialogueId) -> Result<bool, StoreError> {
        self.inner.has_run_or_lines(id)
    }

    fn find_named(
        &self,
        alias: &DialogueAlias,
        limit: usize,
    ) -> Result<Vec<DialogueName>, StoreError> {
        self.inner.find_named(alias, limit)
    }

    fn is_unique(&self, alias: &DialogueAlias) -> Result<bool, StoreError> {
        self.inner.is_unique(alias)
    }

    fn load_record(&self, id: &DialogueId) -> Result<Option<DialogueRecord>, StoreError> {
        self.inner.load_record(id)
    }

    fn visit_before(
        &self,
        id: &DialogueId,
        round: u8,
        viewer: &mut EntityVisitor<'_>,
    ) -> Result<Option<DialogueRecord>, StoreError> {
        self.inner.visit_before(id, round, viewer)
    }

    fn load_entries(&self, id: &DialogueId, after: u64) -> Result<Vec<JournalEntry>, StoreError> {
        self.inner.load_entries(id, after)
    }

    fn load_entry_places(
        &self,
        id: &DialogueId,
        after: u64,
    ) -> Result<Vec<EntryPlace>, StoreError> {
        self.inner.load_entry_places(id, after)
    }

    fn load_head(&self, dialogue: Option<&DialogueId>) -> Result<JournalHead, StoreError> {
        self.inner.load_head(dialogue)
    }

    fn last_intervention_seq(&self) -> Result<u64, StoreError> {
        self.inner.last_intervention_seq()
    }

    fn list_paid_dialogues(&self, since: Moment) -> Result<Vec<DialogueId>, StoreError> {
        self.inner.list_paid_dialogues(since)
    }

    fn load_cost_entries(&self, after: u64, since: Moment) -> Result<Vec<GlobalEntry>, StoreError> {
        self.inner.load_cost_entries(after, since)
    }

    fn load_progress(&self, id: &DialogueId) -> Result<Option<ProgressSnapshot>, StoreError> {
        self.inner.load_progress(id)
    }

    fn list_dialogues(&self, query: &DialogueQuery) -> Result<Vec<DialogueSummary>, StoreError> {
        self.inner.list_dialogues(query)
    }

    fn search_texts(&self, words: &[String], limit: usize) -> Result<Vec<TextHit>, StoreError> {
        self.inner.search_texts(words, limit)
    }

    fn load_stats(&self, top_experts: usize) -> Result<StoreStatistics, StoreError> {
        self.inner.load_stats(top_experts)
    }

    fn list_endings(&self, query: &ConclusionQuery) -> Result<Vec<AuditedConclusion>, StoreError> {
        self.inner.list_endings(query)
    }

    fn list_due(&self, by: Day, limit: usize) -> Result<Vec<DueConclusion>, StoreError> {
        self.inner.list_due(by, limit)
    }

    fn load_citation(
        &self,
        dialogue: &DialogueId,
        id: EntityId,
    ) -> Result<Option<EntityCitation>, StoreError> {
        self.inner.load_citation(dialogue, id)
    }

    fn load_log_lines(&self, after: u64, limit: usize) -> Result<Vec<LogLine>, StoreError> {
        self.inner.load_log_lines(after, limit)
    }

    fn load_log_page(&self, query: &LogQuery) -> Result<Vec<LoggedVerdict>, StoreError> {
        self.inner.load_log_page(query)
    }

    fn prior_verdicts(&self, artifact_type: &str, limit: usize) -> Result<Vec<LogRow>, StoreError> {
        self.inner.prior_verdicts(artifact_type, limit)
    }

    fn find_logged(&self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError> {
        self.inner.find_logged(verdict_id)
    }

    fn find_log_line(&self, verdict_id: &str) -> Result<Option<LogLine>, StoreError> {
        self.inner.find_log_line(verdict_id)
    }

    fn find_same_row(&self, fingerprint: &str) -> Result<Option<u64>, StoreError> {
        self.inner.find_same_row(fingerprint)
    }

    fn find_decided(&self, content: &ContentQuery) -> Result<Option<ContentDecision>, StoreError> {
        self.inner.find_decided(content)
    }

    fn list_content_verdicts(
        &self,
        content: &ContentQuery,
        limit: usize,
    ) -> Result<Vec<LoggedVerdict>, StoreError> {
        self.inner.list_content_verdicts(content, limit)
    }

    fn load_library(&self) -> Result<EthosLibrary, StoreError> {
        self.inner.load_library()
    }

    fn load_calibration(&self, id: &DialogueId) -> Result<CalibrationRecord, StoreError> {
        self.inner.load_calibration(id)
    }

    fn list_ethos(&self, limit: usize) -> Result<Vec<EthosSummary>, StoreError> {
        self.inner.list_ethos(limit)
    }

    fn load_override_lines(&self, after: u64, limit: usize) -> Result<Vec<LogLine>, StoreError> {
        self.inner.load_override_lines(after, limit)
    }

    fn list_overrides(&self, verdict_id: &str) -> Result<Vec<RecordedOverride>, StoreError> {
        self.inner.list_overrides(verdict_id)
    }

    fn find_changed_rows(&self, id: &DialogueId) -> Result<Vec<VerifyFinding>, StoreError> {
        self.inner.find_changed_rows(id)
    }

    fn verify_record(
        &self,
        dialogue: Option<&DialogueId>,
        head: Option<&str>,
    ) -> Result<VerifyReport, StoreError> {
        self.inner.verify_record(dialogue, head)
    }
}
