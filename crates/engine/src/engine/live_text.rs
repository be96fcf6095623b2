//! Transient events: the text that seats are writing, from the process of a run to its watchers.
//!
//! A process appends the events of its runs to its own lock file. Watchers find that file by the
//! journal, which names the process; it has the store's access mode and goes with its process. The
//! events are never journalled: only whole replies are.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plenary_core::model::ask::Ask;
use plenary_core::model::ids::{DialogueId, ExpertSlug};
use plenary_core::model::run_state::RunState;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::engine::process_lock::{ProcessLock, open_lock_of};
use crate::engine::run::{Run, RunObserver, lock_mutex};
use crate::providers::call_progress::PartialTextSink;

/// A longer file is emptied; watchers have read its beginning by then.
const LIVE_BYTES_MAX: u64 = 1 << 20;

/// Models send a word at a time. Parts of one reply are joined for this long.
const PART_INTERVAL: Duration = Duration::from_millis(25);

/// Interval between two reads of the live text.
pub const LIVE_INTERVAL: Duration = Duration::from_millis(25);

/// A part of a reply that a seat is writing. It has no `seq`, because it is not in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename = "writing")]
pub struct WritingEvent {
    pub dialogue_id: DialogueId,
    pub ask: u32,
    pub seat: ExpertSlug,
    pub round: u8,
    /// Length of the reply so far.
    pub bytes: usize,
    /// The text that this part adds.
    pub text: String,
}

impl Run {
    /// Passes the parts of the reply to an ask on to the observer and to watchers.
    pub(crate) fn partial_text_sink(&self, ask: &Ask) -> PartialTextSink {
        let event = WritingEvent {
            dialogue_id: self.id.clone(),
            ask: ask.id,
            seat: ask.seat.clone(),
            round: ask.round,
            bytes: 0,
            text: String::new(),
        };
        let published = PublishedText {
            observer: Arc::clone(&self.observer),
            process_lock: Arc::clone(&self.process_lock),
            event,
            sent_at: None,
        };
        let published = Mutex::new(published);
        PartialTextSink::new(move |text| lock_mutex(&published).add_text(text))
    }
}

/// The reply of one call, as far as it was published.
#[derive(Debug)]
struct PublishedText {
    observer: Arc<dyn RunObserver>,
    process_lock: Arc<ProcessLock>,
    event: WritingEvent,
    sent_at: Option<Instant>,
}

impl PublishedText {
    fn add_text(&mut self, text: &str) {
        self.event.bytes += text.len();
        self.event.text.push_str(text);
        if self.sent_at.is_some_and(|at| at.elapsed() < PART_INTERVAL) {
            return;
        }
        self.sent_at = Some(Instant::now());
        self.observer.on_writing(&self.event);
        self.process_lock.publish_event(&self.event);
        self.event.text.clear();
    }
}

/// Appends an event to the lock file. A failure is ignored: the reply itself is journalled.
pub(crate) fn append_event(file: &mut File, event: &WritingEvent) -> std::io::Result<()> {
    if file.stream_position()? > LIVE_BYTES_MAX {
        file.set_len(0)?;
        file.rewind()?;
    }
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Reads the events of one run from the process that works on it.
#[derive(Debug, Default)]
pub struct LiveReader {
    /// The process whose file is open.
    token: String,
    file: Option<File>,
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
    /// Whether to read what was written before the first call, too.
    reads_all: bool,
}

impl LiveReader {
    /// A reader whose first call returns the events that the process has kept so far.
    pub fn from_start() -> Self {
        Self { reads_all: true, ..Self::default() }
    }

    /// Returns the events since the last call; the first call returns none.
    pub fn read_events(&mut self, store_file: &Path, state: &RunState) -> Vec<WritingEvent> {
        let Some(token) = state.owners.last().filter(|_| state.stopped.is_none()) else {
            return Vec::new();
        };
        if self.file.is_none() || self.token != *token {
            let file = open_lock_of(store_file, token);
            let length = file.as_ref().and_then(|file| file.metadata().ok()).map(|file| file.len());
            let offset = length.filter(|_| !self.reads_all).unwrap_or(0);
            let (token, reads_all) = (token.clone(), self.reads_all);
            *self = Self { token, file, offset, rest: Vec::new(), reads_all };
            if !reads_all {
                return Vec::new();
            }
        }
        self.read_lines()
            .unwrap_or_default()
            .into_iter()
            .filter(|event| event.dialogue_id == state.opening.dialogue_id)
            .collect()
    }

    fn read_lines(&mut self) -> std::io::Result<Vec<WritingEvent>> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let length = file.metadata()?.len();
        if length < self.offset {
            (self.offset, self.rest) = (0, Vec::new());
        }
        let wanted = (length - self.offset).min(2 * LIVE_BYTES_MAX);
        let mut fresh = vec![0; usize::try_from(wanted).unwrap_or(0)];
        let read = file.read_at(&mut fresh, self.offset)?;
        self.offset += read as u64;
        self.rest.extend(fresh.into_iter().take(read));
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        // After the file was emptied the first line may be half of an older one.
        let lines = lines.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_event(text: &str) -> WritingEvent {
        WritingEvent {
            dialogue_id: "tea-or-coffee-1a2b3c4d".parse().unwrap(),
            ask: 1,
            seat: "ann".parse().unwrap(),
            round: 1,
            bytes: text.len(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn an_event_has_no_sequence_number() {
        insta::assert_snapshot!(
            serde_json::to_string(&sample_event("Tea.")).unwrap(),
            @r#"{"event":"writing","dialogue_id":"tea-or-coffee-1a2b3c4d","ask":1,"seat":"ann","round":1,"bytes":4,"text":"Tea."}"#
        );
    }

    #[test]
    fn a_reader_survives_half_lines_and_an_emptied_file() {
        let mut file = tempfile::tempfile().unwrap();
        let mut reader =
            LiveReader { file: Some(file.try_clone().unwrap()), ..LiveReader::default() };
        append_event(&mut file, &sample_event("one")).unwrap();
        file.write_all(b"{\"event\":\"wri").unwrap();
        assert_eq!(reader.read_lines().unwrap(), [sample_event("one")]);
        file.write_all(b"ting\"}\n").unwrap();
        assert_eq!(reader.read_lines().unwrap(), []);
        let long = "x".repeat(usize::try_from(LIVE_BYTES_MAX).unwrap());
        append_event(&mut file, &sample_event(&long)).unwrap();
        assert_eq!(reader.read_lines().unwrap(), [sample_event(&long)]);
        append_event(&mut file, &sample_event("two")).unwrap();
        assert!(file.metadata().unwrap().len() < 1_000, "the file is emptied");
        assert_eq!(reader.read_lines().unwrap(), [sample_event("two")]);
    }
}
