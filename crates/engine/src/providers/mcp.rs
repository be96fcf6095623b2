//! MCP transport: calls a tool of an MCP server. [`McpTransport`] starts the server for one call
//! and stops it afterwards, so no state passes from one ask to the next.
//!
//! Only this file uses types of the MCP library.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::{AskMessages, CallErrorType};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;

use crate::providers::cli::program::join_messages;
use crate::providers::process::child_environment::ChildEnvironment;
use crate::providers::process::process_group::{OUTPUT_BYTES_MAX, OutputTail, ProcessGroup};
use crate::providers::process::scratch_folder::ScratchFolder;
use crate::providers::process::supervisor::SupervisorBinary;
use crate::providers::redact::clean_output;
use crate::providers::transport::{CallError, CallReply, CallRequest, McpTool, Provider};

/// How long to wait for the error output of a server that failed.
const STDERR_WAIT_MAX: Duration = Duration::from_millis(300);

/// Calls a model through a tool of an MCP server.
#[derive(Debug, Clone)]
pub struct McpTransport {
    provider: Arc<Provider>,
    /// Variables the server's environment is selected from.
    ambient: ChildEnvironment,
    supervisor: Option<SupervisorBinary>,
}

impl McpTransport {
    pub fn new(provider: Arc<Provider>) -> Self {
        Self::with_environment(provider, ChildEnvironment::from_this_process())
    }

    /// Like [`Self::new`], with another environment than that of this process.
    pub fn with_environment(provider: Arc<Provider>, ambient: ChildEnvironment) -> Self {
        Self { provider, ambient, supervisor: SupervisorBinary::for_this_process() }
    }

    /// Replaces the supervisor.
    #[must_use]
    pub fn with_supervisor(self, supervisor: Option<SupervisorBinary>) -> Self {
        Self { supervisor, ..self }
    }

    /// Dropping the future kills the server and all its descendants.
    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let tool = self.provider.mcp.as_ref().ok_or_else(|| {
            let name = &self.provider.name;
            unknown_error(format!(
                "no MCP server is configured for the provider `{name}`: set `mcp` in council.yaml"
            ))
        })?;
        let (environment, secrets) = self.build_environment(tool);
        let scratch = ScratchFolder::new().map_err(|error| {
            unknown_error(format!("cannot create a folder to run the server in: {error}"))
        })?;
        let arguments: Vec<OsString> = tool.args.iter().map(OsString::from).collect();
        let supervisor = self.supervisor.as_ref();
        let mut server =
            ProcessGroup::start(&tool.command, &arguments, &environment, scratch, supervisor)?;

        let mut stderr = server.take_stderr();
        let mut tail = OutputTail::default();
        let outcome = tokio::select! {
            outcome = call_tool(&mut server, tool, &request.messages) => outcome,
            never = drain_stderr(&mut tail, &mut stderr) => match never {},
        };
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                server.shut_down().await?;
                // The server is dead, but its last output may still be in the pipe.
                let _ =
                    tokio::time::timeout(STDERR_WAIT_MAX, tail.read_from(stderr.as_mut())).await;
                let printed = clean_output(&format!("{error} {}", tail.to_text()), &secrets);
                return Err(unknown_error(format!("MCP server `{}`: {printed}", tool.command)));
            }
        };
        parse_result(&result).map_err(|error| CallError {
            message: format!(
                "MCP tool `{}`: {}",
                tool.tool,
                clean_output(&error.message, &secrets)
            ),
            ..error
        })
    }

    /// Returns values that must not appear in the record.
    pub(crate) fn secret_values(&self) -> Vec<String> {
        self.provider.mcp.as_ref().map_or_else(Vec::new, |tool| self.build_environment(tool).1)
    }

    /// Every value the configuration gives the server counts as a secret, regardless of its name.
    fn build_environment(&self, tool: &McpTool) -> (ChildEnvironment, Vec<String>) {
        let mut environment = self.ambient.select_for(&[]);
        for (name, value) in &tool.env {
            environment.set(name, value.expose_secret());
        }
        let given = tool.env.iter().map(|(_, value)| value.expose_secret().to_owned());
        let secrets =
            given.filter(|value| value.len() > 3).chain(environment.secret_values()).collect();
        (environment, secrets)
    }
}

/// Initializes the MCP session and calls the tool once.
async fn call_tool(
    server: &mut ProcessGroup,
    tool: &McpTool,
    messages: &AskMessages,
) -> Result<CallToolResult, String> {
    let (stdin, stdout) = server.take_pipes().ok_or("its pipes are closed")?;
    let client =
        ().serve((stdout.take(OUTPUT_BYTES_MAX), stdin))
            .await
            .map_err(|error| format!("it did not initialize: {error}"))?;
    let prompt = Value::String(join_messages(messages));
    let arguments = Map::from_iter([(tool.argument.clone(), prompt)]);
    let parameters = CallToolRequestParams::new(tool.tool.clone()).with_arguments(arguments);
    let result = client.call_tool(parameters).await.map_err(|error| error.to_string());
    let _ = client.cancel().await;
    result
}

/// Reads standard error continuously so that the pipe does not fill up.
async fn drain_stderr(
    tail: &mut OutputTail,
    stderr: &mut Option<ChildStderr>,
) -> std::convert::Infallible {
    let _ = tail.read_from(stderr.as_mut()).await;
    std::future::pending().await
}

/// Returns the text of a result and ignores other content.
fn parse_result(result: &CallToolResult) -> Result<CallReply, CallError> {
    let texts: Vec<&str> =
        result.content.iter().filter_map(|part| Some(part.as_text()?.text.as_str())).collect();
    let text = texts.join("\n").trim().to_owned();
    if result.is_error == Some(true) {
        let message = if text.is_empty() { "it failed without a message".to_owned() } else { text };
        return Err(unknown_error(message));
    }
    if text.is_empty() {
        return Err(CallError::new(CallErrorType::ParseError, "the reply contains no text"));
    }
    Ok(CallReply::from_text(text))
}

fn unknown_error(message: impl Into<String>) -> CallError {
    CallError::new(CallErrorType::Unknown, message)
}
