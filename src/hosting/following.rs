//! Follows a run by its journal, whichever process works on it.
//!
//! Whoever follows asks first whether anybody is at work, then reads the journal: what an owner
//! wrote last is in it by then. When nobody was and nothing new came, it is over.

use std::path::Path;
use std::time::Duration;

use crate::domain::change::{Change, Entry};
use crate::domain::transcript::Transcript;
use crate::engine::{due_readings, is_at_work};

/// How often the journal is looked at.
pub const FOLLOWING_PAUSE: Duration = Duration::from_millis(150);

/// What was seen of a run so far.
#[derive(Debug, Default)]
pub struct Following {
    pub transcript: Option<Transcript>,
    /// What happened before a run was planned on a dialogue that somebody leads.
    before: Vec<Entry>,
    /// The last entry that was taken.
    pub seq: u64,
}

impl Following {
    /// What an entry brings. What a reply says is told with the reply, as when the run was
    /// live, and not again with the later entry that it was written into.
    pub fn take(&mut self, entry: &Entry) -> Vec<Change> {
        self.seq = entry.seq;
        let Some(transcript) = &mut self.transcript else {
            self.before.push(entry.clone());
            self.transcript = Transcript::of(&self.before);
            return entry.changes.clone();
        };
        let is_known =
            |ask: u32| transcript.asked(ask).is_some_and(|asked| asked.reading.is_some());
        let is_fresh =
            |change: &&Change| !matches!(change, Change::ReplyRead { ask, .. } if is_known(*ask));
        let mut fresh: Vec<Change> = entry.changes.iter().filter(is_fresh).cloned().collect();
        transcript.add(entry.at, &fresh);
        let due = due_readings(transcript);
        transcript.add(entry.at, &due);
        fresh.extend(due);
        fresh
    }

    /// Whether a process is at work on it, as far as was seen: nobody has looked yet, or its
    /// owner lives. What nobody ran has no transcript, however much of it was read.
    pub fn is_at_work(&self, store_file: &Path) -> bool {
        let Some(transcript) = &self.transcript else { return self.seq == 0 };
        is_at_work(store_file, transcript)
    }
}
