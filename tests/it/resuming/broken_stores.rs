//! Stores that report writes they did not make. The checks of `attempts.rs` must detect each flaw,
//! otherwise they would prove nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plenary::ambient::Machine;
use plenary::domain::catalogue::{
    AuditedEnding, Citation, Due, EndingQuery, Hit, ListQuery, Stats, Summary,
};
use plenary::domain::change::{Change, Entry, EntryKind};
use plenary::domain::dialogue::Dialogue;
use plenary::domain::facts::{Facts, Mentions};
use plenary::domain::gate::{
    ContentQuery, DecidedContent, LogLine, LogQuery, LogRow, LoggedVerdict, RecordedOverride,
};
use plenary::domain::ids::{DialogueId, EntityId};
use plenary::domain::intervention::Intervention;
use plenary::domain::record::Record;
use plenary::domain::shown::Viewer;
use plenary::domain::time::{Day, Moment};
use plenary::engine::intervene;
use plenary::record::convergence::Pulse;
use plenary::store::{End, PlacedEntry, Registration, Store, StoreError, Unit, Verification};

use super::attempts::complaints;
use super::library::Library;
use super::scripted_seats::{Finale, play, seat};
use crate::kit::Play;

#[derive(Debug, Clone, Copy)]
enum Flaw {
    /// Leaves an entry of this kind out of its transaction.
    LeavesOut(EntryKind),
    /// Never writes that a call was sent.
    Unsent,
    /// Reports success for a transaction with such an entry, but never commits it.
    Forgets(EntryKind),
    /// Leaves out the entry with the reply to this call.
    Unheard { call: u32 },
    /// Never commits the transaction with the reply to this call.
    ForgetsReply { call: u32 },
    /// Reports a commit with a delay.
    AnswersLate,
}

/// Long enough for another reader to see an entry before its commit is reported.
const LATE: Duration = Duration::from_millis(500);

/// The critic's first audit: seven calls in the rounds, one for the draft.
const AUDIT: u32 = 9;

/// Reports success always, and numbers entries as if all were written.
#[derive(Debug)]
struct Broken {
    sound: Arc<dyn Store>,
    flaw: Flaw,
    missing: AtomicU64,
}

struct BrokenUnit<'a> {
    sound: &'a mut dyn Unit,
    flaw: Flaw,
    missing: &'a AtomicU64,
    applied: u64,
    forgets: bool,
}

/// A council whose process dies after two of three answers; returns the complaints.
fn judged(flaw: Option<Flaw>) -> Vec<String> {
    judged_at(flaw, Finale::Report, "opinion-cid", 3)
}

/// A council whose process dies after `asked` calls with one unanswered.
fn judged_at(flaw: Option<Flaw>, finale: Finale, held: &str, asked: usize) -> Vec<String> {
    let mut library = Library::sound();
    library.finale = finale;
    let store: Arc<dyn Store> = match flaw {
        Some(flaw) => {
            Arc::new(Broken { sound: library.store.clone(), flaw, missing: AtomicU64::new(0) })
        }
        None => library.store.clone(),
    };
    let lives = [format!("first.{}.{held}", finale.word()), format!("second.{}", finale.word())];
    let [first, second] = lives.each_ref().map(String::as_str);
    let (id, dead) = library.crash(store, first, library.connections(first), |told| {
        let sent = library.server.seen().len();
        // A flaw may hide that a reply belongs to a call, but not that the call was sent.
        told.replies().len() == asked - 1 && sent == asked
    });
    let last = library.resume(&id, second, library.connections(second));
    complaints(&[dead, last])
}

#[test]
fn a_sound_journal_is_not_complained_about() {
    assert_eq!(judged(None), [""; 0]);
    assert_eq!(judged_at(None, Finale::Revised, "revision-ann", 10), [""; 0]);
}

#[test]
fn a_journal_without_the_critics_reply_is_found_out() {
    for flaw in [Flaw::Unheard { call: AUDIT }, Flaw::ForgetsReply { call: AUDIT }] {
        let complaints = judged_at(Some(flaw), Finale::Revised, "revision-ann", 10);
        let missing = "R5 bob was answered, and the record does not hold it once".to_owned();
        assert!(complaints.contains(&missing), "{flaw:?}: {complaints:#?}");
    }
}

/// Both answers must be missing: the seats are asked again, or, where the parse result went into a
/// later entry, the reply itself is missing.
#[track_caller]
fn check(flaw: Flaw) -> Vec<String> {
    let complaints = judged(Some(flaw));
    for seat in ["ann", "bob"] {
        let again = format!("life 1 asks R1 {seat} again, which was answered");
        let missing = format!("R1 {seat} was answered, and the record does not hold it once");
        assert!(complaints.contains(&again) || complaints.contains(&missing), "{complaints:#?}");
    }
    complaints
}

#[test]
fn a_journal_that_leaves_replies_out_is_found_out() {
    check(Flaw::LeavesOut(EntryKind::ReplyKept));
}

#[test]
fn a_journal_that_answers_before_it_writes_is_found_out() {
    check(Flaw::Forgets(EntryKind::ReplyKept));
}

#[test]
fn a_journal_that_does_not_write_down_what_is_sent_is_found_out() {
    let complaints = check(Flaw::Unsent);
    let unrecorded = complaints.iter().filter(|complaint| complaint.ends_with("recorded less"));
    assert_eq!(unrecorded.count(), 3, "{complaints:#?}");
}

/// A reader finds a stop in the journal together with the run's newest entries.
#[test]
fn what_was_read_is_told_once_whoever_else_reads_the_journal() {
    let library = Library::new(|seen| match seat(seen) {
        "bob" => Play::Slow(2 * LATE, Box::new(play(seen))),
        _ => play(seen),
    });
    let sound = library.store.clone();
    let store = Broken { sound: sound.clone(), flaw: Flaw::AnswersLate, missing: 0.into() };
    let life = "first.opinion-cid";
    let (id, _) = library.crash(Arc::new(store), life, library.connections(life), |told| {
        let kept = |entry: &Entry| entry.kind == EntryKind::ReplyKept;
        let entries = sound.entries(&told.id(), 0).unwrap();
        let heard = entries.iter().filter(|entry| kept(entry)).count();
        if heard == 2 && entries.iter().all(|entry| entry.kind != EntryKind::Intervened) {
            intervene(sound.as_ref(), &Machine, &told.id(), &Intervention::Stop).unwrap();
        }
        let mut read = told.read();
        read.sort_unstable();
        assert!(read.is_sorted_by(|one, next| one < next), "told twice: {read:?}");
        told.is_cut_short() && read.len() == 2
    });
    assert_eq!(sound.verify(Some(&id), None).unwrap().findings, []);
}

impl Unit for BrokenUnit<'_> {
    fn part(&mut self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError> {
        let (flaw, missing) = (self.flaw, self.missing);
        let (mut forgets, mut applied) = (false, 0);
        self.sound.part(&mut |sound| {
            let mut unit = BrokenUnit { sound, flaw, missing, applied: 0, forgets: false };
            let end = work(&mut unit);
            (forgets, applied) = (forgets | unit.forgets, applied + unit.applied);
            end
        })?;
        self.forgets |= forgets;
        self.applied += applied;
        Ok(())
    }

    fn apply(
        &mut self,
        id: &DialogueId,
        kind: EntryKind,
        at: Moment,
        changes: &[Change],
    ) -> Result<u64, StoreError> {
        let holds_reply = |to: u32| {
            let is_it =
                |change: &Change| matches!(change, Change::ReplyKept { call, .. } if *call == to);
            changes.iter().any(is_it)
        };
        let is_left_out = match self.flaw {
            Flaw::LeavesOut(what) => what == kind,
            Flaw::Unheard { call } => holds_reply(call),
            Flaw::Unsent | Flaw::Forgets(_) | Flaw::ForgetsReply { .. } | Flaw::AnswersLate => {
                false
            }
        };
        if is_left_out {
            self.missing.fetch_add(1, Ordering::Relaxed);
            return self.entry_count(id);
        }
        match self.flaw {
            Flaw::Forgets(what) => self.forgets |= what == kind,
            Flaw::ForgetsReply { call } => self.forgets |= holds_reply(call),
            Flaw::Unsent => {
                let is_sent = |change: &&Change| matches!(change, Change::CallSent(_));
                let kept: Vec<Change> = changes.iter().filter(|c| !is_sent(c)).cloned().collect();
                return self.sound.apply(id, kind, at, &kept);
            }
            Flaw::LeavesOut(_) | Flaw::Unheard { .. } | Flaw::AnswersLate => {}
        }
        self.applied += 1;
        Ok(self.sound.apply(id, kind, at, changes)? + self.missing.load(Ordering::Relaxed))
    }

    fn dialogue(&mut self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError> {
        self.sound.dialogue(id)
    }

    fn is_taken(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        self.sound.is_taken(id)
    }

    fn is_ending(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        self.sound.is_ending(id)
    }

    fn is_concluded(&mut self, id: &DialogueId) -> Result<bool, StoreError> {
        self.sound.is_concluded(id)
    }

    fn entry_count(&mut self, id: &DialogueId) -> Result<u64, StoreError> {
        Ok(self.sound.entry_count(id)? + self.missing.load(Ordering::Relaxed))
    }

    fn owner_of_folder(&mut self, output_dir: &str) -> Result<Option<DialogueId>, StoreError> {
        self.sound.owner_of_folder(output_dir)
    }

    fn facts(&mut self, dialogue: &Dialogue, mentions: &Mentions) -> Result<Facts, StoreError> {
        self.sound.facts(dialogue, mentions)
    }

    fn registration(
        &mut self,
        id: &DialogueId,
        round: u8,
    ) -> Result<Option<Registration>, StoreError> {
        self.sound.registration(id, round)
    }

    fn logged(&mut self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError> {
        self.sound.logged(verdict_id)
    }

    fn logged_alike(&mut self, fingerprint: &str) -> Result<Option<u64>, StoreError> {
        self.sound.logged_alike(fingerprint)
    }

    fn verdicts_logged(
        &mut self,
        id: &DialogueId,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        self.sound.verdicts_logged(id, limit)
    }
}

impl Store for Broken {
    fn write(&self, work: &mut dyn FnMut(&mut dyn Unit) -> End) -> Result<(), StoreError> {
        self.sound.write(&mut |sound| {
            let (flaw, missing) = (self.flaw, &self.missing);
            let mut unit = BrokenUnit { sound, flaw, missing, applied: 0, forgets: false };
            let end = work(&mut unit);
            if !unit.forgets {
                return end;
            }
            missing.fetch_add(unit.applied, Ordering::Relaxed);
            End::RollBack
        })?;
        if let Flaw::AnswersLate = self.flaw {
            std::thread::sleep(LATE);
        }
        Ok(())
    }

    fn dialogue(&self, id: &DialogueId) -> Result<Option<Dialogue>, StoreError> {
        self.sound.dialogue(id)
    }

    fn record(&self, id: &DialogueId) -> Result<Option<Record>, StoreError> {
        self.sound.record(id)
    }

    fn show_before(
        &self,
        id: &DialogueId,
        round: u8,
        viewer: &mut Viewer<'_>,
    ) -> Result<Option<Record>, StoreError> {
        self.sound.show_before(id, round, viewer)
    }

    fn entries(&self, id: &DialogueId, after: u64) -> Result<Vec<Entry>, StoreError> {
        self.sound.entries(id, after)
    }

    fn last_intervention(&self) -> Result<u64, StoreError> {
        self.sound.last_intervention()
    }

    fn cost_entries(&self, after: u64, since: Moment) -> Result<Vec<PlacedEntry>, StoreError> {
        self.sound.cost_entries(after, since)
    }

    fn pulse(&self, id: &DialogueId) -> Result<Option<Pulse>, StoreError> {
        self.sound.pulse(id)
    }

    fn list(&self, query: &ListQuery) -> Result<Vec<Summary>, StoreError> {
        self.sound.list(query)
    }

    fn search(&self, words: &[String], limit: usize) -> Result<Vec<Hit>, StoreError> {
        self.sound.search(words, limit)
    }

    fn stats(&self, top_experts: usize) -> Result<Stats, StoreError> {
        self.sound.stats(top_experts)
    }

    fn endings(&self, query: &EndingQuery) -> Result<Vec<AuditedEnding>, StoreError> {
        self.sound.endings(query)
    }

    fn due(&self, by: Day, limit: usize) -> Result<Vec<Due>, StoreError> {
        self.sound.due(by, limit)
    }

    fn cite(&self, dialogue: &DialogueId, id: EntityId) -> Result<Option<Citation>, StoreError> {
        self.sound.cite(dialogue, id)
    }

    fn log_lines(&self, after: u64, limit: usize) -> Result<Vec<LogLine>, StoreError> {
        self.sound.log_lines(after, limit)
    }

    fn log_page(&self, query: &LogQuery) -> Result<Vec<LoggedVerdict>, StoreError> {
        self.sound.log_page(query)
    }

    fn priors(&self, artifact_type: &str, limit: usize) -> Result<Vec<LogRow>, StoreError> {
        self.sound.priors(artifact_type, limit)
    }

    fn logged(&self, verdict_id: &str) -> Result<Option<LoggedVerdict>, StoreError> {
        self.sound.logged(verdict_id)
    }

    fn log_line(&self, verdict_id: &str) -> Result<Option<LogLine>, StoreError> {
        self.sound.log_line(verdict_id)
    }

    fn logged_alike(&self, fingerprint: &str) -> Result<Option<u64>, StoreError> {
        self.sound.logged_alike(fingerprint)
    }

    fn decided(&self, content: &ContentQuery) -> Result<Option<DecidedContent>, StoreError> {
        self.sound.decided(content)
    }

    fn overrides(&self, verdict_id: &str) -> Result<Vec<RecordedOverride>, StoreError> {
        self.sound.overrides(verdict_id)
    }

    fn verify(
        &self,
        dialogue: Option<&DialogueId>,
        head: Option<&str>,
    ) -> Result<Verification, StoreError> {
        self.sound.verify(dialogue, head)
    }
}
