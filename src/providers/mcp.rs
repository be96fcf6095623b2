//! MCP transport: calls a tool of an MCP server. [`McpTransport`] starts the server for one call
//! and stops it afterwards, so no state passes from one ask to the next.
//!
//! Only this file uses types of the MCP library.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;

use super::process::{Environment, Group, OUTPUT_BYTES_MAX, Scratch, Supervisor, Tail};
use super::provider::{McpTool, Provider};
use super::request::{CallError, Received, Request};
use super::sentence::saying;
use crate::domain::ask::{ErrorType, Finish, Messages};

/// How long to wait for the error output of a server that failed.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Calls a model through a tool of an MCP server.
#[derive(Debug, Clone)]
pub struct McpTransport {
    provider: Arc<Provider>,
    /// Variables the server's environment is selected from.
    ambient: Environment,
    supervisor: Option<Supervisor>,
}

impl McpTransport {
    pub fn new(provider: Arc<Provider>) -> Self {
        Self::with_environment(provider, Environment::of_this_process())
    }

    /// Like [`Self::new`], with another environment than that of this process.
    pub fn with_environment(provider: Arc<Provider>, ambient: Environment) -> Self {
        Self { provider, ambient, supervisor: Supervisor::of_this_process() }
    }

    /// Replaces the supervisor.
    #[must_use]
    pub fn supervised_by(self, supervisor: Option<Supervisor>) -> Self {
        Self { supervisor, ..self }
    }

    /// Dropping the future kills the server and all its descendants.
    pub async fn send(&self, request: &Request) -> Result<Received, CallError> {
        let tool = self.provider.mcp.as_ref().ok_or_else(|| {
            let name = &self.provider.name;
            unknown(format!("no MCP server is configured for the provider `{name}`"))
        })?;
        let (environment, secrets) = self.environment(tool);
        let scratch = Scratch::new()
            .map_err(|error| unknown(format!("no folder to run a server in: {error}")))?;
        let arguments: Vec<OsString> = tool.args.iter().map(OsString::from).collect();
        let supervisor = self.supervisor.as_ref();
        let mut server =
            Group::start(&tool.command, &arguments, &environment, scratch, supervisor)?;

        let mut stderr = server.stderr();
        let mut tail = Tail::default();
        let outcome = tokio::select! {
            outcome = call(&mut server, tool, &request.messages) => outcome,
            never = listen(&mut tail, &mut stderr) => match never {},
        };
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                server.end().await?;
                // The server is dead, but its last output may still be in the pipe.
                let _ = tokio::time::timeout(LAST_WORDS, tail.read(stderr.as_mut())).await;
                let said = saying(&format!("{error} {}", tail.text()), &secrets);
                return Err(unknown(format!("MCP server `{}`: {said}", tool.command)));
            }
        };
        reply(&result).map_err(|error| CallError {
            message: format!("MCP tool `{}`: {}", tool.tool, saying(&error.message, &secrets)),
            ..error
        })
    }

    /// Returns values that must not appear in the record.
    pub(super) fn secrets(&self) -> Vec<String> {
        self.provider.mcp.as_ref().map_or_else(Vec::new, |tool| self.environment(tool).1)
    }

    /// Every value the configuration gives the server counts as a secret, regardless of its name.
    fn environment(&self, tool: &McpTool) -> (Environment, Vec<String>) {
        let mut environment = self.ambient.narrowed(&[]);
        for (name, value) in &tool.env {
            environment.set(name, value.expose_secret());
        }
        let given = tool.env.iter().map(|(_, value)| value.expose_secret().to_owned());
        let secrets = given.filter(|value| value.len() > 3).chain(environment.secrets()).collect();
        (environment, secrets)
    }
}

/// Initializes the MCP session and calls the tool once.
async fn call(
    server: &mut Group,
    tool: &McpTool,
    messages: &Messages,
) -> Result<CallToolResult, String> {
    let (stdin, stdout) = server.pipes().ok_or("its pipes are gone")?;
    let client =
        ().serve((stdout.take(OUTPUT_BYTES_MAX), stdin))
            .await
            .map_err(|error| format!("it could not be greeted: {error}"))?;
    let prompt = match messages.system.as_str() {
        "" => messages.user.clone(),
        system => format!("{system}\n\n{}", messages.user),
    };
    let arguments = Map::from_iter([(tool.argument.clone(), Value::String(prompt))]);
    let parameters = CallToolRequestParams::new(tool.tool.clone()).with_arguments(arguments);
    let result = client.call_tool(parameters).await.map_err(|error| error.to_string());
    let _ = client.cancel().await;
    result
}

/// Reads standard error continuously so that the pipe does not fill up.
async fn listen(tail: &mut Tail, stderr: &mut Option<ChildStderr>) -> std::convert::Infallible {
    let _ = tail.read(stderr.as_mut()).await;
    std::future::pending().await
}

/// Returns the text of a result and ignores other content.
fn reply(result: &CallToolResult) -> Result<Received, CallError> {
    let texts: Vec<&str> =
        result.content.iter().filter_map(|part| Some(part.as_text()?.text.as_str())).collect();
    let text = texts.join("\n").trim().to_owned();
    if result.is_error == Some(true) {
        let message = if text.is_empty() { "it failed without a word".to_owned() } else { text };
        return Err(unknown(message));
    }
    if text.is_empty() {
        return Err(CallError::new(ErrorType::ParseError, "its reply has no text"));
    }
    Ok(Received {
        text,
        usage: None,
        model: None,
        finish: Finish::Stop,
        cost_usd: None,
        structured: false,
    })
}

fn unknown(message: impl Into<String>) -> CallError {
    CallError::new(ErrorType::Unknown, message)
}
