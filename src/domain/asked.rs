//! State of an ask: its calls and their results, folded from the journal.

use std::sync::Arc;

use super::ask::{Ask, Failure, Messages, Reply, Sending};
use super::time::Moment;
use super::transcript::{Document, Reading, Shortage};

/// An ask with its calls.
#[derive(Debug, Clone)]
pub struct Asked {
    pub ask: Ask,
    pub prepared_at: Moment,
    /// Number of interventions made before the ask was prepared. The ask sees only those.
    pub interventions: usize,
    /// What the prompt renderer cut to fit the input limit, as sentences.
    pub condensed: Vec<String>,
    /// Kept until a reply arrives, unless the settings exclude prompts from the record.
    pub messages: Option<Arc<Messages>>,
    pub calls: Vec<Call>,
    /// Result of parsing the reply.
    pub reading: Option<Reading>,
    /// The last call failed, and the engine tries no further one.
    pub gave_up: bool,
    /// Set if the budget did not allow sending the ask in the current run.
    pub not_sent: Option<Shortage>,
    /// The ask failed in a run that stopped because of it. The next run asks anew.
    pub retired: bool,
}

#[derive(Debug, Clone)]
pub struct Call {
    pub sending: Sending,
    pub sent_at: Moment,
    pub outcome: CallOutcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    InFlight,
    /// The process ended before a result arrived.
    Lost,
    Replied(Reply, Moment),
    Failed(Failure, Moment),
}

impl Asked {
    /// The reply, if one came back.
    pub fn reply(&self) -> Option<(&Reply, Moment)> {
        self.calls.iter().rev().find_map(|call| match &call.outcome {
            CallOutcome::Replied(reply, at) => Some((reply, *at)),
            CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => None,
        })
    }

    /// The newest failure, if a call failed.
    pub fn failure(&self) -> Option<(&Failure, Moment)> {
        self.calls.iter().rev().find_map(|call| match &call.outcome {
            CallOutcome::Failed(failure, at) => Some((failure, *at)),
            CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => None,
        })
    }

    /// Returns true if the parsed reply was cut off.
    pub fn is_truncated(&self) -> bool {
        matches!(self.reading, Some(Reading::Read { truncated: true, .. }))
    }

    pub fn document(&self) -> Option<&Document> {
        match &self.reading {
            Some(Reading::Read { document, .. }) => Some(document),
            Some(Reading::Unreadable { .. }) | None => None,
        }
    }
}
