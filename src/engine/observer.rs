//! Who watches a run: the terminal draws what it sees, later a stream sends it on.

use std::fmt::Debug;

use crate::domain::change::Change;
use crate::domain::ids::DialogueId;
use crate::domain::time::Moment;

/// Told of every entry once it is durable, in the order of the journal; and of what a reply
/// says as soon as it was read.
pub trait Observer: Debug + Send + Sync {
    fn saw(&self, id: &DialogueId, at: Moment, changes: &[Change]);
}

/// Watches and says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn saw(&self, _: &DialogueId, _: Moment, _: &[Change]) {}
}
