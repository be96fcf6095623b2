//! State of an ask: its calls and their results, folded from the journal.

use std::sync::Arc;

use super::ask::{Ask, AskMessages, CallDispatch, CallFailure, ModelReply};
use super::time::Moment;
use super::transcript::{BudgetShortage, ParseOutcome, ReplyDocument};

/// An ask with its calls.
#[derive(Debug, Clone)]
pub struct AskState {
    pub ask: Ask,
    pub prepared_at: Moment,
    /// Number of interventions made before the ask was prepared. The ask sees only those.
    pub interventions: usize,
    /// What the prompt renderer cut to fit the input limit, as sentences.
    pub condensed: Vec<String>,
    /// Kept until a reply arrives, unless the settings exclude prompts from the record.
    pub messages: Option<Arc<AskMessages>>,
    pub calls: Vec<CallState>,
    /// Result of parsing the reply.
    pub parse_outcome: Option<ParseOutcome>,
    /// The last call failed, and the engine tries no further one.
    pub gave_up: bool,
    /// Set if the budget did not allow sending the ask in the current run.
    pub not_sent: Option<BudgetShortage>,
    /// The ask failed in a run that stopped because of it. The next run asks anew.
    pub retired: bool,
}

#[derive(Debug, Clone)]
pub struct CallState {
    pub dispatch: CallDispatch,
    pub sent_at: Moment,
    pub outcome: CallOutcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    InFlight,
    /// The process ended before a result arrived.
    Lost,
    Replied(ModelReply, Moment),
    Failed(CallFailure, Moment),
}

impl AskState {
    /// The reply, if one came back.
    pub fn last_reply(&self) -> Option<(&ModelReply, Moment)> {
        self.calls.iter().rev().find_map(|call| match &call.outcome {
            CallOutcome::Replied(reply, at) => Some((reply, *at)),
            CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => None,
        })
    }

    /// The newest failure, if a call failed.
    pub fn last_failure(&self) -> Option<(&CallFailure, Moment)> {
        self.calls.iter().rev().find_map(|call| match &call.outcome {
            CallOutcome::Failed(failure, at) => Some((failure, *at)),
            CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => None,
        })
    }

    /// Returns true if the parsed reply was cut off.
    pub fn is_truncated(&self) -> bool {
        matches!(self.parse_outcome, Some(ParseOutcome::Parsed { truncated: true, .. }))
    }

    pub fn parsed_document(&self) -> Option<&ReplyDocument> {
        match &self.parse_outcome {
            Some(ParseOutcome::Parsed { document, .. }) => Some(document),
            Some(ParseOutcome::Unreadable { .. }) | None => None,
        }
    }
}
