//! An ask with its calls, and what came of them.

use std::sync::Arc;

use super::ask::{Ask, Failure, Messages, Reply, Sending};
use super::time::Moment;
use super::transcript::{Document, Reading, Shortage};

/// An ask with its calls.
#[derive(Debug, Clone)]
pub struct Asked {
    pub ask: Ask,
    pub prepared_at: Moment,
    /// How many interventions there were when it was prepared: it knows of no later one.
    pub interventions: usize,
    /// What was cut to fit, in words.
    pub condensed: Vec<String>,
    /// Kept until a reply is there, unless settings keep prompts out.
    pub messages: Option<Arc<Messages>>,
    pub calls: Vec<Call>,
    /// What its reply says, once it was read.
    pub reading: Option<Reading>,
    /// Its last call failed, and no further one is tried.
    pub gave_up: bool,
    /// Set when the budget did not allow sending it in the present run.
    pub not_sent: Option<Shortage>,
    /// It came to nothing in a run that stopped for it; the next run asks anew.
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
    /// Its run ended before anything came back.
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

    /// Whether what is used of the reply was cut off.
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
