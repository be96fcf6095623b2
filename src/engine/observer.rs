//! Observers of a run, such as the progress display.

use std::fmt::Debug;

use crate::domain::change::JournalEvent;
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;

/// Told of every entry once it is durable, in the order of the journal; and of what a reply
/// says as soon as it was read.
pub trait RunObserver: Debug + Send + Sync {
    fn on_entry(&self, id: &DialogueId, at: Moment, changes: &[JournalEvent]);
}

/// Ignores all entries.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

impl RunObserver for NoopObserver {
    fn on_entry(&self, _: &DialogueId, _: Moment, _: &[JournalEvent]) {}
}
