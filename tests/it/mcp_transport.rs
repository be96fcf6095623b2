//! The MCP transport, tested with a shell script as server.

use std::sync::Arc;

use plenary::domain::ask::ErrorType;
use plenary::providers::{CallError, McpTool, McpTransport, Received, Supervisor};
use tempfile::TempDir;

use crate::kit::{alive_with, binary, provider, request, soon, surroundings};

/// Initialises as MCP requires; the test supplies the reply to the tool call.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case "$line" in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
    *'"method":"tools/call"'*)
      printf '%s' "$line" > "$HOME/called"
      ON_CALL ;;
  esac
done
"#;

struct Server {
    home: TempDir,
    tool: McpTool,
}

impl Server {
    fn new(script: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("server.sh");
        std::fs::write(&path, script).unwrap();
        let tool = McpTool {
            command: "/bin/sh".to_owned(),
            args: vec![path.to_str().unwrap().to_owned()],
            env: vec![("SERVER_WORD".to_owned(), "xyzzy".into())],
            tool: "ask".to_owned(),
            argument: "prompt".to_owned(),
        };
        Self { home, tool }
    }

    fn answering(on_call: &str) -> Self {
        Self::new(&SERVER.replace("ON_CALL", on_call))
    }

    fn home(&self) -> &str {
        self.home.path().to_str().unwrap()
    }

    fn transport(&self) -> McpTransport {
        let mut provider = provider("served", &[]);
        provider.mcp = Some(self.tool.clone());
        let ambient = surroundings(self.home.path(), &[("CANARY", "sings")]);
        McpTransport::with_environment(Arc::new(provider), ambient)
            .supervised_by(Some(Supervisor::at(binary())))
    }

    async fn ask(&self) -> Result<Received, CallError> {
        self.transport().send(&request("You are the Chair.", "Is it \"so\"?")).await
    }

    async fn error(&self) -> (ErrorType, String) {
        let error = self.ask().await.unwrap_err();
        assert!(soon(|| alive_with(self.home()).is_empty()).await, "it still runs");
        (error.error_type, error.message)
    }
}

#[tokio::test]
async fn the_tool_is_called_with_the_prompt_and_its_text_is_the_reply() {
    let server = Server::answering(
        r#"answer '{"content":[{"type":"text","text":"It is."},{"type":"text","text":"Mostly."}]}'"#,
    );
    let received = server.ask().await.unwrap();
    assert_eq!(received.text, "It is.\nMostly.");
    let called = std::fs::read_to_string(server.home.path().join("called")).unwrap();
    let called: serde_json::Value = serde_json::from_str(&called).unwrap();
    assert_eq!(called["params"]["name"], "ask");
    assert_eq!(called["params"]["arguments"]["prompt"], "You are the Chair.\n\nIs it \"so\"?");
    assert!(soon(|| alive_with(server.home()).is_empty()).await, "the server outlived the call");
}

#[tokio::test]
async fn a_server_gets_its_own_variables_and_no_others() {
    let server = Server::answering(
        r#"answer "{\"content\":[{\"type\":\"text\",\"text\":\"$SERVER_WORD ${CANARY:-silence}\"}]}""#,
    );
    assert_eq!(server.ask().await.unwrap().text, "xyzzy silence");
}

#[tokio::test]
async fn what_goes_wrong_is_told_without_secrets() {
    let check = async |server: Server, error_type: ErrorType, message: &str| {
        assert_eq!(server.error().await, (error_type, message.to_owned()));
    };
    check(
        Server::answering(
            r#"answer '{"content":[{"type":"text","text":"no paper, xyzzy"}],"isError":true}'"#,
        ),
        ErrorType::Unknown,
        "MCP tool `ask`: no paper, ***",
    )
    .await;
    check(
        Server::answering(r#"answer '{"content":[]}'"#),
        ErrorType::ParseError,
        "MCP tool `ask`: its reply has no text",
    )
    .await;
    check(
        Server::answering(
            r#"printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no tool ask"}}\n' "$id""#,
        ),
        ErrorType::Unknown,
        "MCP server `/bin/sh`: Mcp error: -32602: no tool ask",
    )
    .await;
    check(
        Server::answering("echo out of xyzzy >&2; exit 1"),
        ErrorType::Unknown,
        "MCP server `/bin/sh`: Transport closed out of ***",
    )
    .await;
}

#[tokio::test]
async fn a_server_that_cannot_greet_is_told_by_its_last_words() {
    let (error_type, message) = Server::new("echo no such module >&2; exit 1").error().await;
    assert_eq!(error_type, ErrorType::Unknown);
    assert!(message.starts_with("MCP server `/bin/sh`: it could not be greeted"), "{message}");
    assert!(message.ends_with("no such module"), "{message}");
}

#[tokio::test]
async fn a_missing_server_is_named() {
    let mut server = Server::new("");
    server.tool.command = "no-such-server".to_owned();
    let expected = (ErrorType::Unknown, "the program `no-such-server` was not found".to_owned());
    assert_eq!(server.error().await, expected);
}

#[tokio::test]
async fn a_dropped_call_ends_the_server_and_its_children() {
    let server = Server::answering("setsid sleep 1000 & sleep 1000");
    let called = server.home.path().join("called");
    tokio::select! {
        outcome = server.ask() => panic!("it ended by itself: {outcome:?}"),
        called = soon(|| called.exists()) => assert!(called, "the tool was never called"),
    }
    assert!(soon(|| alive_with(server.home()).is_empty()).await, "it still runs");
}
