//! The `codex exec --json` program, which prints one event per line.
//!
//! All known tools are turned off, and its read-only sandbox contains the rest. The user's login is
//! used, but not their configuration, which may start MCP servers; a custom endpoint goes into
//! `command:` with `-c`. Not every version has an option for system instructions, so they precede
//! the prompt.

use serde_json::Value;

use super::failure;
use super::plain;
use super::program::{Invocation, arguments, joined};
use crate::domain::ask::{Messages, Usage};
use crate::providers::process::Talk;
use crate::providers::request::{CallError, Received};

/// Turns off tools and everything else that reaches beyond the prompt. Versions that do not know a
/// setting print a warning only.
const SETTINGS: [&str; 14] = [
    "features.shell_tool=false",
    "features.view_image=false",
    "features.multi_agent=false",
    "features.goals=false",
    "features.hooks=false",
    "features.plugins=false",
    "features.apps=false",
    "features.memories=false",
    "web_search=\"disabled\"",
    "skills.include_instructions=false",
    "include_apps_instructions=false",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    // Otherwise the program retries the connection until our timeout, which hides the cause.
    "features.unbounded_connection_retries=false",
];

pub(super) fn invocation(model: &str, messages: &Messages) -> Invocation {
    let mut words = arguments(&["exec", "--json", "--color", "never", "--sandbox", "read-only"]);
    words.extend(arguments(&["--skip-git-repo-check", "--ephemeral"]));
    words.extend(arguments(&["--ignore-user-config", "--ignore-rules"]));
    words.extend(SETTINGS.iter().flat_map(|setting| arguments(&["-c", setting])));
    if !model.is_empty() {
        words.extend(arguments(&["--model", model]));
    }
    words.extend(arguments(&["-"]));
    Invocation { arguments: words, input: joined(messages), ..Invocation::default() }
}

pub(super) fn read(talk: &Talk) -> Result<Received, CallError> {
    let text = plain::text(&talk.stdout)?;
    let events: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let last = |kind: &str| events.iter().rev().find(|event| string(event, "/type") == kind);
    // The program may recover from an `error` event, and an `error` item is only a warning.
    if let Some(failed) = last("turn.failed") {
        return Err(failure::complaint(string(failed, "/error/message"), None));
    }
    let Some(completed) = last("turn.completed") else {
        let error = last("error").map(|event| failure::complaint(string(event, "/message"), None));
        return Err(error.unwrap_or_else(|| failure::ended(talk)));
    };
    let is_answer = |event: &&Value| {
        string(event, "/type") == "item.completed" && string(event, "/item/type") == "agent_message"
    };
    let answer =
        events.iter().rev().find(is_answer).map_or("", |event| string(event, "/item/text"));
    Ok(Received { usage: usage(completed), ..plain::reply(answer)? })
}

fn string<'event>(event: &'event Value, pointer: &str) -> &'event str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Input and output counts include cached and reasoning tokens already.
fn usage(completed: &Value) -> Option<Usage> {
    let count = |name: &str| completed.get("usage")?.get(name)?.as_u64();
    let (input_tokens, output_tokens) = (count("input_tokens")?, count("output_tokens")?);
    Some(Usage { input_tokens, output_tokens })
}
