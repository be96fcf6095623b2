//! The `claude -p` program, which prints one JSON object at the end.
//!
//! Safe mode keeps the user's login but excludes their memory files, hooks, plugins and MCP servers
//! from the prompt. (`--bare` would too, but ignores logins.) The reported cost is not used, since
//! it is invented for models the program does not know.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::failure;
use super::plain;
use super::program::{Attachment, Invocation, Told, arguments};
use crate::domain::ask::{ErrorType, Finish, Messages, Usage};
use crate::providers::process::Talk;
use crate::providers::request::{CallError, Received};

pub(super) fn invocation(model: &str, messages: &Messages) -> Invocation {
    let mut words = arguments(&["-p", "--output-format", "json", "--no-session-persistence"]);
    words.extend(arguments(&["--strict-mcp-config", "--tools", ""]));
    if !model.is_empty() {
        words.extend(arguments(&["--model", model]));
    }
    let system = (!messages.system.is_empty()).then(|| Attachment {
        name: "system.md",
        text: messages.system.clone(),
        told: Told::Argument("--system-prompt-file"),
    });
    let variables = [
        ("CLAUDE_CODE_SAFE_MODE", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Plenary does the retries and counts them.
        ("CLAUDE_CODE_MAX_RETRIES", "0"),
    ];
    Invocation {
        arguments: words,
        variables: variables.map(|(name, value)| (name, value.to_owned())).into(),
        files: system.into_iter().collect(),
        input: messages.user.clone(),
    }
}

#[derive(Debug, Deserialize)]
struct Outcome {
    is_error: bool,
    #[serde(default)]
    result: String,
    api_error_status: Option<u64>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
    #[serde(default, rename = "modelUsage")]
    models: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

pub(super) fn read(talk: &Talk) -> Result<Received, CallError> {
    let text = plain::text(&talk.stdout)?;
    let Ok(outcome) = serde_json::from_str::<Outcome>(text.trim()) else {
        return Err(failure::ended(talk));
    };
    if outcome.stop_reason.as_deref() == Some("refusal") {
        return Err(CallError::new(ErrorType::Refused, outcome.result));
    }
    if outcome.is_error {
        return Err(failure::complaint(&outcome.result, outcome.api_error_status));
    }
    let reply = plain::reply(&outcome.result)?;
    Ok(Received {
        usage: outcome.usage.map(|tokens| tokens.total()),
        model: only_key(&outcome.models),
        finish: finish(outcome.stop_reason.as_deref()),
        ..reply
    })
}

impl Tokens {
    /// Counts tokens written to or read from a cache as input tokens.
    fn total(&self) -> Usage {
        let cached = self.cache_creation_input_tokens.saturating_add(self.cache_read_input_tokens);
        let input_tokens = self.input_tokens.saturating_add(cached);
        Usage { input_tokens, output_tokens: self.output_tokens }
    }
}

fn finish(stop_reason: Option<&str>) -> Finish {
    match stop_reason {
        Some("end_turn" | "stop_sequence") | None => Finish::Stop,
        Some("max_tokens" | "model_context_window_exceeded" | "pause_turn") => Finish::Length,
        Some(_) => Finish::Other,
    }
}

/// Returns the model's name if exactly one model worked on the reply.
pub(super) fn only_key(models: &Map<String, Value>) -> Option<String> {
    let mut names = models.keys();
    names.next().filter(|_| names.next().is_none()).cloned()
}
