//! The calls of a run: what a seat was sent, what came back, and what the parser made of it.
//! `show --call`, `show --prompts`, `cite ID/call/N` and `export --full` print them.
//!
//! **Invariant:** the messages are those of the journal. [`read_prompts`] is the only function that
//! knows how the journal keeps them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::model::ask::{
    AskMessages, AskPurpose, AskState, CallFailure, CallOutcome, CallState, CostSource, TokenUsage,
    TransportFallback, TransportKind, serialize_usage,
};
use crate::model::dialogue::DialogueOpening;
use crate::model::ids::ExpertSlug;
use crate::model::journal::{JournalEntry, JournalEvent};
use crate::model::run_state::{ParseOutcome, RunState};
use crate::model::string_enum::words;
use crate::model::time::Moment;
use crate::report::page::{
    ListItem, PageBlock, PageDetail, PageModel, PageScope, PageSection, QuoteBar, TextTone,
};
use crate::report::phrases::{call_error_text, group_digits, stage_name};
use crate::report::record_page::base_page;
use crate::report::run_metrics::to_dollars;

words! {
    /// How far a call came.
    pub enum CallStatus {
        Replied = "replied",
        Failed = "failed",
        /// The process ended before a result arrived.
        Lost = "lost",
        /// A stop, the deadline or an interrupt came before the result.
        Cancelled = "cancelled",
        InFlight = "in_flight",
    }
}

/// One call, as programs read it.
#[derive(Debug, Clone, Serialize)]
pub struct CallDocument {
    pub call: u32,
    pub seat: ExpertSlug,
    pub purpose: AskPurpose,
    pub round: u8,
    pub model_asked: String,
    /// None without a reply.
    pub model_served: Option<String>,
    pub transport: TransportKind,
    /// Number of the attempt on this transport, from 1.
    pub attempt: u8,
    pub fallback: Option<TransportFallback>,
    pub status: CallStatus,
    /// Empty if the settings kept prompts out of the record; then `messages_sha256` is set.
    pub messages: Vec<SentMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_sha256: Option<String>,
    pub raw: Option<String>,
    #[serde(serialize_with = "serialize_usage")]
    pub usage: Option<TokenUsage>,
    pub cost: Option<CallPrice>,
    pub timing: CallTiming,
    /// What the parser made of the reply; none without a reply.
    pub parse: Option<Value>,
    pub error: Option<CallFailure>,
    #[serde(skip)]
    ask: u32,
}

/// One message of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SentMessage {
    pub role: &'static str,
    pub content: String,
}

/// What a call cost, in dollars.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CallPrice {
    pub usd: Option<f64>,
    pub source: CostSource,
}

/// When a call was sent and when it ended.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CallTiming {
    pub sent_at: Moment,
    pub ended_at: Option<Moment>,
    pub duration_ms: Option<u64>,
    /// Time from sending to the first byte of the answer.
    pub first_byte_ms: Option<u64>,
}

/// All calls of a run, in the order in which they were sent.
pub fn list_calls(state: &RunState, journal: &[JournalEntry]) -> Vec<CallDocument> {
    let prompts = read_prompts(state, journal);
    let asks =
        state.asks.iter().flat_map(|asked| asked.calls.iter().map(move |call| (asked, call)));
    let mut calls: Vec<CallDocument> =
        asks.map(|(asked, call)| call_document(state, &prompts, asked, call)).collect();
    calls.sort_by_key(|one| one.call);
    calls
}

/// The calls in flight of a run without a process: their replies never arrive.
pub fn mark_lost(calls: &mut [CallDocument]) {
    for call in calls.iter_mut().filter(|call| call.status == CallStatus::InFlight) {
        call.status = CallStatus::Lost;
    }
}

/// The same as `show --prompts --json` prints it: without the replies.
pub fn prompt_documents(calls: &[CallDocument]) -> serde_json::Result<Vec<Value>> {
    let mut documents = calls.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    for document in documents.iter_mut().filter_map(Value::as_object_mut) {
        document.shift_remove("raw");
    }
    Ok(documents)
}

/// What the journal keeps of the messages of one ask.
#[derive(Debug, Clone, Default)]
struct AskPrompt {
    messages: Vec<SentMessage>,
    sha256: Option<String>,
}

/// The full messages of each ask, by its number.
fn read_prompts(state: &RunState, journal: &[JournalEntry]) -> BTreeMap<u32, AskPrompt> {
    let (mut prompts, mut known) = (BTreeMap::new(), BTreeMap::<u32, AskMessages>::new());
    for event in journal.iter().flat_map(|entry| &entry.events) {
        let JournalEvent::AskPrepared { ask, messages, messages_sha256, .. } = event else {
            continue;
        };
        let whole = messages.as_ref().and_then(|sent| {
            let earlier = sent.common.and_then(|common| known.get(&common.ask));
            sent.to_whole(&state.shared_blocks, earlier)
        });
        let sent = whole.iter().flat_map(|sent| {
            [("system", sent.system.clone()), ("user", sent.user_message())]
                .map(|(role, content)| SentMessage { role, content })
        });
        let prompt = AskPrompt { messages: sent.collect(), sha256: messages_sha256.clone() };
        prompts.insert(ask.id, prompt);
        known.extend(whole.map(|whole| (ask.id, whole)));
    }
    prompts
}

fn call_document(
    state: &RunState,
    prompts: &BTreeMap<u32, AskPrompt>,
    asked: &AskState,
    call: &CallState,
) -> CallDocument {
    let ask = &asked.ask;
    let prompt = prompts.get(&ask.id).cloned().unwrap_or_default();
    let model_asked = call.model.clone();
    let (status, reply, error, ended) = match &call.outcome {
        CallOutcome::Replied(reply, at) => (CallStatus::Replied, Some(reply), None, Some(*at)),
        CallOutcome::Failed(why, at) => (CallStatus::Failed, None, Some(why.clone()), Some(*at)),
        CallOutcome::Lost | CallOutcome::InFlight if state.is_cancelled(asked) => {
            (CallStatus::Cancelled, None, None, None)
        }
        CallOutcome::Lost => (CallStatus::Lost, None, None, None),
        CallOutcome::InFlight => (CallStatus::InFlight, None, None, None),
    };
    let served = reply.map(|reply| reply.model.clone().unwrap_or_else(|| model_asked.clone()));
    let latency = reply.map(|reply| reply.latency_ms);
    CallDocument {
        call: call.dispatch.call,
        seat: ask.seat.clone(),
        purpose: ask.purpose,
        round: ask.round,
        model_served: served,
        model_asked,
        transport: call.dispatch.transport,
        attempt: call.dispatch.attempt,
        fallback: call.dispatch.fallback.clone(),
        status,
        messages: prompt.messages,
        messages_sha256: prompt.sha256,
        raw: reply.map(|reply| reply.text.clone()),
        usage: reply.and_then(|reply| reply.usage),
        cost: reply.map(|reply| CallPrice {
            usd: reply.cost.usd_micros.map(to_dollars),
            source: reply.cost.source,
        }),
        timing: CallTiming {
            sent_at: call.sent_at,
            ended_at: ended,
            duration_ms: latency.or(error.as_ref().map(|failure| failure.latency_ms)),
            first_byte_ms: match &call.outcome {
                CallOutcome::Replied(reply, _) => reply.first_byte_ms,
                CallOutcome::Failed(failure, _) => {
                    failure.arrived.and_then(|arrived| arrived.first_byte_ms)
                }
                CallOutcome::InFlight | CallOutcome::Lost => None,
            },
        },
        // The parser reads the last reply of an ask.
        parse: reply
            .filter(|reply| asked.last_reply().is_some_and(|(last, _)| std::ptr::eq(last, *reply)))
            .and(asked.parse_outcome.as_ref())
            .map(parse_document),
        error,
        ask: ask.id,
    }
}

fn parse_document(outcome: &ParseOutcome) -> Value {
    match outcome {
        ParseOutcome::Parsed { document, repaired, truncated } => {
            // The journal keeps a document with its kind; the purpose of the call says the same.
            let document = serde_json::to_value(document).unwrap_or_default();
            let content = document.get("content").cloned().unwrap_or_default();
            json!({ "status": "parsed", "repaired": repaired, "truncated": truncated,
                "document": content })
        }
        ParseOutcome::Unreadable { reason, refusal } => {
            json!({ "status": "unreadable", "reason": reason, "refusal": refusal })
        }
    }
}

/// The page of `show --call`.
pub fn call_page(opening: &DialogueOpening, call: &CallDocument) -> PageModel {
    let mut page = calls_page(opening, "Call", vec![call_facts_section(call)]);
    page.sections.extend(message_sections(call));
    page.sections.push(reply_section(call));
    page
}

/// The page of `show --prompts`.
pub fn prompts_page(opening: &DialogueOpening, calls: &[CallDocument]) -> PageModel {
    let mut sections: Vec<PageSection> = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        let earlier = calls.get(..place).unwrap_or_default();
        let title = format!("Call {}", call.call);
        let section = PageSection::new(title, Vec::new()).with_note(place_text(call));
        sections.push(match earlier.iter().find(|one| one.ask == call.ask) {
            Some(first) => {
                let text = format!("A repeat of call {}, with the same messages.", first.call);
                PageSection { blocks: vec![PageBlock::Paragraph(text.into())], ..section }
            }
            None => section.with_sections(new_message_sections(call, earlier)),
        });
    }
    if sections.is_empty() {
        let none = PageBlock::Paragraph("Plenary asked no model for this dialogue.".into());
        sections.push(PageSection::new("Prompts", vec![none]));
    }
    calls_page(opening, "Prompts", sections)
}

/// Every call with its messages and its reply: the appendix of `export --full`.
pub fn calls_section(calls: &[CallDocument]) -> PageSection {
    let parts = calls.iter().map(|call| call_section(call).folded()).collect();
    PageSection::new("Calls", Vec::new()).with_note(calls.len().to_string()).with_sections(parts)
}

/// One call as a part of another page.
pub fn call_section(call: &CallDocument) -> PageSection {
    let mut parts = message_sections(call);
    parts.push(reply_section(call));
    PageSection { title: format!("Call {}", call.call), ..call_facts_section(call) }
        .with_sections(parts)
}

fn calls_page(
    opening: &DialogueOpening,
    kind: &'static str,
    sections: Vec<PageSection>,
) -> PageModel {
    let page = base_page(opening, kind, PageScope::new(PageDetail::Full));
    let summary = vec![opening.dialogue_id.to_string()];
    PageModel { question: None, summary, sections, ..page }
}

/// `R1 · opinion · ann`; `second audit · bob`, where the round says what the purpose says.
fn place_text(call: &CallDocument) -> String {
    let (round, purpose) = (stage_name(call.round), call.purpose.name());
    match round.ends_with(purpose) {
        true => format!("{round} · {}", call.seat),
        false => format!("{round} · {purpose} · {}", call.seat),
    }
}

fn call_facts_section(call: &CallDocument) -> PageSection {
    let mut items = vec![
        ListItem::new("Model", model_text(call)),
        ListItem::new(
            "Sent",
            format!("{}, {}", call.timing.sent_at.format_second(), way_text(call)),
        ),
        ListItem::new("Result", result_text(call)),
    ];
    items.extend(call.usage.map(|usage| {
        let [sent, written] = [usage.input_tokens, usage.output_tokens].map(group_digits);
        let cached = match usage.cached_tokens {
            0 => String::new(),
            cached => format!(" ({} from cache)", group_digits(cached)),
        };
        ListItem::new("Tokens", format!("{sent} in{cached}, {written} out"))
    }));
    items.extend(call.cost.map(|cost| ListItem::new("Cost", cost_text(cost))));
    items.extend(call.parse.as_ref().map(|parse| ListItem::new("Parsed", parse_text(parse))));
    PageSection::new(format!("Call {}", call.call), vec![PageBlock::Fields(items)])
        .with_note(place_text(call))
}

fn model_text(call: &CallDocument) -> String {
    match call.model_served.as_ref().filter(|served| **served != call.model_asked) {
        Some(served) => format!("{}; {served} answered", call.model_asked),
        None => call.model_asked.clone(),
    }
}

/// `by http, attempt 2`
fn way_text(call: &CallDocument) -> String {
    let attempt =
        if call.attempt > 1 { format!(", attempt {}", call.attempt) } else { String::new() };
    let fallback = call.fallback.as_ref();
    let fallback = fallback.map(|left| format!("; {} failed: {}", left.from, left.reason));
    format!("by {}{attempt}{}", call.transport, fallback.unwrap_or_default())
}

fn result_text(call: &CallDocument) -> String {
    let took = call.timing.duration_ms.map(|ms| format!("after {:.1} s", ms as f64 / 1_000.0));
    let took = took.unwrap_or_default();
    match (call.status, &call.error) {
        (CallStatus::Replied, _) => format!("replied {took}"),
        (CallStatus::Failed, Some(failure)) => {
            format!("failed {took}: {}: {}", call_error_text(failure.error_type), failure.message)
        }
        (CallStatus::Failed, None) => format!("failed {took}"),
        (CallStatus::Lost, _) => "no reply: the run ended before one came".to_owned(),
        (CallStatus::Cancelled, _) => "cancelled before a reply came".to_owned(),
        (CallStatus::InFlight, _) => "no reply yet".to_owned(),
    }
}

fn cost_text(cost: CallPrice) -> String {
    match (cost.usd, cost.source) {
        (None, _) => "unknown".to_owned(),
        (Some(0.0), _) => "$0.00".to_owned(),
        (Some(usd), CostSource::Reported) => format!("${usd:.6}, as the provider reported it"),
        (Some(usd), _) => format!("${usd:.6}, computed from tokens and price"),
    }
}

fn parse_text(parse: &Value) -> String {
    let is = |name: &str| parse.get(name).and_then(Value::as_bool).unwrap_or(false);
    match parse.get("reason").and_then(Value::as_str) {
        Some(reason) if is("refusal") => format!("no, the model refused: {reason}"),
        Some(reason) => format!("no: {reason}"),
        None => {
            let repaired = if is("repaired") { ", after repair of its JSON" } else { "" };
            let cut = if is("truncated") { ", cut off before its end" } else { "" };
            format!("yes{repaired}{cut}")
        }
    }
}

fn message_sections(call: &CallDocument) -> Vec<PageSection> {
    new_message_sections(call, &[])
}

/// The messages of a call. A message that an earlier call sent too is not printed again.
fn new_message_sections(call: &CallDocument, earlier: &[CallDocument]) -> Vec<PageSection> {
    if call.messages.is_empty() {
        let digest = call.messages_sha256.as_deref().unwrap_or("unknown");
        let text = format!(
            "The record does not have the messages: the settings kept prompts out of it \
             (`retention.keep_prompts: false`). Their SHA-256 is {digest}."
        );
        return vec![PageSection::new("Messages", vec![PageBlock::Paragraph(text.into())])];
    }
    let part = |message: &SentMessage| {
        let title = if message.role == "system" { "System message" } else { "User message" };
        let known = earlier.iter().find(|one| one.messages.contains(message));
        let block = match known {
            Some(known) => {
                PageBlock::Paragraph(format!("The same as in call {}.", known.call).into())
            }
            None => exact_text(&message.content),
        };
        PageSection::new(title, vec![block])
    };
    call.messages.iter().map(part).collect()
}

fn reply_section(call: &CallDocument) -> PageSection {
    let block = call.raw.as_deref().map(exact_text);
    PageSection::new("Reply", block.into_iter().collect()).with_note("as it came")
}

/// Text of others with its own line breaks.
fn exact_text(text: &str) -> PageBlock {
    PageBlock::barred(text, QuoteBar { tone: TextTone::Faint, is_heavy: false })
}
