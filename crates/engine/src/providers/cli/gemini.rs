//! The `gemini --output-format json` program, which prints one object on stdout, or an error object
//! at the end of stderr.
//!
//! Our policy file denies every tool, so the model is offered none. A settings file in the work
//! folder turns off hooks and retries. Extensions and MCP servers are limited to none.

use plenary_core::model::ask::{AskMessages, TokenUsage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::providers::cli::claude::single_model;
use crate::providers::cli::program::{
    InputFile, PathDelivery, ProgramInvocation, decode_utf8, plain_reply, to_arguments,
};
use crate::providers::cli::transport::{classify_error, exit_error};
use crate::providers::process::process_group::ProgramOutput;
use crate::providers::transport::{CallError, CallReply};

const DENY_POLICY: &str = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n";

/// Plenary does the retries and counts them.
const GEMINI_SETTINGS: &str = r#"{"general": {"maxAttempts": 1, "enableAutoUpdate": false}, "hooksConfig": {"enabled": false}, "skills": {"enabled": false}, "privacy": {"usageStatisticsEnabled": false}}"#;

pub(crate) fn build_invocation(model: &str, messages: &AskMessages) -> ProgramInvocation {
    let mut words = to_arguments(&["--output-format", "json", "--extensions", "none"]);
    words.extend(to_arguments(&["--allowed-mcp-server-names", "none"]));
    if !model.is_empty() {
        words.extend(to_arguments(&["--model", model]));
    }
    let file = |name, text: &str, told| InputFile { name, text: text.to_owned(), delivery: told };
    let system = (!messages.system.is_empty())
        .then(|| file("system.md", &messages.system, PathDelivery::Variable("GEMINI_SYSTEM_MD")));
    let settings = file("work/.gemini/settings.json", GEMINI_SETTINGS, PathDelivery::DefaultPath);
    let policy = file("policy.toml", DENY_POLICY, PathDelivery::Argument("--policy"));
    let variables = [
        // Required, or the program ignores the settings file above.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ];
    ProgramInvocation {
        arguments: words,
        variables: variables.map(|(name, value)| (name, value.to_owned())).into(),
        files: [settings, policy].into_iter().chain(system).collect(),
        input: messages.user.clone(),
    }
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

pub(crate) fn parse_output(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    let text = decode_utf8(&talk.stdout)?;
    if let Some(GeminiError { error }) =
        parse_last_object(text).or_else(|| parse_last_object(&talk.stderr))
    {
        return Err(classify_error(&error.message, error.code.filter(|code| *code >= 400)));
    }
    let Some(outcome) = parse_last_object::<GeminiOutput>(text).filter(|_| talk.succeeded) else {
        return Err(exit_error(talk));
    };
    let reply = plain_reply(&outcome.response.unwrap_or_default())?;
    Ok(CallReply {
        usage: sum_usage(&outcome.stats),
        model: single_model(&outcome.stats.models),
        ..reply
    })
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
fn sum_usage(stats: &GeminiStats) -> Option<TokenUsage> {
    let tokens = |model: &Value, name: &str| {
        model.get("tokens").and_then(|tokens| tokens.get(name)?.as_u64()).unwrap_or_default()
    };
    let sum = |names: &[&str]| {
        let each =
            stats.models.values().flat_map(|model| names.iter().map(|name| tokens(model, name)));
        each.fold(0, u64::saturating_add)
    };
    let (input_tokens, output_tokens) = (sum(&["prompt"]), sum(&["candidates", "thoughts"]));
    (!stats.models.is_empty()).then_some(TokenUsage { input_tokens, output_tokens })
}
