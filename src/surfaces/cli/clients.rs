//! `init --mcp`: how an agent program is told of the MCP server.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::session::{Done, Session};
use super::terminal_text::DataForm;
use crate::error::Error;

/// An agent program that starts MCP servers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    Claude,
    Codex,
    Gemini,
}

/// Prints what the program's configuration needs, and says where it goes.
pub(super) fn print_configuration(session: &Session<'_>, client: Client) -> Result<Done, Error> {
    // By its path: agent programs do not always have the user's PATH.
    let program = std::env::current_exe().unwrap_or_else(|_| Path::new("plenary").to_owned());
    // A server that is to use this store or that file is told so whenever it is started.
    let arguments: Vec<String> =
        ["mcp".to_owned()].into_iter().chain(session.premises.flags_from_anywhere()?).collect();
    let server = json!({ "command": program.to_string_lossy(), "args": arguments });
    let entry = server_entry(client, &server);
    match session.ui.json {
        true => session.ui.answer(&entry, |_| String::new())?,
        false => session.ui.print_data(&text(client, &entry, &server), DataForm::Text)?,
    }
    if !session.ui.json {
        let place = place(client);
        session.ui.say(&format!("merge it into {place}; it serves the folder the agent works in"));
    }
    Ok(Done::Well)
}

fn place(client: Client) -> &'static str {
    match client {
        Client::Claude => "`.mcp.json` of the project",
        Client::Gemini => "`.gemini/settings.json` of the project",
        Client::Codex => "`~/.codex/config.toml`",
    }
}

/// The piece of configuration as a document, under the names that the program gives it.
fn server_entry(client: Client, server: &Value) -> Value {
    match client {
        Client::Claude | Client::Gemini => json!({ "mcpServers": { "plenary": server } }),
        Client::Codex => json!({ "mcp_servers": { "plenary": server } }),
    }
}

/// The same as the program's own file is written.
fn text(client: Client, entry: &Value, server: &Value) -> String {
    match client {
        Client::Claude | Client::Gemini => format!("{entry:#}"),
        Client::Codex => {
            // A text or a list of texts is written in TOML as in JSON.
            let fields =
                ["command", "args"].map(|name| format!("{name} = {}", json!(server.get(name))));
            format!("[mcp_servers.plenary]\n{}", fields.join("\n"))
        }
    }
}
