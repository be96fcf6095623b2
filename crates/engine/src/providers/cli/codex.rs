//! The `codex exec --json` program, which prints one event per line.
//!
//! All known tools are turned off, and its read-only sandbox contains the rest. The user's login is
//! used, but not their configuration, which may start MCP servers; a custom endpoint goes into
//! `command:` with `-c`. Not every version has an option for system instructions, so they precede
//! the prompt.

use plenary_core::model::ask::{AskMessages, TokenUsage};
use serde_json::Value;

use crate::providers::cli::program::{
    ProgramInvocation, decode_utf8, join_messages, plain_reply, to_arguments,
};
use crate::providers::cli::transport::{classify_error, exit_error};
use crate::providers::process::process_group::ProgramOutput;
use crate::providers::transport::{CallError, CallReply};

/// Turns off tools and everything else that reaches beyond the prompt. Versions that do not know a
/// setting print a warning only.
const CODEX_SETTINGS: [&str; 14] = [
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

pub(crate) fn build_invocation(model: &str, messages: &AskMessages) -> ProgramInvocation {
    let mut words = to_arguments(&["exec", "--json", "--color", "never", "--sandbox", "read-only"]);
    words.extend(to_arguments(&["--skip-git-repo-check", "--ephemeral"]));
    words.extend(to_arguments(&["--ignore-user-config", "--ignore-rules"]));
    words.extend(CODEX_SETTINGS.iter().flat_map(|setting| to_arguments(&["-c", setting])));
    if !model.is_empty() {
        words.extend(to_arguments(&["--model", model]));
    }
    words.extend(to_arguments(&["-"]));
    ProgramInvocation {
        arguments: words,
        input: join_messages(messages),
        ..ProgramInvocation::default()
    }
}

pub(crate) fn parse_output(talk: &ProgramOutput) -> Result<CallReply, CallError> {
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
    Ok(CallReply { usage: parse_usage(completed), ..plain_reply(answer)? })
}

fn string_at<'event>(event: &'event Value, pointer: &str) -> &'event str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Input and output counts include cached and reasoning tokens already.
fn parse_usage(completed: &Value) -> Option<TokenUsage> {
    let count = |name: &str| completed.get("usage")?.get(name)?.as_u64();
    let (input_tokens, output_tokens) = (count("input_tokens")?, count("output_tokens")?);
    Some(TokenUsage { input_tokens, output_tokens })
}
