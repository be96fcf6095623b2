//! Parsers for the output of the known agent programs. `AgentProgram` chooses one.

use plenary_core::model::ask::{CallErrorType, FinishReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::providers::cli::transport::{classify_error, exit_error, unreadable_error};
use crate::providers::process::process_group::ProgramOutput;
use crate::providers::transport::{CallError, CallReply};

/// Any other program writes the reply on standard output.
pub(crate) fn parse_plain(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    if !talk.succeeded {
        return Err(exit_error(talk));
    }
    plain_reply(decode_utf8(&talk.stdout)?)
}

pub(crate) fn decode_utf8(bytes: &[u8]) -> Result<&str, CallError> {
    str::from_utf8(bytes).map_err(|_| unreadable_error("its output is not UTF-8 text"))
}

/// Reply with text only.
fn plain_reply(text: &str) -> Result<CallReply, CallError> {
    match text.trim() {
        "" => Err(unreadable_error("its reply is empty")),
        text => Ok(CallReply::from_text(text)),
    }
}

#[derive(Debug, Deserialize)]
struct ClaudeOutput {
    is_error: bool,
    #[serde(default)]
    result: String,
    api_error_status: Option<u64>,
    stop_reason: Option<String>,
    usage: Option<ClaudeTokens>,
    #[serde(default, rename = "modelUsage")]
    models: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeTokens {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

/// `claude -p` prints one JSON object at the end. The reported cost is not used, since it is
/// invented for models the program does not know.
pub(crate) fn parse_claude(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    parse_claude_text(decode_utf8(&talk.stdout)?, talk)
}

pub(crate) fn parse_claude_text(text: &str, talk: &ProgramOutput) -> Result<CallReply, CallError> {
    let Ok(outcome) = serde_json::from_str::<ClaudeOutput>(text.trim()) else {
        return Err(exit_error(talk));
    };
    if outcome.stop_reason.as_deref() == Some("refusal") {
        return Err(CallError::new(CallErrorType::Refused, outcome.result));
    }
    if outcome.is_error {
        return Err(classify_error(&outcome.result, outcome.api_error_status));
    }
    let reply = plain_reply(&outcome.result)?;
    Ok(CallReply {
        usage: outcome.usage.map(|tokens| tokens.to_usage()),
        model: single_model(&outcome.models),
        finish: claude_finish(outcome.stop_reason.as_deref()),
        ..reply
    })
}

impl ClaudeTokens {
    /// Counts tokens written to or read from a cache as input tokens, too.
    fn to_usage(&self) -> TokenUsage {
        let (written, read) = (self.cache_creation_input_tokens, self.cache_read_input_tokens);
        TokenUsage {
            input_tokens: self.input_tokens.saturating_add(written).saturating_add(read),
            output_tokens: self.output_tokens,
            cached_tokens: read,
            cache_write_tokens: written,
        }
    }
}

fn claude_finish(stop_reason: Option<&str>) -> FinishReason {
    match stop_reason {
        Some("end_turn" | "stop_sequence") | None => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded" | "pause_turn") => FinishReason::Length,
        Some(_) => FinishReason::Other,
    }
}

/// Returns the model's name if exactly one model worked on the reply.
fn single_model(models: &Map<String, Value>) -> Option<String> {
    let mut names = models.keys();
    names.next().filter(|_| names.next().is_none()).cloned()
}

/// `codex exec --json` prints one event per line.
pub(crate) fn parse_codex(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    let text = decode_utf8(&talk.stdout)?;
    let events: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let last = |kind: &str| events.iter().rev().find(|event| string_at(event, "/type") == kind);
    // The program may recover from an `error` event, and an `error` item is only a warning.
    if let Some(failed) = last("turn.failed") {
        return Err(classify_error(string_at(failed, "/error/message"), None));
    }
    let Some(completed) = last("turn.completed") else {
        let error = last("error").map(|event| classify_error(string_at(event, "/message"), None));
        return Err(error.unwrap_or_else(|| exit_error(talk)));
    };
    let is_answer = |event: &&Value| {
        string_at(event, "/type") == "item.completed"
            && string_at(event, "/item/type") == "agent_message"
    };
    let answer =
        events.iter().rev().find(is_answer).map_or("", |event| string_at(event, "/item/text"));
    Ok(CallReply { usage: codex_usage(completed), ..plain_reply(answer)? })
}

pub(crate) fn string_at<'event>(event: &'event Value, pointer: &str) -> &'event str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Input and output counts include cached and reasoning tokens already.
fn codex_usage(completed: &Value) -> Option<TokenUsage> {
    let count = |name: &str| completed.get("usage")?.get(name)?.as_u64();
    let cached_tokens = count("cached_input_tokens").unwrap_or(0);
    Some(TokenUsage {
        cached_tokens,
        ..TokenUsage::new(count("input_tokens")?, count("output_tokens")?)
    })
}

#[derive(Debug, Deserialize)]
struct GeminiOutput {
    response: Option<String>,
    #[serde(default)]
    stats: GeminiStats,
}

#[derive(Debug, Default, Deserialize)]
struct GeminiStats {
    #[serde(default)]
    models: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct GeminiError {
    error: GeminiErrorDetail,
}

#[derive(Debug, Deserialize)]
struct GeminiErrorDetail {
    message: String,
    /// HTTP status of the server, or an exit code.
    code: Option<u64>,
}

impl GeminiErrorDetail {
    fn status(&self) -> Option<u64> {
        self.code.filter(|code| *code >= 400)
    }
}

/// `gemini --output-format json` prints one object on stdout, or an error object at the end of
/// stderr.
pub(crate) fn parse_gemini(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    let text = decode_utf8(&talk.stdout)?;
    if let Some(GeminiError { error }) =
        parse_last_object(text).or_else(|| parse_last_object(&talk.stderr))
    {
        return Err(classify_error(&error.message, error.status()));
    }
    let Some(outcome) = parse_last_object::<GeminiOutput>(text).filter(|_| talk.succeeded) else {
        return Err(exit_error(talk));
    };
    let reply = plain_reply(&outcome.response.unwrap_or_default())?;
    let (usage, model) = (gemini_usage(&outcome.stats), single_model(&outcome.stats.models));
    Ok(CallReply { usage, model, ..reply })
}

/// Parses the last object that starts a line and has the given shape; warnings may precede it.
fn parse_last_object<T: for<'text> Deserialize<'text>>(text: &str) -> Option<T> {
    let mut starts: Vec<usize> = text.match_indices("\n{").map(|(place, _)| place + 1).collect();
    starts.insert(0, 0);
    starts.into_iter().rev().find_map(|start| {
        let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<T>();
        values.next()?.ok()
    })
}

/// Sums the tokens of all models; thinking tokens are billed as output.
fn gemini_usage(stats: &GeminiStats) -> Option<TokenUsage> {
    let tokens = |model: &Value, name: &str| {
        model.get("tokens").and_then(|tokens| tokens.get(name)?.as_u64()).unwrap_or_default()
    };
    let sum = |names: &[&str]| {
        let each =
            stats.models.values().flat_map(|model| names.iter().map(|name| tokens(model, name)));
        each.fold(0, u64::saturating_add)
    };
    let counts = TokenUsage::new(sum(&["prompt"]), sum(&["candidates", "thoughts"]));
    let usage = TokenUsage { cached_tokens: sum(&["cached"]), ..counts };
    (!stats.models.is_empty()).then_some(usage)
}
