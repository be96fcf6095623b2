//! The `gemini --output-format json` program, which prints one object on stdout, or an error object
//! at the end of stderr.
//!
//! Our policy file denies every tool, so the model is offered none. A settings file in the work
//! folder turns off hooks and retries. Extensions and MCP servers are limited to none.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::claude::only_key;
use super::failure;
use super::plain;
use super::program::{Attachment, Invocation, Told, arguments};
use crate::domain::ask::{Messages, Usage};
use crate::providers::process::Talk;
use crate::providers::request::{CallError, Received};

const POLICY: &str = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n";

/// Plenary does the retries and counts them.
const SETTINGS: &str = r#"{"general": {"maxAttempts": 1, "enableAutoUpdate": false}, "hooksConfig": {"enabled": false}, "skills": {"enabled": false}, "privacy": {"usageStatisticsEnabled": false}}"#;

pub(super) fn invocation(model: &str, messages: &Messages) -> Invocation {
    let mut words = arguments(&["--output-format", "json", "--extensions", "none"]);
    words.extend(arguments(&["--allowed-mcp-server-names", "none"]));
    if !model.is_empty() {
        words.extend(arguments(&["--model", model]));
    }
    let file = |name, text: &str, told| Attachment { name, text: text.to_owned(), told };
    let system = (!messages.system.is_empty())
        .then(|| file("system.md", &messages.system, Told::Variable("GEMINI_SYSTEM_MD")));
    let settings = file("work/.gemini/settings.json", SETTINGS, Told::Place);
    let policy = file("policy.toml", POLICY, Told::Argument("--policy"));
    let variables = [
        // Required, or the program ignores the settings file above.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ];
    Invocation {
        arguments: words,
        variables: variables.map(|(name, value)| (name, value.to_owned())).into(),
        files: [settings, policy].into_iter().chain(system).collect(),
        input: messages.user.clone(),
    }
}

#[derive(Debug, Deserialize)]
struct Outcome {
    response: Option<String>,
    #[serde(default)]
    stats: Stats,
}

#[derive(Debug, Default, Deserialize)]
struct Stats {
    #[serde(default)]
    models: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Complaint {
    error: ComplaintText,
}

#[derive(Debug, Deserialize)]
struct ComplaintText {
    message: String,
    /// HTTP status of the server, or an exit code.
    code: Option<u64>,
}

pub(super) fn read(talk: &Talk) -> Result<Received, CallError> {
    let text = plain::text(&talk.stdout)?;
    if let Some(Complaint { error }) = last_object(text).or_else(|| last_object(&talk.stderr)) {
        return Err(failure::complaint(&error.message, error.code.filter(|code| *code >= 400)));
    }
    let Some(outcome) = last_object::<Outcome>(text).filter(|_| talk.succeeded) else {
        return Err(failure::ended(talk));
    };
    let reply = plain::reply(&outcome.response.unwrap_or_default())?;
    Ok(Received { usage: usage(&outcome.stats), model: only_key(&outcome.stats.models), ..reply })
}

/// Parses the last object that starts a line and has the given shape; warnings may precede it.
fn last_object<T: for<'text> Deserialize<'text>>(text: &str) -> Option<T> {
    let mut starts: Vec<usize> = text.match_indices("\n{").map(|(place, _)| place + 1).collect();
    starts.insert(0, 0);
    starts.into_iter().rev().find_map(|start| {
        let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<T>();
        values.next()?.ok()
    })
}

/// Sums the tokens of all models; thinking tokens are billed as output.
fn usage(stats: &Stats) -> Option<Usage> {
    let tokens = |model: &Value, name: &str| {
        model.get("tokens").and_then(|tokens| tokens.get(name)?.as_u64()).unwrap_or_default()
    };
    let sum = |names: &[&str]| {
        let each =
            stats.models.values().flat_map(|model| names.iter().map(|name| tokens(model, name)));
        each.fold(0, u64::saturating_add)
    };
    let (input_tokens, output_tokens) = (sum(&["prompt"]), sum(&["candidates", "thoughts"]));
    (!stats.models.is_empty()).then_some(Usage { input_tokens, output_tokens })
}
