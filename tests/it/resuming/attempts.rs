//! The attempts of a run: each process that ran it, its requests, and the journal when it ended.
//! Decides whether a run resumed correctly.

use std::collections::{BTreeMap, BTreeSet};

use plenary::domain::change::{Change, Entry};
use plenary::domain::transcript::{CallOutcome, Transcript};

/// One process. The last one of a run completes it.
pub struct Life {
    /// The requests that reached the models, such as `R1 ann`.
    pub asked: Vec<String>,
    /// The answers that it reported.
    pub told: Vec<String>,
    /// The journal when it ended.
    pub journal: Vec<Entry>,
}

/// Faults in the sequence of attempts; empty for a correct journal.
pub fn complaints(lives: &[Life]) -> Vec<String> {
    let Some((last, dead)) = lives.split_last() else { return vec!["it never lived".to_owned()] };
    let end = transcript(&last.journal);
    let mut complaints = asked_again(lives);
    complaints.extend(forgotten(dead, &end));
    complaints.extend(unrecorded(lives, &end));
    complaints.extend(unrepeated(dead, &end));
    complaints
}

/// No seat is asked again after its answer, nor twice in one attempt.
fn asked_again(lives: &[Life]) -> Vec<String> {
    let (mut complaints, mut known) = (Vec::new(), BTreeSet::new());
    for (nth, life) in lives.iter().enumerate() {
        for (what, times) in counted(&life.asked) {
            if known.contains(what) {
                complaints.push(format!("life {nth} asks {what} again, which was answered"));
            } else if times > 1 {
                complaints.push(format!("life {nth} asks {what} {times} times"));
            }
        }
        known.extend(life.answers());
    }
    complaints
}

/// Every reported answer is in the record, once.
fn forgotten(dead: &[Life], end: &Transcript) -> Vec<String> {
    let kept = replies(end);
    let kept = counted(&kept);
    let known: BTreeSet<String> = dead.iter().flat_map(Life::answers).collect();
    let lost = known.iter().filter(|what| kept.get(what.as_str()) != Some(&1));
    lost.map(|what| format!("{what} was answered, and the record does not hold it once")).collect()
}

/// No call is sent before it is recorded.
fn unrecorded(lives: &[Life], end: &Transcript) -> Vec<String> {
    let sent = sent(end);
    let (sent, asked) = (counted(&sent), lives.iter().flat_map(|life| &life.asked));
    let unknown = counted(asked).into_iter().filter(|(what, times)| sent.get(what) < Some(times));
    unknown.map(|(what, times)| format!("{what} was sent {times} times, recorded less")).collect()
}

/// Each call in flight at a crash is repeated by exactly one other call, which names it.
fn unrepeated(dead: &[Life], end: &Transcript) -> Vec<String> {
    let lost = lost(dead);
    let mut repeated: Vec<u32> = end.calls().filter_map(|call| call.sending.repeats).collect();
    repeated.sort_unstable();
    match lost.iter().eq(&repeated) {
        true => Vec::new(),
        false => vec![format!("calls {lost:?} were lost, {repeated:?} are said to be repeated")],
    }
}

impl Life {
    pub fn is_done(&self) -> bool {
        transcript(&self.journal).is_finished()
    }

    /// Answers since an earlier attempt ended, sorted.
    pub fn heard_since(&self, earlier: Option<&Life>) -> Vec<String> {
        let before = earlier.map(|life| replies(&transcript(&life.journal))).unwrap_or_default();
        let now = replies(&transcript(&self.journal));
        let mut heard: Vec<_> = now.into_iter().filter(|what| !before.contains(what)).collect();
        heard.sort();
        heard
    }

    /// Answers that the journal or the progress lines contain at its end.
    fn answers(&self) -> BTreeSet<String> {
        let written = replies(&transcript(&self.journal));
        written.into_iter().chain(self.told.iter().cloned()).collect()
    }
}

/// The calls in flight at each crash. A process that died before it claimed the run leaves the
/// calls it found.
pub fn lost(dead: &[Life]) -> BTreeSet<u32> {
    dead.iter().flat_map(|life| in_flight(&life.journal)).collect()
}

/// The calls without an outcome.
pub fn in_flight(journal: &[Entry]) -> Vec<u32> {
    let transcript = transcript(journal);
    let flying = transcript.calls().filter(|call| call.outcome == CallOutcome::InFlight);
    flying.map(|call| call.sending.call).collect()
}

/// Answers, such as `R1 ann`.
pub fn replies(transcript: &Transcript) -> Vec<String> {
    calls(transcript, |outcome| matches!(outcome, CallOutcome::Replied(..)))
}

/// Sent calls, such as `R1 ann`.
pub fn sent(transcript: &Transcript) -> Vec<String> {
    calls(transcript, |_| true)
}

fn calls(transcript: &Transcript, which: impl Fn(&CallOutcome) -> bool) -> Vec<String> {
    let named = transcript.asks.iter().flat_map(|asked| {
        let calls = asked.calls.iter().filter(|call| which(&call.outcome));
        calls.map(|_| format!("R{} {}", asked.ask.round, asked.ask.seat))
    });
    named.collect()
}

/// The lifecycle of the dialogue according to its journal.
pub fn lifecycle(journal: &[Entry]) -> String {
    let transcript = transcript(journal);
    let is_over =
        |change: &Change| matches!(change, Change::StatusSet { status, .. } if status.is_closed());
    // A dialogue that was over stays over while a conclusion is written.
    let was_over = journal.iter().flat_map(|entry| &entry.changes).any(is_over);
    if transcript.is_finished() || was_over {
        return "terminal".to_owned();
    }
    if transcript.participants.is_none() {
        let held = transcript.rounds_held.last();
        return held.map_or("pending".to_owned(), |(round, _)| format!("round_{round}"));
    }
    let stage = match transcript.asks.last().map_or(0, |asked| asked.ask.round) {
        5 => "auditing",
        6 | 7 => "revising",
        _ => "concluding",
    };
    stage.to_owned()
}

pub fn transcript(journal: &[Entry]) -> Transcript {
    Transcript::of(journal).unwrap()
}

fn counted<'a>(words: impl IntoIterator<Item = &'a String>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_default() += 1;
    }
    counts
}
