//! `init --mcp`: prints the configuration that makes an agent program start the MCP server.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::session::{CliSession, ExitStatus};
use super::terminal_text::DataFormat;
use crate::error::Error;

/// An agent program that starts MCP servers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AgentClient {
    Claude,
    Codex,
    Gemini,
}

/// Prints the configuration entry and says which file it belongs to.
pub(super) fn print_client_config(
    session: &CliSession<'_>,
    client: AgentClient,
) -> Result<ExitStatus, Error> {
    // Use the absolute path: agent programs may have another PATH than the user.
    let program = std::env::current_exe().unwrap_or_else(|_| Path::new("plenary").to_owned());
    // Pass the store and configuration flags on, so that the server uses the same ones.
    let arguments: Vec<String> =
        ["mcp".to_owned()].into_iter().chain(session.loader.absolute_flags()?).collect();
    let server = json!({ "command": program.to_string_lossy(), "args": arguments });
    let entry = server_entry(client, &server);
    match session.ui.json {
        true => session.ui.print_result(&entry, |_| String::new())?,
        false => {
            session.ui.print_data(&client_config_text(client, &entry, &server), DataFormat::Text)?
        }
    }
    if !session.ui.json {
        let place = config_place(client);
        session
            .ui
            .print_note(&format!("merge it into {place}; it serves the folder the agent works in"));
    }
    Ok(ExitStatus::Ok)
}

fn config_place(client: AgentClient) -> &'static str {
    match client {
        AgentClient::Claude => "`.mcp.json` of the project",
        AgentClient::Gemini => "`.gemini/settings.json` of the project",
        AgentClient::Codex => "`~/.codex/config.toml`",
    }
}

/// The entry as JSON, under the key that the agent program expects.
fn server_entry(client: AgentClient, server: &Value) -> Value {
    match client {
        AgentClient::Claude | AgentClient::Gemini => json!({ "mcpServers": { "plenary": server } }),
        AgentClient::Codex => json!({ "mcp_servers": { "plenary": server } }),
    }
}

/// The entry in the syntax of the program's configuration file.
fn client_config_text(client: AgentClient, entry: &Value, server: &Value) -> String {
    match client {
        AgentClient::Claude | AgentClient::Gemini => format!("{entry:#}"),
        AgentClient::Codex => {
            // Strings and lists of strings have the same syntax in TOML and JSON.
            let fields =
                ["command", "args"].map(|name| format!("{name} = {}", json!(server.get(name))));
            format!("[mcp_servers.plenary]\n{}", fields.join("\n"))
        }
    }
}
