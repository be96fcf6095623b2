//! The `claude -p` program, which prints one JSON object at the end.
//!
//! Safe mode keeps the user's login but excludes their memory files, hooks, plugins and MCP servers
//! from the prompt. (`--bare` would too, but ignores logins.) The reported cost is not used, since
//! it is invented for models the program does not know.

use plenary_core::model::ask::{AskMessages, CallErrorType, FinishReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::providers::cli::program::{
    InputFile, PathDelivery, ProgramInvocation, decode_utf8, plain_reply, to_arguments,
};
use crate::providers::cli::transport::{classify_error, exit_error};
use crate::providers::process::process_group::ProgramOutput;
use crate::providers::transport::{CallError, CallReply};

pub(crate) fn build_invocation(model: &str, messages: &AskMessages) -> ProgramInvocation {
    let mut words = to_arguments(&["-p", "--output-format", "json", "--no-session-persistence"]);
    words.extend(to_arguments(&["--strict-mcp-config", "--tools", ""]));
    if !model.is_empty() {
        words.extend(to_arguments(&["--model", model]));
    }
    let system = (!messages.system.is_empty()).then(|| InputFile {
        name: "system.md",
        text: messages.system.clone(),
        delivery: PathDelivery::Argument("--system-prompt-file"),
    });
    let variables = [
        ("CLAUDE_CODE_SAFE_MODE", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Plenary does the retries and counts them.
        ("CLAUDE_CODE_MAX_RETRIES", "0"),
    ];
    ProgramInvocation {
        arguments: words,
        variables: variables.map(|(name, value)| (name, value.to_owned())).into(),
        files: system.into_iter().collect(),
        input: messages.user.clone(),
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

pub(crate) fn parse_output(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    let text = decode_utf8(&talk.stdout)?;
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
        finish: parse_finish(outcome.stop_reason.as_deref()),
        ..reply
    })
}

impl ClaudeTokens {
    /// Counts tokens written to or read from a cache as input tokens.
    fn to_usage(&self) -> TokenUsage {
        let cached = self.cache_creation_input_tokens.saturating_add(self.cache_read_input_tokens);
        let input_tokens = self.input_tokens.saturating_add(cached);
        TokenUsage { input_tokens, output_tokens: self.output_tokens }
    }
}

fn parse_finish(stop_reason: Option<&str>) -> FinishReason {
    match stop_reason {
        Some("end_turn" | "stop_sequence") | None => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded" | "pause_turn") => FinishReason::Length,
        Some(_) => FinishReason::Other,
    }
}

/// Returns the model's name if exactly one model worked on the reply.
pub(crate) fn single_model(models: &Map<String, Value>) -> Option<String> {
    let mut names = models.keys();
    names.next().filter(|_| names.next().is_none()).cloned()
}
