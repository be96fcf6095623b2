//! The MCP transport, tested with a shell script as server.

use std::sync::Arc;

use plenary_core::model::ask::CallErrorType;
use plenary_engine::providers::mcp::McpTransport;
use plenary_engine::providers::process::supervisor::SupervisorBinary;
use plenary_engine::providers::transport::{CallError, CallReply, McpTool};
use tempfile::TempDir;

use crate::kit::{
    find_processes_with, make_environment, make_provider, make_request, plenary_binary, wait_until,
};

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

struct ScriptServer {
    home: TempDir,
    tool: McpTool,
}

impl ScriptServer {
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

    fn with_call_reply(on_call: &str) -> Self {
        Self::new(&SERVER.replace("ON_CALL", on_call))
    }

    fn home(&self) -> &str {
        self.home.path().to_str().unwrap()
    }

    fn make_transport(&self) -> McpTransport {
        let mut provider = make_provider("served", &[]);
        provider.mcp = Some(self.tool.clone());
        let ambient = make_environment(self.home.path(), &[("CANARY", "sings")]);
        McpTransport::with_environment(Arc::new(provider), ambient)
            .with_supervisor(Some(SupervisorBinary::from_path(plenary_binary())))
    }

    async fn send_request(&self) -> Result<CallReply, CallError> {
        self.make_transport().send(&make_request("You are the Chair.", "Is it \"so\"?")).await
    }

    async fn expect_error(&self) -> (CallErrorType, String) {
        let error = self.send_request().await.unwrap_err();
        assert!(wait_until(|| find_processes_with(self.home()).is_empty()).await, "it still runs");
        (error.error_type, error.message)
    }
}

#[tokio::test]
async fn the_tool_is_called_with_the_prompt_and_its_text_is_the_reply() {
    let server = ScriptServer::with_call_reply(
        r#"answer '{"content":[{"type":"text","text":"It is."},{"type":"text","text":"Mostly."}]}'"#,
    );
    let received = server.send_request().await.unwrap();
    assert_eq!(received.text, "It is.\nMostly.");
    let called = std::fs::read_to_string(server.home.path().join("called")).unwrap();
    let called: serde_json::Value = serde_json::from_str(&called).unwrap();
    assert_eq!(called["params"]["name"], "ask");
    assert_eq!(called["params"]["arguments"]["prompt"], "You are the Chair.\n\nIs it \"so\"?");
    assert!(
        wait_until(|| find_processes_with(server.home()).is_empty()).await,
        "the server outlived the call"
    );
}

#[tokio::test]
async fn a_server_gets_its_own_variables_and_no_others() {
    let server = ScriptServer::with_call_reply(
        r#"answer "{\"content\":[{\"type\":\"text\",\"text\":\"$SERVER_WORD ${CANARY:-silence}\"}]}""#,
    );
    assert_eq!(server.send_request().await.unwrap().text, "xyzzy silence");
}

#[tokio::test]
async fn what_goes_wrong_is_told_without_secrets() {
    let check = async |server: ScriptServer, error_type: CallErrorType, message: &str| {
        assert_eq!(server.expect_error().await, (error_type, message.to_owned()));
    };
    check(
        ScriptServer::with_call_reply(
            r#"answer '{"content":[{"type":"text","text":"no paper, xyzzy"}],"isError":true}'"#,
        ),
        CallErrorType::Unknown,
        "MCP tool `ask`: no paper, ***",
    )
    .await;
    check(
        ScriptServer::with_call_reply(r#"answer '{"content":[]}'"#),
        CallErrorType::ParseError,
        "MCP tool `ask`: the reply contains no text",
    )
    .await;
    check(
        ScriptServer::with_call_reply(
            r#"printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no tool ask"}}\n' "$id""#,
        ),
        CallErrorType::Unknown,
        "MCP server `/bin/sh`: Mcp error: -32602: no tool ask",
    )
    .await;
    check(
        ScriptServer::with_call_reply("echo out of xyzzy >&2; exit 1"),
        CallErrorType::Unknown,
        "MCP server `/bin/sh`: Transport closed out of ***",
    )
    .await;
}

#[tokio::test]
async fn a_server_that_cannot_greet_is_told_by_its_last_words() {
    let (error_type, message) =
        ScriptServer::new("echo no such module >&2; exit 1").expect_error().await;
    assert_eq!(error_type, CallErrorType::Unknown);
    assert!(message.starts_with("MCP server `/bin/sh`: it did not initialize"), "{message}");
    assert!(message.ends_with("no such module"), "{message}");
}

#[tokio::test]
async fn a_missing_server_is_named() {
    let mut server = ScriptServer::new("");
    server.tool.command = "no-such-server".to_owned();
    let expected =
        (CallErrorType::Unknown, "the program `no-such-server` was not found".to_owned());
    assert_eq!(server.expect_error().await, expected);
}

#[tokio::test]
async fn a_dropped_call_ends_the_server_and_its_children() {
    let server = ScriptServer::with_call_reply("setsid sleep 1000 & sleep 1000");
    let called = server.home.path().join("called");
    tokio::select! {
        outcome = server.send_request() => panic!("it ended by itself: {outcome:?}"),
        called = wait_until(|| called.exists()) => assert!(called, "the tool was never called"),
    }
    assert!(wait_until(|| find_processes_with(server.home()).is_empty()).await, "it still runs");
}
