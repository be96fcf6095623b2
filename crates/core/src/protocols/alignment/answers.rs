//! The parsed answers of the Judge and the experts.

use crate::markers::batch::check_across_replies;
use crate::markers::extract::extract_reply;
use crate::markers::extraction::ReplyExtraction;
use crate::model::ask::{Ask, AskPurpose, AskState};
use crate::model::ids::ExpertSlug;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState, RunStopReason};
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::types::AlignmentPlan;
use crate::protocols::protocol::Step;

/// How often the Judge may fix a reply that the rules refuse.
pub const FIXES_MAX: usize = 2;

/// Why an expert is asked again although the reply was not at fault.
pub const REPEAT_REASON: &str = "too few experts answered, so the round is repeated";

/// The plan and the record of a run with the built-in Judge.
pub(crate) fn judged_run(state: &RunState) -> Option<(&AlignmentPlan, &AlignmentState)> {
    Some((state.plan.alignment.as_deref()?, state.alignment.as_deref()?))
}

/// An expert's reply of a round that says something.
#[derive(Debug)]
pub struct HeardReply<'a> {
    pub text: &'a str,
    pub read: ReplyExtraction,
    pub is_cut: bool,
}

impl HeardReply<'_> {
    pub fn expert(&self) -> &ExpertSlug {
        &self.read.expert
    }
}

/// The replies of a round's panel, in panel order. References between them are checked.
pub fn list_heard(state: &RunState, round: u8) -> Vec<HeardReply<'_>> {
    let Some(judged) = state.alignment.as_deref() else { return Vec::new() };
    let mut heard = Vec::new();
    let mut reads = Vec::new();
    for seat in judged.panel_of(round) {
        let slug = &seat.expert_slug;
        let Some(asked) = state.last_ask_for(round, slug, AskPurpose::Contribution) else {
            continue;
        };
        let Some(ReplyDocument::Contribution(facts)) = asked.parsed_document() else { continue };
        let Some((reply, _)) = asked.last_reply().filter(|_| facts.is_heard()) else { continue };
        reads.push(extract_reply(&reply.text, slug, round));
        heard.push((reply.text.as_str(), asked.is_truncated()));
    }
    check_across_replies(&mut reads);
    let heard = heard.into_iter().zip(reads);
    heard.map(|((text, is_cut), read)| HeardReply { text, read, is_cut }).collect()
}

/// The experts of the panel who did not answer, in panel order.
pub fn list_silent(state: &RunState, round: u8) -> Vec<ExpertSlug> {
    let Some(judged) = state.alignment.as_deref() else { return Vec::new() };
    let heard = list_heard(state, round);
    let is_heard = |slug: &ExpertSlug| heard.iter().any(|reply| reply.expert() == slug);
    let seats = judged.panel_of(round).iter().map(|seat| &seat.expert_slug);
    seats.filter(|slug| !is_heard(slug)).cloned().collect()
}

/// How far the Judge's answer is.
#[derive(Debug)]
pub(crate) enum JudgeAnswer<'s, T> {
    /// The engine must do this first.
    Pending(Step),
    /// The answer of this ask satisfies the rules.
    Usable { ask: u32, value: T },
    /// The Judge could not fix it: the last document that could be parsed, if any, and what was
    /// wrong with the last reply.
    Unusable { document: Option<&'s ReplyDocument>, fault: String },
    /// No call reached the Judge.
    Failed(RunStopReason),
}

/// The Judge's answer for one purpose. `check` says what is wrong with a parsed reply; the Judge
/// fixes it at most [`FIXES_MAX`] times.
pub(crate) fn judge_answer<'s, T>(
    state: &'s RunState,
    round: u8,
    purpose: AskPurpose,
    check: impl Fn(&'s ReplyDocument) -> Result<T, String>,
) -> JudgeAnswer<'s, T> {
    let Some((plan, judged)) = judged_run(state) else {
        return JudgeAnswer::Unusable { document: None, fault: String::new() };
    };
    let asks: Vec<&AskState> = state
        .asks_in_round(round)
        // A stop changes what the Judge is asked.
        .filter(|asked| {
            asked.ask.purpose == purpose && !asked.retired && !state.is_cancelled(asked)
        })
        .collect();
    let ask = |retry_reason| {
        let (id, seat) = (state.next_ask_id(), plan.judge.clone());
        JudgeAnswer::Pending(Step::Ask(vec![Ask { id, round, seat, purpose, retry_reason }]))
    };
    let Some(last) = asks.last() else { return ask(None) };
    let fault = match &last.parse_outcome {
        None => return unanswered(last),
        Some(ParseOutcome::Unreadable { reason, .. }) => reason.clone(),
        Some(ParseOutcome::Parsed { document, .. }) => {
            match (judged.refusals.get(&last.ask.id), check(document)) {
                (Some(refusal), _) => refusal.clone(),
                (None, Ok(value)) => return JudgeAnswer::Usable { ask: last.ask.id, value },
                (None, Err(fault)) => fault,
            }
        }
    };
    if asks.len() > FIXES_MAX {
        let document = asks.iter().rev().find_map(|asked| asked.parsed_document());
        return JudgeAnswer::Unusable { document, fault };
    }
    ask(Some(fault))
}

/// An ask without a parsed reply: still to be sent, not affordable, or failed.
fn unanswered<'s, T>(asked: &AskState) -> JudgeAnswer<'s, T> {
    if let Some(shortage) = asked.not_sent {
        return JudgeAnswer::Pending(Step::Stop(RunStopReason::Budget { shortage }));
    }
    if !asked.gave_up {
        return JudgeAnswer::Pending(Step::Ask(vec![asked.ask.clone()]));
    }
    let reason =
        asked.last_failure().map_or_else(String::new, |(failed, _)| failed.message.clone());
    JudgeAnswer::Failed(RunStopReason::Unjudged { seat: asked.ask.seat.clone(), reason })
}
