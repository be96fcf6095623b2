//! An MCP server written with the reference library, behind the MCP transport.

use std::sync::Arc;

use plenary::domain::ask::ErrorType;
use plenary::providers::{McpTool, McpTransport};

use crate::kit::{alive_with, provider, request, soon, surroundings};

#[tokio::test]
#[ignore = "needs the Python that `./check real` installs"]
async fn a_tool_of_the_reference_library_answers_and_fails_as_a_seat() {
    let home = tempfile::tempdir().unwrap();
    let python = std::env::var("PLENARY_REAL_PYTHON").expect("`./check real` says where it is");
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/real/mcp_server.py");
    let mut provider = provider("served", &[]);
    provider.mcp = Some(McpTool {
        command: python,
        args: vec![server.to_owned()],
        env: vec![("GREETING".to_owned(), "Well".into())],
        tool: "consult".to_owned(),
        argument: "prompt".to_owned(),
    });
    let transport =
        McpTransport::with_environment(Arc::new(provider), surroundings(home.path(), &[]));

    let received = transport.send(&request("You are the Chair.", "Is it so?")).await.unwrap();
    assert_eq!(received.text, "Well, You are the Chair.\n\nIs it so?");

    let error = transport.send(&request("", "fail")).await.unwrap_err();
    assert_eq!(error.error_type, ErrorType::Unknown);
    assert!(error.message.contains("the oracle is asleep"), "{error}");

    let home = home.path().to_str().unwrap();
    assert!(soon(|| alive_with(home).is_empty()).await, "a server outlived its call");
}
