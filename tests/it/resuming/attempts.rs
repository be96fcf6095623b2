//! The attempts of a run: each process that ran it, its requests, and the journal when it ended.
//! Decides whether a run resumed correctly.

use std::collections::{BTreeMap, BTreeSet};

use plenary_core::model::ask::CallOutcome;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::run_state::RunState;

/// One process. The last one of a run completes it.
pub struct RunAttempt {
    /// The requests that reached the models, such as `R1 ann`.
    pub requests: Vec<String>,
    /// The answers that it reported.
    pub reported: Vec<String>,
    /// The journal when it ended.
    pub journal: Vec<JournalEntry>,
}

/// Faults in the sequence of attempts; empty for a correct journal.
pub fn find_complaints(lives: &[RunAttempt]) -> Vec<String> {
    let Some((last, dead)) = lives.split_last() else { return vec!["it never lived".to_owned()] };
    let end = fold_journal(&last.journal);
    let mut complaints = find_repeated_asks(lives);
    complaints.extend(find_lost_answers(dead, &end));
    complaints.extend(find_unrecorded_calls(lives, &end));
    complaints.extend(find_unrepeated_calls(dead, &end));
    complaints
}

/// No seat is asked again after its answer, nor twice in one attempt.
fn find_repeated_asks(lives: &[RunAttempt]) -> Vec<String> {
    let (mut complaints, mut known) = (Vec::new(), BTreeSet::new());
    for (nth, life) in lives.iter().enumerate() {
        for (what, times) in count_items(&life.requests) {
            if known.contains(what) {
                complaints.push(format!("life {nth} asks {what} again, which was answered"));
            } else if times > 1 {
                complaints.push(format!("life {nth} asks {what} {times} times"));
            }
        }
        known.extend(life.known_answers());
    }
    complaints
}

/// Every reported answer is in the record, once.
fn find_lost_answers(dead: &[RunAttempt], end: &RunState) -> Vec<String> {
    let kept = list_replies(end);
    let kept = count_items(&kept);
    let known: BTreeSet<String> = dead.iter().flat_map(RunAttempt::known_answers).collect();
    let lost = known.iter().filter(|what| kept.get(what.as_str()) != Some(&1));
    lost.map(|what| format!("{what} was answered, and the record does not hold it once")).collect()
}

/// No call is sent before it is recorded.
fn find_unrecorded_calls(lives: &[RunAttempt], end: &RunState) -> Vec<String> {
    let sent = list_sent(end);
    let (sent, asked) = (count_items(&sent), lives.iter().flat_map(|life| &life.requests));
    let unknown =
        count_items(asked).into_iter().filter(|(what, times)| sent.get(what) < Some(times));
    unknown.map(|(what, times)| format!("{what} was sent {times} times, recorded less")).collect()
}

/// Each call in flight at a crash is repeated by exactly one other call, which names it.
fn find_unrepeated_calls(dead: &[RunAttempt], end: &RunState) -> Vec<String> {
    let lost = lost_calls(dead);
    let mut repeated: Vec<u32> = end.all_calls().filter_map(|call| call.dispatch.repeats).collect();
    repeated.sort_unstable();
    match lost.iter().eq(&repeated) {
        true => Vec::new(),
        false => vec![format!("calls {lost:?} were lost, {repeated:?} are said to be repeated")],
    }
}

impl RunAttempt {
    pub fn is_done(&self) -> bool {
        fold_journal(&self.journal).is_finished()
    }

    /// Answers since an earlier attempt ended, sorted.
    pub fn answers_since(&self, earlier: Option<&RunAttempt>) -> Vec<String> {
        let before =
            earlier.map(|life| list_replies(&fold_journal(&life.journal))).unwrap_or_default();
        let now = list_replies(&fold_journal(&self.journal));
        let mut received: Vec<_> = now.into_iter().filter(|what| !before.contains(what)).collect();
        received.sort();
        received
    }

    /// Answers that the journal or the progress lines contain at its end.
    fn known_answers(&self) -> BTreeSet<String> {
        let written = list_replies(&fold_journal(&self.journal));
        written.into_iter().chain(self.reported.iter().cloned()).collect()
    }
}

/// The calls in flight at each crash. A process that died before it claimed the run leaves the
/// calls it found.
pub fn lost_calls(dead: &[RunAttempt]) -> BTreeSet<u32> {
    dead.iter().flat_map(|life| calls_in_flight(&life.journal)).collect()
}

/// The calls without an outcome.
pub fn calls_in_flight(journal: &[JournalEntry]) -> Vec<u32> {
    let state = fold_journal(journal);
    let flying = state.all_calls().filter(|call| call.outcome == CallOutcome::InFlight);
    flying.map(|call| call.dispatch.call).collect()
}

/// Answers, such as `R1 ann`.
pub fn list_replies(state: &RunState) -> Vec<String> {
    list_calls(state, |outcome| matches!(outcome, CallOutcome::Replied(..)))
}

/// Sent calls, such as `R1 ann`.
pub fn list_sent(state: &RunState) -> Vec<String> {
    list_calls(state, |_| true)
}

fn list_calls(state: &RunState, which: impl Fn(&CallOutcome) -> bool) -> Vec<String> {
    let named = state.asks.iter().flat_map(|asked| {
        let calls = asked.calls.iter().filter(|call| which(&call.outcome));
        calls.map(|_| format!("R{} {}", asked.ask.round, asked.ask.seat))
    });
    named.collect()
}

/// The lifecycle of the dialogue according to its journal.
pub fn lifecycle_of(journal: &[JournalEntry]) -> String {
    let state = fold_journal(journal);
    let is_over = |change: &JournalEvent| matches!(change, JournalEvent::StatusSet { status, .. } if status.is_closed());
    // A dialogue that was over stays over while a conclusion is written.
    let was_over = journal.iter().flat_map(|entry| &entry.events).any(is_over);
    if state.is_finished() || was_over {
        return "terminal".to_owned();
    }
    if state.participants.is_none() {
        let held = state.recorded_rounds.last();
        return held.map_or("pending".to_owned(), |(round, _)| format!("round_{round}"));
    }
    let stage = match state.asks.last().map_or(0, |asked| asked.ask.round) {
        5 => "auditing",
        6 | 7 => "revising",
        _ => "concluding",
    };
    stage.to_owned()
}

pub fn fold_journal(journal: &[JournalEntry]) -> RunState {
    RunState::from_entries(journal).unwrap()
}

fn count_items<'a>(words: impl IntoIterator<Item = &'a String>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_default() += 1;
    }
    counts
}
