//! How an agent program is told of the MCP server.

use std::path::Path;

use clap::ValueEnum;
use serde_json::json;

use super::session::{Done, Session};
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
    let (text, place) = configuration(client, &program.to_string_lossy());
    session.ui.print(&text)?;
    session.ui.say(&format!("merge it into {place}; it serves the folder the agent works in"));
    Ok(Done::Well)
}

fn configuration(client: Client, program: &str) -> (String, &'static str) {
    let entry = json!({ "mcpServers": { "plenary": { "command": program, "args": ["mcp"] } } });
    match client {
        Client::Claude => (format!("{entry:#}"), "`.mcp.json` of the project"),
        Client::Gemini => (format!("{entry:#}"), "`.gemini/settings.json` of the project"),
        // A JSON text is a TOML text, too.
        Client::Codex => (
            format!("[mcp_servers.plenary]\ncommand = {}\nargs = [\"mcp\"]", json!(program)),
            "`~/.codex/config.toml`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_told_in_its_own_format() {
        for client in [Client::Claude, Client::Gemini] {
            let (text, _) = configuration(client, "/odd \"path\"/plenary");
            let entry: serde_json::Value = serde_json::from_str(&text).unwrap();
            let server = &entry["mcpServers"]["plenary"];
            assert_eq!(server, &json!({ "command": "/odd \"path\"/plenary", "args": ["mcp"] }));
        }
        let (text, _) = configuration(Client::Codex, "/odd \"path\"/plenary");
        insta::assert_snapshot!(text, @r#"
        [mcp_servers.plenary]
        command = "/odd \"path\"/plenary"
        args = ["mcp"]
        "#);
    }
}
