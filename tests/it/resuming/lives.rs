//! The lives of a run: each process that worked on it, what it asked, and what the journal
//! held when it ended. Here it is decided whether a run went on as it must.

use std::collections::{BTreeMap, BTreeSet};

use plenary::domain::change::{Change, Entry};
use plenary::domain::transcript::{CallOutcome, Transcript};

/// One process. The last of a run has brought it to its end.
pub struct Life {
    /// The requests that reached the models, as `R1 ann`.
    pub asked: Vec<String>,
    /// The answers it said it had.
    pub told: Vec<String>,
    /// The journal when it ended.
    pub journal: Vec<Entry>,
}

/// What is wrong with the way a run went on from life to life; nothing, for a sound journal.
pub fn complaints(lives: &[Life]) -> Vec<String> {
    let Some((last, dead)) = lives.split_last() else { return vec!["it never lived".to_owned()] };
    let end = transcript(&last.journal);
    let mut complaints = asked_again(lives);
    complaints.extend(forgotten(dead, &end));
    complaints.extend(unrecorded(lives, &end));
    complaints.extend(unrepeated(dead, &end));
    complaints
}

/// Nobody is asked what they have answered, nor twice in one life.
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

/// What was said to be answered is in the record, once.
fn forgotten(dead: &[Life], end: &Transcript) -> Vec<String> {
    let kept = replies(end);
    let kept = counted(&kept);
    let known: BTreeSet<String> = dead.iter().flat_map(Life::answers).collect();
    let lost = known.iter().filter(|what| kept.get(what.as_str()) != Some(&1));
    lost.map(|what| format!("{what} was answered, and the record does not hold it once")).collect()
}

/// Nothing is sent before it is written down.
fn unrecorded(lives: &[Life], end: &Transcript) -> Vec<String> {
    let sent = sent(end);
    let (sent, asked) = (counted(&sent), lives.iter().flat_map(|life| &life.asked));
    let unknown = counted(asked).into_iter().filter(|(what, times)| sent.get(what) < Some(times));
    unknown.map(|(what, times)| format!("{what} was sent {times} times, recorded less")).collect()
}

/// Each call that was in flight when a process died is repeated by one other, which says so.
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

    /// What was answered since an earlier life ended, sorted.
    pub fn heard_since(&self, earlier: Option<&Life>) -> Vec<String> {
        let before = earlier.map(|life| replies(&transcript(&life.journal))).unwrap_or_default();
        let now = replies(&transcript(&self.journal));
        let mut heard: Vec<_> = now.into_iter().filter(|what| !before.contains(what)).collect();
        heard.sort();
        heard
    }

    /// What was answered by its end, as far as it is written or was said.
    fn answers(&self) -> BTreeSet<String> {
        let written = replies(&transcript(&self.journal));
        written.into_iter().chain(self.told.iter().cloned()).collect()
    }
}

/// The calls that were in flight when a process died. One that died before it took the run
/// up leaves behind what it found.
pub fn lost(dead: &[Life]) -> BTreeSet<u32> {
    dead.iter().flat_map(|life| in_flight(&life.journal)).collect()
}

/// The calls without an outcome.
pub fn in_flight(journal: &[Entry]) -> Vec<u32> {
    let transcript = transcript(journal);
    let flying = transcript.calls().filter(|call| call.outcome == CallOutcome::InFlight);
    flying.map(|call| call.sending.call).collect()
}

/// What was answered, as `R1 ann`.
pub fn replies(transcript: &Transcript) -> Vec<String> {
    calls(transcript, |outcome| matches!(outcome, CallOutcome::Replied(..)))
}

/// What was sent, as `R1 ann`.
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

/// How far a journal says that its dialogue has come.
pub fn lifecycle(journal: &[Entry]) -> String {
    let transcript = transcript(journal);
    let is_over =
        |change: &Change| matches!(change, Change::StatusSet { status, .. } if status.is_closed());
    // What was over stays over while a conclusion is written for it.
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
